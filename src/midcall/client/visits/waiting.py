"""Visits that a call waits for: after the error -32042 it goes on when they are done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import anyio

from midcall.client.asked import Asked, VisitQuestion

__all__ = ["Waiting", "Waits"]


class Waiting:
    """What is waited for: the visits that the user agreed to, and which of them are done.

    Args:
        asked: The visits.
        attempt: Which attempt at the call follows, from 1.
        attempts: How many attempts there are at most.
    """

    def __init__(self, asked: Sequence[Asked], attempt: int, attempts: int) -> None:
        self.asked = tuple(asked)
        self.attempt = attempt
        self.attempts = attempts
        self._open = {visit.question.id for visit in asked if isinstance(visit.question, VisitQuestion)}
        self._changed = anyio.Event()

    def is_done(self, asked: Asked) -> bool:
        """Whether the server has said that this visit is done."""
        return isinstance(asked.question, VisitQuestion) and asked.question.id not in self._open

    @property
    def finished(self) -> bool:
        """Whether all of them are done."""
        return not self._open

    def complete(self, id: str) -> None:
        """The server says that this visit is done. Unknown and finished ids change nothing."""
        if id in self._open:
            self._open.discard(id)
            self._changed.set()
            self._changed = anyio.Event()

    async def changed(self) -> None:
        """Return when the next visit is done."""
        await self._changed.wait()

    async def done(self) -> None:
        """Return when all of them are done."""
        while not self.finished:
            await self.changed()


@runtime_checkable
class Waits(Protocol):
    """An answerer that keeps the user in charge while a call waits for visits.

    `wait` shows what is waited for, and offers to try again now (return True) or to give up (return
    False). It is cancelled when all visits are done; then the call is retried by itself. Where an
    answerer has no `wait`, the client waits for the server's word alone, for a limited time.
    """

    async def wait(self, waiting: Waiting) -> bool: ...
