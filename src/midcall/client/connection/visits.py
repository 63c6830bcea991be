"""Track the visits of one connection until the server reports that they're done."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final, TypeAlias

from mcp.client.session import IncomingMessage, MessageHandlerFnT
from mcp_types import ElicitCompleteNotification

from midcall.client.answerer import Waiting
from midcall.core.remembered import Remembered
from midcall.settings.client import MAX_CLIENT_VISITS

Listener: TypeAlias = Callable[[str], Awaitable[None] | None]
OnComplete: TypeAlias = Callable[[str, bool], Awaitable[None] | None]
"""Called with the id of a visit that the server reports as done, and whether this client was asked to make it."""

_log: Final = logging.getLogger("midcall.client.connection")


class Visits:
    """Knows the ids that this client was asked to visit. A report of another one ends nothing.

    The report that a visit is done may arrive before the visit itself, because they travel on different streams.
    So the last few unknown ids are remembered, and count when their visit is asked for.

    Args:
        listeners: Called with each known id, once.
        on_complete: Called with these, and with unknown ids.
    """

    def __init__(self, listeners: Sequence[Listener] = (), on_complete: OnComplete | None = None) -> None:
        self._listeners = tuple(listeners)
        self._on_complete = on_complete
        self._open: set[str] = set()
        self._early: Remembered[None] = Remembered(MAX_CLIENT_VISITS)
        self._done: Remembered[None] = Remembered(MAX_CLIENT_VISITS)
        self._waiting: list[Waiting] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def begin(self, id: str) -> None:
        """Expect this visit to be reported as done."""
        self._done.pop(id, None)
        self._open.add(id)
        if id in self._early:
            await self.complete(id)

    def forget(self, id: str) -> None:
        """The user doesn't make this visit: ignore reports about it."""
        self._open.discard(id)
        self._done[id] = None

    @contextmanager
    def follow(self, waiting: Waiting) -> Generator[None]:
        """Report finished visits to `waiting` while this is open."""
        self._waiting.append(waiting)
        try:
            yield
        finally:
            self._waiting.remove(waiting)

    async def complete(self, id: str) -> None:
        """The server reports that this visit is done."""
        if id not in self._open:
            if id not in self._done:
                self._early[id] = None
                await self._report(id, known=False)
            return
        self._open.discard(id)
        self._early.pop(id, None)
        self._done[id] = None
        for waiting in self._waiting:
            waiting.complete(id)
        for listener in self._listeners:
            await _notify(partial(listener, id))
        await self._report(id, known=True)

    def start_complete(self, id: str) -> None:
        """The same, from a place that can't wait for listeners."""
        task = asyncio.create_task(self.complete(id), name="midcall visit done")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _report(self, id: str, *, known: bool) -> None:
        if self._on_complete is not None:
            await _notify(partial(self._on_complete, id, known))

    def listen(self, before: MessageHandlerFnT | None) -> MessageHandlerFnT:
        """A message handler that takes reports of finished visits, and passes every message on to `before`."""

        async def handler(message: IncomingMessage) -> None:
            if isinstance(message, ElicitCompleteNotification):
                await self.complete(message.params.elicitation_id)
            if before is not None:
                await before(message)

        return handler


async def _notify(listener: Callable[[], Awaitable[None] | None]) -> None:
    """Call this listener. If it fails, the other listeners and the waiting call continue."""
    try:
        result = listener()
        if inspect.isawaitable(result):
            await result
    except Exception as error:
        _log.warning(f"on_complete failed with {type(error).__name__}")
