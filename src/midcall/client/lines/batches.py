"""Questions waiting for one terminal. Those that arrive together are reviewed together."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Any

import anyio

from midcall.client.asked import Asked
from midcall.core.forms.form import Form
from midcall.core.outcome import Outcome
from midcall.settings.client import BATCH_SECONDS


@dataclass(eq=False, slots=True)
class Turn:
    """One question: `content` once its form is filled in, `outcome` once it's decided."""

    asked: Asked
    batch: Batch
    content: dict[str, Any] | None = None
    outcome: Outcome[Any] | None = None

    @property
    def is_filled(self) -> bool:
        return self.outcome is not None or self.content is not None

    @property
    def form(self) -> Form:
        """The form of a question that has content."""
        assert self.asked.form is not None
        return self.asked.form


@dataclass(eq=False, slots=True)
class Batch:
    """Questions of one server that arrived together. It takes more until the first one is filled in."""

    turns: list[Turn] = field(default_factory=list[Turn])
    size: int = 0
    open: bool = True
    changed: anyio.Event = field(default_factory=anyio.Event)
    """Set at the next change. Get it before you check the batch, then wait for it."""

    def join(self, asked: Asked) -> Turn:
        turn = Turn(asked, self)
        self.turns.append(turn)
        self.size += 1
        return turn

    def leave(self, turn: Turn) -> None:
        """Remove a question that is answered or withdrawn."""
        self.turns.remove(turn)
        self.tell()

    def tell(self) -> None:
        """Wake all waiters: a question was filled in, decided or withdrawn."""
        self.open = False
        self.changed.set()
        self.changed = anyio.Event()

    @property
    def is_filled(self) -> bool:
        """Whether only the review is left."""
        return all(turn.is_filled for turn in self.turns)

    @property
    def drafts(self) -> list[Turn]:
        """Questions that are filled in and not sent."""
        return [turn for turn in self.turns if turn.content is not None and turn.outcome is None]


class Turns:
    """The questions waiting for the terminal."""

    def __init__(self) -> None:
        self._batches: dict[tuple[str, str], Batch] = {}
        self._waiting: dict[Turn, None] = {}
        self._known: float = 0
        self.arrived = anyio.Event()
        """Set when the next question arrives."""

    def join(self, asked: Asked) -> Turn:
        """Add a question to the batch of those that arrive with it."""
        self.arrived.set()
        self.arrived = anyio.Event()
        self._batches = {key: batch for key, batch in self._batches.items() if batch.open}
        turn = self._batches.setdefault((asked.sender, asked.via), Batch()).join(asked)
        self._waiting[turn] = None
        return turn

    def leave(self, turn: Turn) -> None:
        """Remove a question that is answered or withdrawn."""
        del self._waiting[turn]
        turn.batch.leave(turn)

    @property
    def waiting(self) -> list[Turn]:
        """The undecided questions, oldest first."""
        return [turn for turn in self._waiting if turn.outcome is None]

    def count_shown(self) -> int:
        """Count the waiting questions, which the user is now told about."""
        count = self._known = len(self.waiting)
        return count

    async def more(self) -> int:
        """Wait for more questions than the user was told about, and count them. They are told once, even in a flood."""
        while len(self.waiting) <= self._known:
            await self.arrived.wait()
        seen = 0
        while seen != (count := len(self.waiting)):
            seen = count
            await anyio.sleep(BATCH_SECONDS)
        self._known = inf
        return count
