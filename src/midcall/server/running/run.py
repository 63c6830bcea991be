"""One execution of a tool's code, in its own task.

The request that starts a run waits until the tool has ended, or has asked and gone quiet. Then the request returns,
and the run stays: its questions wait for the client's next request. Only public parts of asyncio are used.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextvars import Context, ContextVar, copy_context
from typing import Any, Final, NamedTuple, cast

import anyio
import anyio.lowlevel
import anyio.to_thread

from midcall.settings.live_runs import (
    CANCEL_ATTEMPTS,
    CLEANUP_SECONDS,
    EFFECT_SECONDS,
    MAX_REFUSALS,
    MAX_REFUSALS_IN_ALL,
)

logger = logging.getLogger("midcall")

in_thread: ContextVar[int | None] = ContextVar("midcall_in_thread", default=None)
"""The worker thread that a verb runs for."""

aside: ContextVar[bool] = ContextVar("midcall_aside", default=False)
"""Whether a verb runs for a thread that the author started: such threads have no order among them."""

ROUND: Final = "round"
"""The reason for ending a run that will be replayed with the answers."""
CANCELLED: Final = "cancelled"
"""The reason for ending a run because its client has cancelled the call."""
STOPPED: Final = "stopped"
"""The reason for ending a run because the server stops."""
ELSEWHERE: Final = "continued elsewhere"
"""The reason for ending a run whose call another replica has taken over."""
UNSETTLED: Final = "unsettled"
"""The reason for ending a run because the store could not be told what its turn came to."""
REPLAYED: Final = (ROUND, STOPPED, "evicted")
"""Why a run is ended whose call may be replayed."""
OVER: Final = (None, "failed", CANCELLED)
"""Why a run has ended whose call is over: None if its tool has ended on its own."""

QUIET_LINE: Final = 1
QUIET_BRANCHES: Final = 4
"""Turns of the event loop without a new question before a round leaves. A branch of a nested task group, or behind
a `wait_for`, needs a few turns to reach its question."""
QUIET_THREADS: Final = 20
"""The same for the thread of a branch. Its question doesn't end with the branch: while the tool gives both up, which
takes some turns, no round leaves for it."""

CANCEL_TURNS: Final = 20
"""Turns of the event loop in which a cancel reaches all branches of the tool. Questions that are open after that fail:
its cleanup may wait for a branch that no cancel reaches."""

_MISSING: Final = object()


class Waiting(NamedTuple):
    """A pending question."""

    request: Mapping[str, Any]
    """The request as it leaves in a round."""
    answered: asyncio.Future[None]


class Run:
    """A tool that runs, and the questions it waits for."""

    task: asyncio.Task[Any]
    on_end: Callable[[], object]
    """Called when the tool has ended; set before it starts."""
    ending: str | None = None
    """Why the run is being ended, once it is."""
    abandoned = False
    """Whether the tool did not end when it was told to."""
    pauses: frozenset[asyncio.Future[None]] = frozenset()
    """Waits for the next request that ask nothing."""
    sending: frozenset[asyncio.Task[Any]] = frozenset()
    """What pushes a question for a branch or a thread."""
    threads_waiting = 0
    """How many worker threads wait for an answer."""
    _quiet = False
    _left = 0
    """Turns of the loop until the run counts as quiet."""
    _counting = False
    _tool: Awaitable[Any] | None = None
    """What it runs, until it does."""
    _is_starting = False
    """Whether the tool takes its first steps, before the tasks that it starts have taken theirs."""
    _bell: asyncio.Future[None] | None = None
    _later: Mapping[ContextVar[Any], Any] = {}
    """The context variables that newer requests brought instead."""
    _newer: Mapping[ContextVar[Any], tuple[Any, Any]] = {}
    _refusals: Counter[object] | None = None
    _is_told = False
    """Whether the tool's own task knows that the run is being ended: a verb has told it."""
    _end_task: asyncio.Task[None] | None = None
    _endless: asyncio.Future[None] | None = None
    """Set while the run is being ended; done when the tool turns out to swallow that for ever."""
    _threads: frozenset[int] = frozenset()
    _effects: set[asyncio.Task[Any]] | None = None
    _is_over = False
    """Whether no replay will follow, since the client cancels or the server stops: then no wait is without an end."""
    _askers: set[asyncio.Task[Any]] | None = None

    def __init__(self, name: object, var: ContextVar[Any], value: Any) -> None:
        """The run of a tool, with this variable set. It belongs to the run alone, and follows no request."""
        # As little as possible: every call makes one, even if it never asks.
        self.name = name
        """What the client calls the tool."""
        self.loop = asyncio.get_running_loop()
        self.context: Context = copy_context()
        self._first = self.context.copy()
        """The context variables that the first request brought."""
        self._own = var
        self._token = self.context.run(var.set, value)
        self._scope = _make_scope()
        self.open: dict[str, Waiting] = {}
        """The pending questions, by the key under which they leave."""

    def start(self, tool: Callable[[], Awaitable[Any]]) -> None:
        """Run this in its own task."""
        self._tool = self.context.run(tool)
        if sys.version_info >= (3, 12) and self.loop.get_task_factory() is None:
            # A tool that never waits then costs no turn of the loop.
            self._is_starting = True
            self.task = asyncio.Task(self._run(), loop=self.loop, context=self.context, eager_start=True)
            self._is_starting = False
        else:
            self.task = self.loop.create_task(self._run(), context=self.context)
            self.task.add_done_callback(self._on_cancel)

    async def _run(self) -> Any:
        if self._is_starting:  # nobody else knows its task yet
            self.task = cast("asyncio.Task[Any]", asyncio.current_task())
        else:
            self.task.remove_done_callback(self._on_cancel)
        tool, self._tool = self._tool, None
        assert tool is not None, "a run runs its tool once"
        try:
            with self._scope:
                return await tool
        except asyncio.CancelledError:
            pass
        except Exception:
            self.task.add_done_callback(_retrieve)
            raise
        finally:
            self._finish()
            self._own.reset(self._token)  # else the context keeps the call alive, and the call its context
        del self, tool  # the task holds its error, which holds this frame: it must hold nothing of the call
        raise asyncio.CancelledError

    def _on_cancel(self, _: asyncio.Task[Any]) -> None:
        """The task was cancelled before its first step."""
        if (close := getattr(self._tool, "close", None)) is not None:
            close()
        self._finish()

    def _finish(self) -> None:
        """The tool has ended, and its task ends in this turn of the loop."""
        if self.open:  # those of branches that the tool has left behind
            self._fail_open()
        self._ring()
        self.on_end()
        del self.on_end

    @property
    def done(self) -> bool:
        return self.task.done()

    @property
    def is_here(self) -> bool:
        """Whether its event loop is the one that runs in this thread."""
        try:
            return asyncio.get_running_loop() is self.loop
        except RuntimeError:
            return False

    # --- for the request ----------------------------------------------------------------------

    async def settle(self) -> None:
        """Wait until the tool has ended, or has asked and gone quiet, and hand its context variables back."""
        if not self.task.done():
            await asyncio.sleep(0)  # most tools end with their next step, or ask
        if self._quiet:
            await asyncio.sleep(0)  # tasks that the tool has started take their first steps
        while not self.is_settled:
            self._bell = self.loop.create_future()
            try:
                await self._bell
            finally:
                self._bell = None
        self.hand_back()

    @property
    def is_settled(self) -> bool:
        """Whether the tool has ended, or a round can leave. What was asked may have been withdrawn since."""
        self._quiet = self._quiet and bool(self.open or self.pauses)
        return self.task.done() or self.abandoned or self._quiet

    def requests(self) -> dict[str, Mapping[str, Any]]:
        """All open questions, as they leave in a round."""
        return {key: waiting.request for key, waiting in self.open.items()}

    def resume(self, answered: Iterable[str]) -> None:
        """A request has brought the answers to these: wake the questions, and everything that paused for a request."""
        self._quiet = False
        for key in answered:
            if (waiting := self.open.pop(key, None)) is not None and not waiting.answered.done():
                waiting.answered.set_result(None)
        for pause in self.pauses:
            if not pause.done():
                pause.set_result(None)
        self.pauses = frozenset()
        if self.open:  # they leave again if nothing else happens
            self._expect(QUIET_BRANCHES)

    def follow(self) -> None:
        """Hand the context variables of the running request to the run, unless the tool has set them itself."""
        newer: dict[ContextVar[Any], tuple[Any, Any]] = {}
        first, later = self._first, self._later
        for var, value in copy_context().items():
            old = later[var] if var in later else first.get(var, _MISSING)
            if value is not old and var is not self._own:
                newer[var] = (old, value)
        if newer:
            self._later = {**later, **{var: value for var, (_, value) in newer.items()}}
            self.context.run(_adopt, newer)
        self._newer = newer

    def hand_back(self) -> None:
        """Set the context variables that the run has changed in the context of the running request."""
        first, later = self._first, self._later
        for var, value in self.context.items():
            brought = later[var] if var in later else first.get(var, _MISSING)
            if brought is not value and var is not self._own:
                var.set(value)

    # --- for the verbs ------------------------------------------------------------------------

    def on_line(self) -> bool:
        """Whether this is the tool's own task, or its only thread: what these ask has one order."""
        if aside.get():
            return False
        if asyncio.current_task() is self.task:
            return True
        if (thread := in_thread.get()) is None or not self._is_in_thread():  # not that of a branch
            return False
        self._threads |= {thread}
        return len(self._threads) == 1

    async def ask(self, requests: Mapping[str, Mapping[str, Any]]) -> None:
        """Put these into the next round, and wait until one of them is answered."""
        task = asyncio.current_task()
        if self.ending is not None or (task is not None and task.cancelling()):
            await self.check_question()
        if self.task.done():  # no request would take it along
            raise asyncio.CancelledError
        for_thread = in_thread.get() is not None
        waits = {key: Waiting(request, self.loop.create_future()) for key, request in requests.items()}
        self.open.update(waits)
        self.threads_waiting += for_thread
        self._expect(self._turns_until_quiet(task, for_thread))
        try:
            if len(waits) == 1:
                await next(iter(waits.values())).answered
            else:
                await asyncio.wait([each.answered for each in waits.values()], return_when=asyncio.FIRST_COMPLETED)
                self._raise_if_ended(waits.values())
        finally:
            self.threads_waiting -= for_thread
            for key, waiting in waits.items():
                if self.open.get(key) is waiting:
                    del self.open[key]
        if self._newer:
            _adopt(self._newer)

    async def pause(self) -> None:
        """Let the request return without a question, and wait for the next one."""
        await self.check()
        waiting: asyncio.Future[None] = self.loop.create_future()
        self.pauses |= {waiting}
        self._expect(self._turns_until_quiet(asyncio.current_task(), in_thread.get() is not None))
        try:
            await waiting
        finally:
            self.pauses -= {waiting}
        if self._newer:
            _adopt(self._newer)

    def _turns_until_quiet(self, task: asyncio.Task[Any] | None, for_thread: bool) -> int:
        if task is self.task:
            return QUIET_LINE
        if for_thread:
            return QUIET_LINE if self._is_in_thread() else QUIET_THREADS
        self._note_asker(task)
        return QUIET_BRANCHES

    def _note_asker(self, task: asyncio.Task[Any] | None) -> None:
        if task is not None and task is not self.task:
            self._askers = self._askers or set()
            self._askers.add(task)
            task.add_done_callback(self._askers.discard)

    @staticmethod
    def _raise_if_ended(waits: Iterable[Waiting]) -> None:
        if any(each.answered.cancelled() for each in waits):
            raise asyncio.CancelledError

    async def check(self) -> None:
        """End a verb that is used while the run is being ended. A tool that swallows that for ever stays here."""
        if self.ending is None:
            return
        if self._refuse():
            self._give_up()
            with anyio.CancelScope(shield=True):  # a cancelled scope would wake it in every turn of the loop
                await self.loop.create_future()
        await asyncio.sleep(0)
        raise asyncio.CancelledError

    def _refuse(self) -> bool:
        """Note who is refused; whether that was too often."""
        self._note_asker(asyncio.current_task())
        self._is_told = self._is_told or asyncio.current_task() is self.task
        self._refusals = refusals = self._refusals or Counter()
        who = in_thread.get() or asyncio.current_task()
        refusals[who] += 1
        return refusals[who] > MAX_REFUSALS or refusals.total() > MAX_REFUSALS_IN_ALL

    def _give_up(self) -> None:
        """The tool swallows every cancellation: stop waiting for it."""
        if self._endless is None:  # a mistake has stopped it
            self._abandon()
        elif not self._endless.done():
            self._endless.set_result(None)

    async def check_question(self) -> None:
        """`check`, for a question: in a scope that was cancelled nobody wants to know any more."""
        await self.check()
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            await anyio.lowlevel.checkpoint_if_cancelled()

    def begin(self, effect: asyncio.Task[Any]) -> None:
        """An effect is running; ending the run waits for it."""
        self._effects = self._effects or set()
        self._effects.add(effect)
        effect.add_done_callback(self._effects.discard)

    # --- quiet --------------------------------------------------------------------------------

    def _expect(self, turns: int) -> None:
        """A round leaves after this many turns of the loop, unless something is asked meanwhile."""
        if turns == QUIET_LINE and not self._counting:  # the request wakes in the next turn
            self._quiet = True
            self._ring()
            return
        self._left = max(self._left, turns)
        if not self._counting:
            self._counting = True
            self.loop.call_soon(self._count)

    def _count(self) -> None:
        self._left -= 1
        if self._left > 0:
            self.loop.call_soon(self._count)
            return
        self._counting = False
        if (self.open or self.pauses) and self.ending is None:
            self._quiet = True
            self._ring()

    def _ring(self) -> None:
        if self._bell is not None and not self._bell.done():
            self._bell.set_result(None)

    # --- ending -------------------------------------------------------------------------------

    def stop(self, why: str) -> None:
        """Begin to end the run, from within, in any of its threads: no question is asked any more."""
        if self.ending is None:
            self.ending = why
        self._quiet = False
        if self.is_here:
            self._stop()
        elif self.loop.is_running():
            asyncio.run_coroutine_threadsafe(self._stop_soon(), self.loop)

    async def _stop_soon(self) -> None:
        self._stop()

    def _stop(self) -> None:
        self._fail_questions()
        if asyncio.current_task() is self.task:
            self._is_told = True
        elif not self.task.done() and not self._is_in_thread():
            self.task.cancel()

    async def end(self, why: str) -> None:
        """End the run: let effects finish, then cancel the tool and wait for its cleanup, for a bounded time."""
        self._is_over = self._is_over or why in (CANCELLED, STOPPED)
        if self.abandoned:
            return
        if self._end_task is None:
            if self.ending is None and self._waits_alone():
                self.ending = why
                self._is_told = True
                self.task.cancel()
                await asyncio.sleep(0)
                if self.task.done():  # as nearly always: a question has no cleanup
                    _retrieve(self.task)
                    return
            self.ending = self.ending or why
            self._end_task = self.loop.create_task(self._end())
        await asyncio.shield(self._end_task)  # a request that breaks off does not keep the run from ending

    def _waits_alone(self) -> bool:
        """Whether the tool's own task waits for an answer, and no branch, thread or effect is under way."""
        others = self._effects or self._askers or self.sending or self.pauses or self.threads_waiting
        return bool(self.open) and not others

    async def _end(self) -> None:
        self._endless = self.loop.create_future()
        if self._effects:
            await asyncio.wait(tuple(self._effects), timeout=EFFECT_SECONDS)
            await self._let_results_arrive()
        await self._cancel()
        self._fail_questions()
        await self._wait_for_askers()
        await self._finish_effects()
        if not self.task.done() or self._endless.done():
            self._abandon()

    def _abandon(self) -> None:
        """Log the tool that does not end, and wake its request."""
        if self.abandoned:
            return
        self.abandoned = not self.task.done()
        logger.error(
            "%s did not end when it was cancelled, and was abandoned. It swallows CancelledError: let it pass, and "
            "replace a bare `except:` around a question with `except Exception:`.",
            self.name,
        )
        self._ring()

    async def _let_results_arrive(self) -> None:
        """On Python 3.11, a `wait_for` swallows a cancel that comes together with its result."""
        for _ in range(QUIET_BRANCHES):
            await asyncio.sleep(0)

    async def _let_cancel_arrive(self) -> None:
        for _ in range(CANCEL_TURNS):
            if self.task.done():
                return
            await asyncio.sleep(0)

    async def _cancel(self) -> None:
        """A thread can't be cancelled: it ends when its question fails. Everything else is cancelled."""
        for attempt in range(CANCEL_ATTEMPTS):
            if self.task.done():
                return
            if not self._is_in_thread():
                if attempt or not self._is_told:  # else it is cleaning up already, which a cancel would cut off
                    self.task.cancel()
                await self._let_cancel_arrive()
            elif attempt or self.ending == CANCELLED:
                self._scope.cancel()  # a thread may check for it, and isn't interrupted by it
            self._fail_questions()
            await self._wait_for((self.task,))
            if self._endless is not None and self._endless.done():
                return

    async def _wait_for_askers(self) -> None:
        """Wait until all branches that have asked have ended, and those that their cleanup has started."""
        await self._wait_for(tuple(self._askers or ()))
        await self._wait_for(tuple(self._askers or ()))

    async def _wait_for(self, tasks: Iterable[asyncio.Task[Any]]) -> None:
        """Wait until these have ended, for as long as cleanup may take; not for a tool that never does."""
        endless = self._endless
        until = self.loop.time() + CLEANUP_SECONDS
        while endless is not None and not endless.done() and (left := [task for task in tasks if not task.done()]):
            if (seconds := until - self.loop.time()) <= 0:
                return
            await asyncio.wait((*left, endless), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)

    def _is_in_thread(self) -> bool:
        """Whether the run's own task waits for a worker thread, as that of a `def` tool does."""
        return self.task in anyio.to_thread.current_default_thread_limiter().statistics().borrowers

    def _fail_open(self) -> None:
        for waiting in self.open.values():
            waiting.answered.cancel()

    def _fail_questions(self) -> None:
        self._fail_open()
        for pause in self.pauses:
            pause.cancel()
        for pushing in self.sending:
            if not pushing.cancelling():  # else it is telling the client, which a second cancel would interrupt
                pushing.cancel()

    async def _finish_effects(self) -> None:
        """Wait for the effects: a replay must not begin beside them. Without one, don't wait for ever."""
        while self._effects:
            await asyncio.wait(tuple(self._effects), timeout=CLEANUP_SECONDS)
            if self._effects and self._is_over:
                logger.error(
                    "An effect of %s still runs, though its call was cancelled or the server stops: nobody may learn "
                    "whether it happens. Give what once() calls a time limit.",
                    self.name,
                )
                return


def _make_scope() -> anyio.CancelScope:
    """A cancel scope of anyio's. Which class that is on asyncio is found out once: it takes longer than to make one."""
    global _scope_class
    if _scope_class is None:
        _scope_class = type(anyio.CancelScope())
    return _scope_class()


_scope_class: type[anyio.CancelScope] | None = None


def _retrieve(task: asyncio.Task[Any]) -> None:
    """Take the error from the task: nobody may ask for it, and its traceback would keep everything alive."""
    if not task.cancelled():
        task.exception()


def _adopt(newer: Mapping[ContextVar[Any], tuple[Any, Any]]) -> None:
    for var, (old, value) in newer.items():
        if var.get(_MISSING) is old:
            var.set(value)
