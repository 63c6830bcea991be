"""What is on the page: open questions, calls waiting for visits, and the outcomes of earlier questions."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from midcall.client.answerer import Waiting
from midcall.client.asked import Asked
from midcall.client.pending import Pending
from midcall.core.outcome import Accepted, Cancelled, Declined, Outcome
from midcall.settings.client import MAX_ENDED, MAX_NOTES

End: TypeAlias = Literal[
    "accepted", "agreed", "declined", "cancelled", "withdrawn", "closed", "again", "given up", "finished"
]


@dataclass(frozen=True, slots=True)
class Ended:
    """A question that has ended, and how."""

    asked: Asked
    id: str
    how: End


@dataclass(frozen=True, slots=True)
class Draft:
    """Input that was not sent. `tried` if the user sent it and it was invalid."""

    content: dict[str, Any]
    tried: bool


@dataclass(frozen=True, slots=True)
class HeldCall:
    """A call waiting for visits, until the user tries again or gives up."""

    id: str
    waiting: Waiting
    again: asyncio.Future[bool]


class Board:
    """What the page shows. `version` grows with every change."""

    def __init__(self, pending: Pending) -> None:
        self.pending = pending
        self.held: dict[str, HeldCall] = {}
        self.drafts: dict[str, Draft] = {}
        self.version = 0
        self.closed = False
        self._ended: deque[Ended] = deque(maxlen=MAX_ENDED)
        self.notes: deque[str] = deque(maxlen=MAX_NOTES)
        self._leaving: set[str] = set()
        self._changed = asyncio.Event()

    # --- reading --------------------------------------------------------------------------------

    @property
    def ids(self) -> Sequence[str]:
        """Everything waiting for the user, in order."""
        return (*(asked.id for asked in self.pending.open), *self.held)

    @property
    def ended(self) -> Sequence[Ended]:
        """The ended questions, latest first."""
        return tuple(reversed(self._ended))

    def how_ended(self, id: str) -> Ended | None:
        return next((ended for ended in self.ended if ended.id == id), None)

    async def wait_for_change(self, version: int) -> int:
        """Wait for a version other than this one, or until the board is closed."""
        while self.version == version and not self.closed:
            await self._changed.wait()
        return self.version

    # --- writing --------------------------------------------------------------------------------

    async def ask(self, asked: Asked) -> Outcome[Any]:
        """Show the question until it's settled."""
        self.touch()
        try:
            outcome = await self.pending.answer(asked)
        except asyncio.CancelledError:
            self._end(asked, asked.id, "withdrawn")
            raise
        self._end(asked, asked.id, "closed" if asked.id in self._leaving else _how(asked, outcome))
        return outcome

    @contextmanager
    def hold(self, waiting: Waiting) -> Generator[HeldCall]:
        """Show the visits of a waiting call while this context is open."""
        held = HeldCall(secrets.token_hex(8), waiting, asyncio.get_running_loop().create_future())
        self.held[held.id] = held
        self.touch()
        try:
            yield held
        finally:
            del self.held[held.id]
            self._end(waiting.asked[0], held.id, _how_held(held))

    def settle_held(self, id: str, again: bool) -> bool:
        """Try a waiting call again, or give it up. Returns False if it isn't waiting any more."""
        held = self.held.get(id)
        if held is None or held.again.done():
            return False
        held.again.set_result(again)
        return True

    def leave(self, ids: Sequence[str]) -> None:
        """Cancel what a closed page showed."""
        for id in ids:
            if self.pending.get(id) is not None:
                self._leaving.add(id)
                self.pending.cancel(id)
            self.settle_held(id, False)

    def note(self, sentence: str) -> None:
        """Show this above the questions."""
        self.notes.append(sentence)
        self.touch()

    def touch(self) -> None:
        """Tell the pages that something changed."""
        self.version += 1
        self._changed.set()
        self._changed = asyncio.Event()

    def close(self) -> None:
        """Cancel everything, and tell the pages."""
        self.closed = True
        self.leave(self.ids)
        self.pending.close()
        self.touch()

    def _end(self, asked: Asked, id: str, how: End) -> None:
        self.drafts.pop(id, None)
        self._leaving.discard(id)
        self._ended.append(Ended(asked, id, how))
        self.touch()


def _how(asked: Asked, outcome: Outcome[Any]) -> End:
    match outcome:
        case Accepted():
            return "agreed" if asked.mode == "url" else "accepted"
        case Declined():
            return "declined"
        case Cancelled():
            return "cancelled"


def _how_held(held: HeldCall) -> End:
    if held.waiting.finished:
        return "finished"
    if not held.again.done() or held.again.cancelled():
        return "again" if held.waiting.overdue else "withdrawn"
    return "again" if held.again.result() else "given up"
