"""The runs of one installation: which wait for their next request, and which have to make room."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import anyio
import anyio.to_thread

from midcall.server.running.turns import Turns

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server

    from midcall.core.journal import Journal
    from midcall.server.call import Call

__all__ = ["GRACE_SECONDS", "Runs"]

logger = logging.getLogger("midcall")

GRACE_SECONDS: Final = 5.0
"""How long a run waits to be joined after the connection of its request broke."""


class Runs:
    """All unfinished runs of an installation."""

    has_codes = False
    """Whether a resume code was ever given out here."""

    def __init__(self, *, live: bool, most: int, seconds: float) -> None:
        self.live = live
        self._most = most
        self._seconds = seconds
        self.turns = Turns()
        self._alive: set[Call] = set()
        self._waiting: dict[str, tuple[Call, float]] = {}
        """Those between two requests, by call, oldest first; with the time when they expire."""
        self._codes: dict[str, Call] = {}
        """Those that a resume code names, where no store keeps it."""
        self._journals: dict[str, tuple[str, Journal]] = {}
        self._expiry: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended: dict[str, str] = {}
        """Why a run was ended, by call."""
        self._told: set[object] = set()
        self._lifespans: list[object] = []

    # --- one run ------------------------------------------------------------------------------

    def add(self, call: Call) -> None:
        """This call runs from now on."""
        self._alive.add(call)
        call.run.task.add_done_callback(lambda _: self._alive.discard(call))

    def can_wait(self, call: Call) -> bool:
        """Whether this run may stay in memory until the next request."""
        return self.live and (not call.run.holds_thread or self._threads_left())

    def _threads_left(self) -> bool:
        """At most half of the worker threads may wait for people: the others serve."""
        held = sum(call.run.holds_thread for call, _ in self._waiting.values())
        return held < anyio.to_thread.current_default_thread_limiter().total_tokens // 2

    def wait(self, call: Call) -> None:
        """The request of this call returns; the run waits for the next one."""
        self._waiting[call.name] = (call, call.run.loop.time() + self._seconds)
        self._make_room(call)
        self._watch_expiry()

    def find(self, name: str) -> Call | None:
        """The call of this name, if its run waits here, in this event loop."""
        found = self._waiting.get(name)
        return found[0] if found is not None and found[0].run.loop is asyncio.get_running_loop() else None

    def take(self, call: Call) -> None:
        """A request continues this run."""
        self._waiting.pop(call.name, None)
        for code in [code for code, named in self._codes.items() if named is call]:
            del self._codes[code]

    # --- codes --------------------------------------------------------------------------------

    def put_code(self, code: str, call: Call) -> None:
        self.has_codes = True
        self._codes[code] = call

    def behind_code(self, code: str, owner: str) -> Call | None:
        """The call that waits here under this code, for its owner."""
        call = self._codes.get(code)
        if call is None or call.owner != owner or call.run.loop is not asyncio.get_running_loop():
            return None
        return call

    def put_journal(self, code: str, owner: str, journal: Journal) -> None:
        """Keep what an ended run has recorded, where no store does."""
        self.has_codes = True
        self._journals[code] = (owner, journal)
        if len(self._journals) > self._most:
            del self._journals[next(iter(self._journals))]

    def take_journal(self, code: str, owner: str) -> Journal | None:
        found = self._journals.get(code)
        if found is None or found[0] != owner:
            return None
        return self._journals.pop(code)[1]

    # --- room ---------------------------------------------------------------------------------

    def _make_room(self, newest: Call) -> None:
        """Only waiting runs make room, those of the caller with most first, the oldest first."""
        own = [call for call, _ in self._waiting.values() if call.owner == newest.owner] if newest.owner else []
        if len(own) > max(1, self._most // 2) and len(self._waiting) > 1:
            self._end_soon(own[0], "evicted")
        elif len(self._waiting) > self._most:
            counts = Counter(call.owner for call, _ in self._waiting.values())
            owner = counts.most_common(1)[0][0]
            self._end_soon(next(call for call, _ in self._waiting.values() if call.owner == owner), "evicted")

    def _watch_expiry(self) -> None:
        if self._expiry is None and self._waiting:
            call, until = next(iter(self._waiting.values()))
            self._expiry = call.run.loop.call_at(until, self._expire)

    def _expire(self) -> None:
        self._expiry = None
        for call, until in list(self._waiting.values()):
            if until > call.run.loop.time():
                break
            self._end_soon(call, "expired")
        self._watch_expiry()

    def _end_soon(self, call: Call, why: str) -> None:
        self.take(call)
        self._ended[call.name] = why
        if len(self._ended) > self._most:
            self._ended.pop(next(iter(self._ended)))
        self.aside(call.end(why))

    def aside(self, work: Any) -> None:
        """Do this in the background, and hold it until it's done."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # --- the end ------------------------------------------------------------------------------

    def tell_replay(self, name: object, call: str) -> None:
        """Say once per tool that a call is replayed, and why."""
        if name in self._told:
            return
        self._told.add(name)
        why = self._ended.get(call) or ("another replica, or a restart" if self.live else "live runs are off")
        logger.info(
            "Replaying a call of %r (%s): its code runs again from the top, with the recorded answers. "
            "Put effects that come before a question into once().",
            name,
            why,
        )

    async def close(self, state: object = None) -> None:
        """End the runs of this lifespan, or all of them."""
        ending = [call for call in self._alive if state is None or call.lifespan is state]
        if not ending:
            return
        for call in ending:
            self.take(call)
        here = [call for call in ending if call.run.loop is asyncio.get_running_loop()]
        with anyio.CancelScope(shield=True):
            await asyncio.gather(*(call.end("stopped") for call in here))

    def within(
        self, lifespan: Callable[[Server[Any]], AbstractAsyncContextManager[Any]]
    ) -> Callable[[Server[Any]], AbstractAsyncContextManager[Any]]:
        """This lifespan, which ends its runs before its own cleanup."""

        @asynccontextmanager
        async def with_runs(server: Server[Any]) -> AsyncGenerator[Any]:
            async with lifespan(server) as state:
                self._lifespans.append(state)
                try:
                    yield state
                finally:
                    del self._lifespans[next(i for i, other in enumerate(self._lifespans) if other is state)]
                    if not self._lifespans:
                        await self.close()
                    elif not any(other is state for other in self._lifespans):
                        await self.close(state)

        return with_runs
