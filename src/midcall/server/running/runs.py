"""The unfinished calls of one installation: the runs between two requests."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from contextvars import Context, ContextVar
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakMethod

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from midcall.core.journal import Head
from midcall.core.remembered import Remembered
from midcall.errors import StoreError
from midcall.server.resuming.states import States
from midcall.server.resuming.visits import NotHeld
from midcall.server.running.beat import Beat
from midcall.server.running.handover import Claim, Handover
from midcall.server.running.run import ELSEWHERE, STOPPED
from midcall.server.running.turn import PAST, Past
from midcall.server.running.waiting import Waiting, caller_of
from midcall.settings.calls import STATE_BYTES
from midcall.settings.live_runs import LARGE_JOURNAL_BYTES, MAX_ENDED_RUNS
from midcall.settings.resuming import MAX_SEEN_TOOLS

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server

    from midcall.server.call import Call
    from midcall.server.resuming.pages import Page

logger = logging.getLogger("midcall")

_Result = TypeVar("_Result")

chosen_live: ContextVar[bool | None] = ContextVar("midcall_live", default=None)
"""Whether runs stay in memory, for the calls of one test. Overrides what `install` was given."""


class Runs:
    """All unfinished runs of an installation."""

    drive: Callable[[Call, Claim], Awaitable[None]]
    """Continues a run for a request that another replica got."""
    resume: Callable[[Call], Coroutine[Any, Any, None]]
    """Continues a run without a request: the user is done on a page that it waits for."""

    def __init__(self, *, live: bool, most: int, seconds: float, handover: Handover | None = None) -> None:
        self._live = live
        self.handover = handover
        """The way to other replicas, if there is a store."""
        self.beat = None if handover is None else Beat(self, handover)
        """What the other replicas see of this one."""
        self._seconds = seconds
        self.past = Past(in_store=handover is not None)
        """What was continued."""
        self.running: set[Call] = set()
        """The calls whose tools have not ended."""
        self.waiting = Waiting(most)
        """Those between two requests."""
        self.states = States(self, most=most, seconds=seconds)
        """Those behind resume codes, if there is no store."""
        self._expiry: tuple[asyncio.AbstractEventLoop, asyncio.TimerHandle] | None = None
        """What ends the oldest run when it has expired, and on which loop."""
        self._tasks: set[asyncio.Task[Any]] = set()
        self._ending: dict[str, asyncio.Task[None]] = {}
        """Those that are being ended, by call."""
        self._awaiting: dict[str, asyncio.Task[None]] = {}
        """Who waits for the pages of a run, by call."""
        self._held: Counter[str] = Counter()
        """The codes that requests wait with, and how many do."""
        self._ended: dict[str, str] = {}
        """Why a run was ended, by call."""
        self._told: Remembered[None] = Remembered(MAX_SEEN_TOOLS)
        """The tools and resources whose replay was logged. Clients choose the addresses of resources."""
        self._lifespans: list[object] = []

    @property
    def live(self) -> bool:
        """Whether runs stay in memory between two requests."""
        chosen = chosen_live.get()
        return self._live if chosen is None else chosen

    # --- one run ------------------------------------------------------------------------------

    def at(self, head: Head) -> Call | None:
        """The call of this turn, if its run waits here.

        A run at an older turn was continued elsewhere. So was one that asks the same, but isn't the one that the state
        names: it has been overtaken, and will hear of it.

        Raises:
            MCPError: Its run is past this turn, and only this process could know what that came to.
        """
        call = self.find(head.call)
        if call is None or (self.handover is not None and head.owner != self.handover.me):
            return None
        if call.journal.turn == head.turn:
            return call
        if self.handover is None and call.journal.turn > head.turn:
            raise MCPError(INVALID_PARAMS, PAST)
        return None

    async def can_stay(self, call: Call) -> bool:
        """Whether this run may stay in memory until the next request, and other replicas know where to send that."""
        if not self.live:
            return False
        if self.beat is not None:
            try:
                await self.beat.start()
            except StoreError as exc:
                logger.warning("A call can't wait here, since the store can't be reached: %s", exc)
                self._note_end(call, "its store could not be reached")
                return False
        return True

    def owner_of(self, call: Call) -> str:
        """Who has the run of this call when its round has left; nobody, if it is replayed."""
        return "" if self.handover is None or call.ended or not self.live else self.handover.me

    def wait(self, call: Call) -> None:
        """The request of this call returns; the run waits for the next one."""
        name = call.name
        if (other := self.waiting.find(name)) is not None:  # an older run of the same call
            self.end_soon(other, ELSEWHERE)
        is_crowded = self.waiting.add(call, call.run.loop.time() + self._seconds)
        if self.beat is not None:
            self.beat.watch(call)
        self._await_pages(call)
        if is_crowded:
            self._make_room(call)
        self._watch_expiry(call.run.loop)

    def find(self, name: str) -> Call | None:
        """The call of this name, if its run waits here, in this event loop."""
        call = self.waiting.find(name)
        return call if call is not None and call.run.loop is asyncio.get_running_loop() else None

    def take(self, call: Call) -> None:
        """A request continues this run."""
        if not self.waiting.remove(call):
            return
        if self.beat is not None:
            self.beat.unwatch(call)
        if (awaiting := self._awaiting.pop(call.name, None)) is not None:
            awaiting.cancel()

    def has(self, call: Call) -> bool:
        """Whether this run waits here for its next request."""
        return self.waiting.find(call.name) is call

    def drop(self, name: str) -> None:
        """End a run of this call that still waits here: it was continued elsewhere, and is about to be replayed."""
        if (call := self.find(name)) is not None:
            self.end_soon(call, ELSEWHERE)

    # --- pages --------------------------------------------------------------------------------

    def _await_pages(self, call: Call) -> None:
        if call.suspension is not None and call.suspension.pages:
            self._awaiting[call.name] = self.aside(self._resume_after(call, tuple(call.suspension.pages.values())))

    async def _resume_after(self, call: Call, pages: Sequence[Page]) -> None:
        """Continue this run as soon as the user is done on one of these pages, or one has expired."""
        try:
            await call.installation.visits.wait_for_one(pages, self._seconds)
        except NotHeld:
            return
        except StoreError as exc:
            logger.warning("Could not watch a page any longer, so its call continues with its resume code: %s", exc)
            return
        self.aside(self.resume(call))  # who takes the run cancels the wait, and not this

    @contextmanager
    def instead_of(self, name: str, code: str) -> Generator[None]:
        """While this is open, a request with this code waits for the pages of this call, and continues it then."""
        self._held[code] += 1
        if (awaiting := self._awaiting.pop(name, None)) is not None:
            awaiting.cancel()
        try:
            yield
        finally:
            self._held[code] -= 1
            self._held += Counter()  # drop those at zero
            if (call := self.find(name)) is not None and name not in self._awaiting:
                self._await_pages(call)

    def is_held(self, code: str) -> bool:
        """Whether a request with this code waits here."""
        return code in self._held

    # --- room ---------------------------------------------------------------------------------

    def has_room(self, call: Call) -> bool:
        """Whether this call may wait with a journal that is too large to travel, and that nothing but memory holds."""
        held = self.states.sizes() | {each.name: (each.caller, each.size) for each in (*self.waiting, call)}
        large = [(caller, size) for caller, size in held.values() if size > STATE_BYTES]
        own = sum(size for caller, size in large if caller == call.caller)
        return own <= LARGE_JOURNAL_BYTES // 2 and sum(size for _, size in large) <= LARGE_JOURNAL_BYTES

    def _make_room(self, newest: Call) -> None:
        """Only waiting runs make room, those of the caller with most first."""
        while (call := self.waiting.surplus(newest)) is not None:
            if call.run.done:  # it only keeps its result
                self._forget_result(call)
            else:
                self.end_soon(call, "evicted")

    def _forget_result(self, call: Call) -> None:
        """Refuse the next request of this call. Its tool has ended, and must not run again."""
        self.take(call)
        self.past.refuse(call.name, call.journal.turn, caller_of(call))

    def _watch_expiry(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._expiry is not None and self._expiry[0] is loop:
            return
        until = next((until for call, until in self.waiting.deadlines() if call.run.loop is loop), None)
        if until is not None:
            # A weak reference and an empty context: the timer may outlive the server and this request.
            self._expiry = loop, loop.call_at(until, _expire, WeakMethod(self._expire), context=Context())

    def _expire(self) -> None:
        self._expiry, loop = None, asyncio.get_running_loop()
        for call, until in list(self.waiting.deadlines()):
            if call.run.loop is loop and until <= loop.time():
                self.end_soon(call, "expired")
        self._watch_expiry(loop)

    def end_soon(self, call: Call, why: str) -> None:
        """End this run, which nobody continues here."""
        self.take(call)
        self._note_end(call, why)
        if not call.run.is_here:
            if call.run.loop.is_running():
                asyncio.run_coroutine_threadsafe(call.end(why), call.run.loop)
            return
        self._ending[call.name] = task = self.aside(call.end(why))
        task.add_done_callback(lambda _: self._ending.pop(call.name, None))

    def _note_end(self, call: Call, why: str) -> None:
        """Why this call will be replayed, for the log."""
        self._ended[call.name] = why
        if len(self._ended) > MAX_ENDED_RUNS:
            self._ended.pop(next(iter(self._ended)))

    def begin(self, work: Coroutine[Any, Any, _Result]) -> asyncio.Task[_Result]:
        """Begin this for a request. If that breaks off, this continues."""
        loop = asyncio.get_running_loop()
        if sys.version_info >= (3, 12) and loop.get_task_factory() is None:
            task = asyncio.Task(work, loop=loop, eager_start=True)  # mostly it doesn't wait, and is done
        else:
            task = loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._let_go)
        return task

    def _let_go(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # its request has it, or nobody

    def aside(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Do this in the background, and hold it until it's done."""
        context = Context()
        context.run(chosen_live.set, chosen_live.get())
        task = asyncio.get_running_loop().create_task(work, context=context)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def until_ended(self, name: str) -> None:
        """A run of this call that is being ended may hold what its replay needs."""
        if (ending := self._ending.get(name)) is not None:
            await asyncio.wait((ending,))

    # --- the end ------------------------------------------------------------------------------

    def tell_replay(self, name: object, call: str) -> None:
        """Say once per tool that a call is replayed, and why."""
        if str(name) in self._told:
            return
        self._told[str(name)] = None
        why = self._ended.get(call) or ("another replica, or a restart" if self.live else "live runs are off")
        logger.info(
            "Replaying a call of %r (%s): its code runs again from the top, with the recorded answers. "
            "Put effects that come before a question into once().",
            name,
            why,
        )

    async def close(self, state: object = None) -> None:
        """End the runs of this lifespan, or all of them."""
        ending = [call for call in self.running if state is None or call.lifespan is state]
        if not ending and self.beat is None:
            return
        for call in ending:
            self.take(call)
        here = [call for call in ending if call.run.loop is asyncio.get_running_loop()]
        with anyio.CancelScope(shield=True):
            if here:  # on trio there are none, and `gather` needs a loop of asyncio's
                await asyncio.gather(*(call.end(STOPPED) for call in here))
            if self.beat is not None:
                await self.beat.stop(here)

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


def _expire(method: WeakMethod[Callable[[], None]]) -> None:
    if (expire := method()) is not None:
        expire()
