"""The visits of one connection that are under way, and who hears of their end."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Final, TypeAlias

from mcp.client.session import IncomingMessage, MessageHandlerFnT
from mcp_types import ElicitCompleteNotification

from midcall.client.visits.waiting import Waiting

__all__ = ["OnComplete", "Visits"]

OnComplete: TypeAlias = Callable[[str], Awaitable[None] | None]
"""Called with the id of a visit when the server says that it is done."""

_log: Final = logging.getLogger("midcall.client.connection")

_REMEMBERED: Final = 256


class Visits:
    """Knows the ids that this client was asked to visit. Others, and those that are done, change nothing.

    A page can be faster than the word of it: the end of a visit may be heard before the visit itself,
    since they travel on different streams. So the last few ids that nobody knows are remembered, and
    count once they are asked for.
    """

    def __init__(self, listeners: Sequence[OnComplete] = ()) -> None:
        self._listeners = tuple(listeners)
        self._open: set[str] = set()
        self._early = _Last(_REMEMBERED)
        self._done = _Last(_REMEMBERED)
        self._waiting: list[Waiting] = []

    async def begin(self, id: str) -> None:
        """The user is asked to go there."""
        self._done.discard(id)
        self._open.add(id)
        if id in self._early:
            await self.heard(id)

    def forget(self, id: str) -> None:
        """The user does not go there: what is heard of it from now on means nothing."""
        self._open.discard(id)
        self._done.add(id)

    @contextmanager
    def followed(self, waiting: Waiting) -> Generator[None]:
        """While this is open, these visits hear of their ends."""
        self._waiting.append(waiting)
        try:
            yield
        finally:
            self._waiting.remove(waiting)

    async def heard(self, id: str) -> None:
        """The server says that this visit is done."""
        if id not in self._open:
            if id not in self._done:
                self._early.add(id)
            return
        self._open.discard(id)
        self._early.discard(id)
        self._done.add(id)
        for waiting in self._waiting:
            waiting.complete(id)
        for listener in self._listeners:
            await _told(listener, id)

    def listening(self, before: MessageHandlerFnT | None) -> MessageHandlerFnT:
        """A message handler that hears of ends, and hands everything on to the one that was there."""

        async def handler(message: IncomingMessage) -> None:
            if isinstance(message, ElicitCompleteNotification):
                await self.heard(message.params.elicitation_id)
            if before is not None:
                await before(message)

        return handler


class _Last:
    """The last few ids: what a server sends must not grow without end."""

    def __init__(self, most: int) -> None:
        self._ids: dict[str, None] = {}
        self._most = most

    def __contains__(self, id: str) -> bool:
        return id in self._ids

    def add(self, id: str) -> None:
        self._ids[id] = None
        if len(self._ids) > self._most:
            del self._ids[next(iter(self._ids))]

    def discard(self, id: str) -> None:
        self._ids.pop(id, None)


async def _told(listener: OnComplete, id: str) -> None:
    """One listener that fails keeps nothing from the others, nor from the call that waits."""
    try:
        result = listener(id)
        if inspect.isawaitable(result):
            await result
    except Exception as error:
        _log.warning(_listener_failed(type(error).__name__))


def _listener_failed(error: str) -> str:
    return f"a handler for finished visits failed with {error}"
