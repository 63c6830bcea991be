"""The unfinished calls of one installation: the runs between two requests, and the turns that continue them."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from contextvars import Context, ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from weakref import WeakMethod

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from midcall.core.journal import Head
from midcall.core.remembered import Remembered
from midcall.errors import StoreError
from midcall.server.resuming.visits import NotHeld
from midcall.server.running import handover as beating
from midcall.server.running.handover import Claim, Handover
from midcall.server.running.run import ELSEWHERE, STOPPED
from midcall.server.running.turn import PAST, Past
from midcall.server.running.waiting import Waiting, busiest, caller_of
from midcall.settings.calls import STATE_BYTES
from midcall.settings.live_runs import LARGE_JOURNAL_BYTES, MAX_ENDED_RUNS, MAX_TURN_OUTCOMES
from midcall.settings.resuming import MAX_SEEN_TOOLS
from midcall.stores.base import Record

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

    has_codes = False
    """Whether a resume code was ever given out here."""

    drive: Callable[[Call, Claim], Awaitable[None]]
    """Continues a run for a request that another replica got."""
    resume: Callable[[Call], Coroutine[Any, Any, None]]
    """Continues a run without a request: the user is done on a page that it waits for."""

    def __init__(self, *, live: bool, most: int, seconds: float, handover: Handover | None = None) -> None:
        self._live = live
        self.handover = handover
        """The way to other replicas, if there is a store."""
        if handover is not None:
            handover.present = self.beat_first
        self._most = most
        self._seconds = seconds
        self.past = Past(in_store=handover is not None)
        """What was continued."""
        self.running: set[Call] = set()
        """The calls whose tools have not ended."""
        self._waiting = Waiting(most)
        """Those between two requests."""
        self._states: dict[str, _Kept] = {}
        """The states behind resume codes, oldest first."""
        self._concluded: Remembered[_Kept] = Remembered(MAX_TURN_OUTCOMES)
        """What is left of those whose turns have an outcome."""
        self._expiry: tuple[asyncio.AbstractEventLoop, asyncio.TimerHandle] | None = None
        """What ends the oldest run when it has expired, and on which loop."""
        self._tasks: set[asyncio.Task[Any]] = set()
        self._ending: dict[str, asyncio.Task[None]] = {}
        """Those that are being ended, by call."""
        self._watching: dict[str, asyncio.Task[None]] = {}
        """Who waits for an offer of another replica, by call."""
        self._awaiting: dict[str, asyncio.Task[None]] = {}
        """Who waits for the pages of a run, by call."""
        self._held: Counter[str] = Counter()
        """The codes that requests wait with, and how many do."""
        self._beating: asyncio.Task[None] | None = None
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
        if self.handover is not None:
            try:
                await self.beat_first()
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
        if (other := self._waiting.find(name)) is not None:  # an older run of the same call
            self._end_soon(other, ELSEWHERE)
        is_crowded = self._waiting.add(call, call.run.loop.time() + self._seconds)
        if self.handover is not None:
            self._watching[name] = self.aside(self._watch(self.handover, call))
            if not self._is_beating():  # the store took its time since the run was known to stay
                self._beating = self.aside(self._beat(self.handover, at_once=True))
        self._await_pages(call)
        if is_crowded:
            self._make_room(call)
        self._watch_expiry(call.run.loop)

    def find(self, name: str) -> Call | None:
        """The call of this name, if its run waits here, in this event loop."""
        call = self._waiting.find(name)
        return call if call is not None and call.run.loop is asyncio.get_running_loop() else None

    def take(self, call: Call) -> None:
        """A request continues this run."""
        if not self._waiting.remove(call):
            return
        for watching in (self._watching.pop(call.name, None), self._awaiting.pop(call.name, None)):
            if watching is not None:
                watching.cancel()

    def has(self, call: Call) -> bool:
        """Whether this run waits here for its next request."""
        return self._waiting.find(call.name) is call

    def drop(self, name: str) -> None:
        """End a run of this call that still waits here: it was continued elsewhere, and is about to be replayed."""
        if (call := self.find(name)) is not None:
            self._end_soon(call, ELSEWHERE)

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

    # --- replicas -----------------------------------------------------------------------------

    async def beat_first(self) -> None:
        """Show the other replicas that this one is there, before a round leaves that only it can continue."""
        if self.handover is not None and not self._is_beating():
            await self.handover.beat()
            if not self._is_beating():  # another call may have been faster
                self._beating = self.aside(self._beat(self.handover))

    def _is_beating(self) -> bool:
        """Whether this process beats, on this loop."""
        beating = self._beating
        return beating is not None and not beating.done() and beating.get_loop() is asyncio.get_running_loop()

    async def _beat(self, handover: Handover, *, at_once: bool = False) -> None:
        """Beat while a run waits or is being continued, and check the turns of the waiting ones."""
        while True:
            if not at_once:
                await asyncio.sleep(beating.BEAT_SECONDS)
            at_once = False
            if not (self._waiting or handover.busy):
                return
            for step in (handover.beat, partial(self._look, handover)):
                try:
                    await step()
                except StoreError as error:
                    logger.warning("Could not reach the store to beat: %s", error)
                except Exception:  # the next one may work: without a beat, others would replay the calls
                    logger.exception("A beat failed")

    async def _look(self, handover: Handover) -> None:
        """Find the offers that no notification has told of, and what was continued elsewhere."""
        turns = {call.name: call.journal.turn for call in self._waiting}
        for name, record in (await handover.look(turns) if turns else {}).items():
            if (call := self.find(name)) is not None and call.journal.turn == turns[name]:
                self.aside(self._meet(handover, call, record))

    async def _watch(self, handover: Handover, call: Call) -> None:
        """Notifications only make it faster: the beat finds every offer."""
        try:
            if (record := await handover.offer_of(call.name, call.journal.turn)) is not None:
                self.aside(self._meet(handover, call, record))  # who takes the run cancels the watch, and no claim
        except StoreError:
            pass

    async def _meet(self, handover: Handover, call: Call, record: Record) -> None:
        """Somebody has created the turn that this run waits for."""
        if self.find(call.name) is not call:
            return
        if handover.went_elsewhere(record):
            self._end_soon(call, ELSEWHERE)
            return
        try:
            claim = await handover.claim_offered(record)
            if claim is not None and self.find(call.name) is call:
                self.take(call)
                await self.drive(call, claim)
            elif claim is not None:  # the run was ended meanwhile
                await self.until_ended(call.name)
                await handover.give_back(claim)
        except StoreError as error:
            logger.warning("Could not claim a call for its run: %s", error)

    # --- codes --------------------------------------------------------------------------------

    def put_state(self, code: str, call: Call, state: str) -> None:
        """Keep the state behind a resume code in memory, for servers without a store."""
        self.has_codes = True
        now = call.run.loop.time()
        for old in [code for code, kept in self._states.items() if kept.until <= now]:
            del self._states[old]
        pages = () if call.suspension is None else tuple(call.suspension.pages.values())
        head = Head(call.name, call.journal.turn, call.journal.owner)
        self._states[code] = _Kept(head, call.holder, call.caller, call.ended, state, now + self._seconds, pages)
        if len(self._states) > self._most:
            most = busiest(kept.caller for kept in self._states.values())
            del self._states[next(code for code, kept in self._states.items() if kept.caller == most)]

    def state_behind(self, code: str, holder: str) -> str | None:
        """The state behind this code, for its holder. One that names a live run ends with it."""
        kept = self._kept(code)
        if kept is None or kept.holder != holder or kept.until <= asyncio.get_running_loop().time():
            return None
        live = self.find(kept.head.call)
        is_live = live is not None and live.journal.turn == kept.head.turn
        is_known = kept.ended or is_live or (kept.head.call, kept.head.turn) in self.past
        return kept.state if is_known else None

    def _kept(self, code: str) -> _Kept | None:
        return self._states.get(code) or self._concluded.get(code)

    def pages_behind(self, code: str) -> list[Page]:
        """What the call of this code waits for."""
        kept = self._kept(code)
        return [] if kept is None else list(kept.pages)

    def keeps_state(self, code: str) -> bool:
        """Whether the turn of this code has no outcome yet."""
        return code in self._states

    def drop_state(self, code: str) -> None:
        """The turn of this code has an outcome: the code leads to that, and the call isn't run from its state again."""
        if (kept := self._states.pop(code, None)) is not None:
            head = kept.state.partition("\n")[0]
            self._concluded[code] = kept._replace(ended=False, state=head)

    # --- room ---------------------------------------------------------------------------------

    def has_room(self, call: Call) -> bool:
        """Whether this call may wait with a journal that is too large to travel, and that nothing but memory holds."""
        held = {kept.head.call: (kept.caller, len(kept.state)) for kept in self._states.values()}
        held |= {each.name: (each.caller, each.size) for each in (*self._waiting, call)}
        large = [(caller, size) for caller, size in held.values() if size > STATE_BYTES]
        own = sum(size for caller, size in large if caller == call.caller)
        return own <= LARGE_JOURNAL_BYTES // 2 and sum(size for _, size in large) <= LARGE_JOURNAL_BYTES

    def _make_room(self, newest: Call) -> None:
        """Only waiting runs make room, those of the caller with most first."""
        while (call := self._waiting.surplus(newest)) is not None:
            if call.run.done:  # it only keeps its result
                self._forget_result(call)
            else:
                self._end_soon(call, "evicted")

    def _forget_result(self, call: Call) -> None:
        """Refuse the next request of this call. Its tool has ended, and must not run again."""
        self.take(call)
        self.past.refuse(call.name, call.journal.turn, caller_of(call))

    def _watch_expiry(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._expiry is not None and self._expiry[0] is loop:
            return
        until = next((until for call, until in self._waiting.deadlines() if call.run.loop is loop), None)
        if until is not None:
            # A weak reference and an empty context: the timer may outlive the server and this request.
            self._expiry = loop, loop.call_at(until, _expire, WeakMethod(self._expire), context=Context())

    def _expire(self) -> None:
        self._expiry, loop = None, asyncio.get_running_loop()
        for call, until in list(self._waiting.deadlines()):
            if call.run.loop is loop and until <= loop.time():
                self._end_soon(call, "expired")
        self._watch_expiry(loop)

    def _end_soon(self, call: Call, why: str) -> None:
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
        """Begin this for a request, which may break off: then it goes on."""
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
        if not ending and self._beating is None:
            return
        for call in ending:
            self.take(call)
        here = [call for call in ending if call.run.loop is asyncio.get_running_loop()]
        with anyio.CancelScope(shield=True):
            await asyncio.gather(*(call.end(STOPPED) for call in here))
            await self._say_goodbye(here)

    async def _say_goodbye(self, calls: Sequence[Call]) -> None:
        """Let the other replicas replay what was continued here."""
        if self.handover is None or self._beating is None:
            return
        try:
            for call in calls:
                if call.claim is not None:
                    await self.handover.give_back(call.claim)
            if not self.running:
                self._beating.cancel()
                await self.handover.beat(stopped=True)
        except StoreError as error:
            logger.warning("Could not tell the other replicas that this one stops: %s", error)

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


class _Kept(NamedTuple):
    """A state behind a resume code."""

    head: Head
    holder: str
    caller: str
    ended: bool
    """Whether the run had ended by then."""
    state: str
    until: float
    pages: Sequence[Page]
    """What the code waits for."""


def _expire(method: WeakMethod[Callable[[], None]]) -> None:
    if (expire := method()) is not None:
        expire()
