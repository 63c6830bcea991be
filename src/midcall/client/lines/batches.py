"""Questions that wait for one terminal, in turn. What came together is reviewed together."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Any, Final

import anyio

from midcall.client.asked import Asked
from midcall.core.forms.form import Form
from midcall.core.outcome import Outcome

__all__ = ["Batch", "Turn", "Turns"]

_PAUSE: Final = 0.2
"""Seconds in which those come that come together."""


@dataclass(eq=False, slots=True)
class Turn:
    """One question: `content` once its form is filled, and `outcome` once it is decided."""

    asked: Asked
    batch: Batch
    content: dict[str, Any] | None = None
    outcome: Outcome[Any] | None = None

    @property
    def filled(self) -> bool:
        return self.outcome is not None or self.content is not None

    @property
    def form(self) -> Form:
        """The form of a turn that is filled."""
        assert self.asked.form is not None
        return self.asked.form


@dataclass(eq=False, slots=True)
class Batch:
    """Questions of one server that came together. It takes more until the first of them is filled."""

    turns: list[Turn] = field(default_factory=list[Turn])
    size: int = 0
    open: bool = True
    changed: anyio.Event = field(default_factory=anyio.Event)
    """Set at the next change. Take it before looking, and wait for it after."""

    def join(self, asked: Asked) -> Turn:
        turn = Turn(asked, self)
        self.turns.append(turn)
        self.size += 1
        return turn

    def leave(self, turn: Turn) -> None:
        """This one is answered, or given up."""
        self.turns.remove(turn)
        self.tell()

    def tell(self) -> None:
        """Something was filled, decided or given up: whoever waits for it looks again."""
        self.open = False
        self.changed.set()
        self.changed = anyio.Event()

    @property
    def filled(self) -> bool:
        """Whether nothing but the review is left."""
        return all(turn.filled for turn in self.turns)

    @property
    def drafts(self) -> list[Turn]:
        """What is filled and not sent."""
        return [turn for turn in self.turns if turn.content is not None and turn.outcome is None]


class Turns:
    """Who waits."""

    def __init__(self) -> None:
        self._batches: dict[tuple[str, str], Batch] = {}
        self._waiting: dict[Turn, None] = {}
        self._known: float = 0
        self.arrived = anyio.Event()
        """Set when the next question comes."""

    def join(self, asked: Asked) -> Turn:
        """A place among those that came together with this one."""
        self.arrived.set()
        self.arrived = anyio.Event()
        self._batches = {key: batch for key, batch in self._batches.items() if batch.open}
        turn = self._batches.setdefault((asked.server, asked.via), Batch()).join(asked)
        self._waiting[turn] = None
        return turn

    def leave(self, turn: Turn) -> None:
        """This one is answered, or given up."""
        del self._waiting[turn]
        turn.batch.leave(turn)

    @property
    def waiting(self) -> list[Turn]:
        """All that are not decided, in the order in which they came."""
        return [turn for turn in self._waiting if turn.outcome is None]

    def known(self) -> int:
        """How many wait. From now on, the user knows."""
        count = self._known = len(self.waiting)
        return count

    async def more(self) -> int:
        """How many wait, once there are more than the user knows of. They are told once, and not at each one."""
        while len(self.waiting) <= self._known:
            await self.arrived.wait()
        seen = 0
        while seen != (count := len(self.waiting)):
            seen = count
            await anyio.sleep(_PAUSE)
        self._known = inf
        return count
