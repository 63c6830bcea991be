"""Visits that are under way: who asked for them, who waits for them, which are done.

This registry is the process's own. It serves one machine; other replicas need a store.
"""

from __future__ import annotations

import asyncio
import logging
import time
import weakref
from collections import OrderedDict
from math import inf
from typing import TYPE_CHECKING, Final

from midcall import wording
from midcall.errors import TimedOut
from midcall.server.channels.push import signs_of_life

if TYPE_CHECKING:
    from mcp.server.connection import Connection

    from midcall.server.call import Call

__all__ = ["HOLD_SECONDS", "Visits", "wait_for_completion"]

logger = logging.getLogger("midcall.visits")

HOLD_SECONDS: Final = 45.0
"""How long one round is held: below the time that common clients and proxies give a request."""

_PUSH_SECONDS: Final = 300.0
_WITH_NOTIFICATION: Final = "2025-11-25"
_KEPT: Final = 10_000


class Visits:
    """One per installation."""

    def __init__(self) -> None:
        self._done: OrderedDict[str, None] = OrderedDict()
        self._events: weakref.WeakValueDictionary[str, asyncio.Event] = weakref.WeakValueDictionary()
        self._askers: OrderedDict[str, weakref.ref[Connection]] = OrderedDict()

    def asked(self, id: str, client: Connection) -> None:
        """This client is to hear when the visit is done."""
        self._askers[id] = weakref.ref(client)
        while len(self._askers) > _KEPT:
            self._askers.popitem(last=False)

    def knows(self, id: str) -> bool:
        return id in self._done or id in self._events or id in self._askers

    def is_done(self, id: str) -> bool:
        return id in self._done

    async def wait(self, id: str, seconds: float) -> bool:
        """Whether the visit was completed within this time."""
        event = self._events.get(id)
        if event is None:
            event = self._events[id] = asyncio.Event()
        if id in self._done:
            return True
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            return False
        return True

    async def complete(self, id: str) -> bool:
        """Record that the visit is done, and tell who waits. False if it was done before."""
        if id in self._done:
            return False
        self._done[id] = None
        while len(self._done) > _KEPT:
            self._done.popitem(last=False)
        if event := self._events.get(id):
            event.set()
        await self._notify(id)
        return True

    async def _notify(self, id: str) -> None:
        asker = self._askers.pop(id, None)
        client = asker() if asker is not None else None
        if client is None or client.protocol_version != _WITH_NOTIFICATION:
            return
        try:
            await client.notify("notifications/elicitation/complete", {"elicitationId": id})
        except Exception:
            logger.warning(wording.completion_not_sent(), exc_info=True)


async def wait_for_completion(call: Call, id: str, timeout: float | None) -> None:
    """Hold the call until the visit is done: on 2026-07-28 a while in each round, and never in the last.

    Raises:
        TimedOut: It was not done in time.
    """
    visits = call.installation.visits
    identity = call.replay.identify_effect("visited", id)
    if call.replay.effect(identity) is not None:
        return
    left = _seconds_left(call, id, timeout)
    async with signs_of_life(call):
        done = await visits.wait(id, left if call.rounds is None else min(left, HOLD_SECONDS))
    if done:
        call.replay.record_effect(identity, "visited", True, line=False)
        return
    last = call.installation.max_rounds
    if call.rounds is None or left <= HOLD_SECONDS or (last is not None and call.journal.rounds >= last - 1):
        raise TimedOut(wording.visit_not_done(), for_model=wording.model_visit_not_done())
    await call.rounds.pause()


def _seconds_left(call: Call, id: str, timeout: float | None) -> float:
    """Until the visit's deadline, which is written down when the waiting begins."""
    if timeout is None:
        return _PUSH_SECONDS if call.rounds is None else inf
    identity = call.replay.identify_effect("visiting", id)
    begun = call.replay.effect(identity)
    if begun is None:
        call.replay.record_effect(identity, "visiting", time.time() + timeout, line=False)
        return timeout
    return max(0.0, begun.value - time.time())
