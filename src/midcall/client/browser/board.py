"""What is on the page: questions, visits that are waited for, and what became of those before."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from midcall.client.asked import Asked
from midcall.client.pending import Pending
from midcall.client.visits.waiting import Waiting
from midcall.core.outcome import Accepted, Cancelled, Declined, Outcome

__all__ = ["Board", "Draft", "End", "Ended", "Held"]

End: TypeAlias = Literal[
    "accepted", "agreed", "declined", "cancelled", "withdrawn", "closed", "again", "given up", "finished"
]
_REMEMBERED: Final = 50


@dataclass(frozen=True, slots=True)
class Ended:
    """A question that is over, and how."""

    asked: Asked
    id: str
    how: End


@dataclass(frozen=True, slots=True)
class Draft:
    """What was typed and not sent. `tried` if the user wanted to, and it did not fit."""

    content: dict[str, Any]
    tried: bool


@dataclass(frozen=True, slots=True)
class Held:
    """A call that waits for visits, and for the user's word: to try again, or to give up."""

    id: str
    waiting: Waiting
    again: asyncio.Future[bool]


class Board:
    """What the page shows. `version` grows with every change."""

    def __init__(self, pending: Pending) -> None:
        self.pending = pending
        self.held: dict[str, Held] = {}
        self.drafts: dict[str, Draft] = {}
        self.version = 0
        self.closed = False
        self._ended: deque[Ended] = deque(maxlen=_REMEMBERED)
        self._leaving: set[str] = set()
        self._changed = asyncio.Event()

    # --- reading --------------------------------------------------------------------------------

    @property
    def ids(self) -> Sequence[str]:
        """All that waits for the user, in order."""
        return (*(asked.id for asked in self.pending.open), *self.held)

    @property
    def ended(self) -> Sequence[Ended]:
        """What is over, the last one first."""
        return tuple(reversed(self._ended))

    def how_ended(self, id: str) -> Ended | None:
        return next((ended for ended in self.ended if ended.id == id), None)

    async def changed(self, version: int) -> int:
        """Return when this is another version, or closed."""
        while self.version == version and not self.closed:
            await self._changed.wait()
        return self.version

    # --- writing --------------------------------------------------------------------------------

    async def ask(self, asked: Asked) -> Outcome[Any]:
        """Show the question until it is settled."""
        self.touch()
        try:
            outcome = await self.pending.answer(asked)
        except asyncio.CancelledError:
            self._end(asked, asked.id, "withdrawn")
            raise
        self._end(asked, asked.id, "closed" if asked.id in self._leaving else _how(asked, outcome))
        return outcome

    @contextmanager
    def hold(self, waiting: Waiting) -> Generator[Held]:
        """While this is open, the page shows what is waited for."""
        held = Held(secrets.token_hex(8), waiting, asyncio.get_running_loop().create_future())
        self.held[held.id] = held
        self.touch()
        try:
            yield held
        finally:
            del self.held[held.id]
            self._end(waiting.asked[0], held.id, _how_held(held))

    def settle_held(self, id: str, again: bool) -> bool:
        """The user's word on a call that waits; False if it does not wait any more."""
        held = self.held.get(id)
        if held is None or held.again.done():
            return False
        held.again.set_result(again)
        return True

    def leave(self, ids: Sequence[str]) -> None:
        """The page was closed while it showed these."""
        for id in ids:
            if self.pending.get(id) is not None:
                self._leaving.add(id)
                self.pending.cancel(id)
            self.settle_held(id, False)

    def touch(self) -> None:
        """Something has changed: tell the pages."""
        self.version += 1
        self._changed.set()
        self._changed = asyncio.Event()

    def close(self) -> None:
        """Cancel all of it, and let the pages know."""
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


def _how_held(held: Held) -> End:
    if held.waiting.finished:
        return "finished"
    if not held.again.done() or held.again.cancelled():
        return "withdrawn"
    return "again" if held.again.result() else "given up"
