"""How a running tool lets go, so that its questions can leave as a round.

On 2026-07-28 a call cannot wait: an unanswered question unwinds the tool, and the client's retry
runs it again. In the task that runs the tool this is `Suspend`, a BaseException. In a child task
it would become an exception group, a value in `gather(return_exceptions=True)` or a "never
retrieved" warning, so there the question *parks*, and the tool's own task is cancelled, once: its
cleanup may await, which a cancel scope that stays cancelled would forbid.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Generator
from contextvars import ContextVar
from typing import Any, Final, NoReturn, TypeVar

from midcall.server.call import current_call
from midcall.server.enclosing import context_of, enclosing
from midcall.wording import rounds as wording

__all__ = ["Rounds", "Suspend", "in_thread"]

logger = logging.getLogger("midcall.rounds")

T = TypeVar("T")

in_thread: ContextVar[int | None] = ContextVar("midcall_in_thread", default=None)
"""The worker thread on whose behalf a verb runs; `Suspend` unwinds it directly."""

_QUIET_LINE: Final = 1
_QUIET_BRANCHES: Final = 4
"""Turns of the event loop without a new question before a round leaves. A branch of a nested task
group, or behind a `wait_for`, needs a few turns to get to its question."""

_STOPS_BEFORE_ABANDON: Final = 20
_CLEANUP_SECONDS: Final = 5.0
_CANCEL_SECONDS: Final = 0.25
_CANCELS: Final = 3
_EFFECT_SECONDS: Final = 10.0
"""How long a round waits for effects before it unwinds the rest. They are awaited to their end in any
case; but an effect may itself wait for what a branch holds that waits for its answer."""


def _keep_for_good(coroutine: object) -> None:
    """Never let this be collected: closing it would run its loop again, for ever, even at exit."""
    import ctypes  # here, since hardly anybody needs it

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(coroutine))


def _retrieve(task: asyncio.Task[Any]) -> None:
    """Look at how a task ended that was only stopped: nobody else may, and asyncio would complain."""
    if not task.cancelled():
        task.exception()


def _ready(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether anything but this task can run in this turn; where the loop does not tell, it may."""
    return bool(getattr(loop, "_ready", True))


class Suspend(BaseException):
    """A round is leaving: let this pass. Do not catch it, and do not use a bare `except:`."""

    def __str__(self) -> str:
        return wording.suspend_advice()  # made for whoever sees it, which hardly anybody does


class Rounds(Awaitable[Any]):
    """The questions of one run that have to leave, and the tasks that wait for that."""

    # Defaults of the class: a call that asks nothing makes one of these, and needs next to nothing of it.
    leaving = False
    _abandon = False
    _cancelled = 0
    _done = False
    _stops = 0
    _unwinding = False
    _leaver: asyncio.Task[None] | None = None
    _parked: set[asyncio.Task[Any]] | None = None
    _effects: set[asyncio.Task[Any]] | None = None
    _threads: frozenset[int] = frozenset()
    tool: Awaitable[Any]
    """What runs; to be set before this is awaited."""

    def __init__(self, task: asyncio.Task[Any] | None) -> None:
        assert task is not None, "a request is served in a task"
        self.requests: dict[str, dict[str, Any]] = {}
        self._task = task
        self._baseline = task.cancelling()

    # --- for the verbs ------------------------------------------------------------------------

    def on_line(self) -> bool:
        """Whether this is the tool's own task, or its one thread: that has one order."""
        if asyncio.current_task() is self._task:
            return True
        if (thread := in_thread.get()) is None:
            return False
        self._threads |= {thread}
        return len(self._threads) == 1

    def _is_line(self) -> bool:
        """Whether `Suspend` unwinds this, and no parking is needed."""
        return asyncio.current_task() is self._task or in_thread.get() is not None

    async def ask(self, requests: dict[str, dict[str, Any]]) -> NoReturn:
        """Put these into the round that leaves next; never returns."""
        self.requests.update(requests)
        if self._is_line():
            await self._quiet(_QUIET_LINE)
            self.leaving = self._unwinding = True
            await self._finish_effects(_EFFECT_SECONDS)
            raise Suspend
        if self._leaver is None:
            self._leaver = asyncio.create_task(self._leave())
        await self._park()

    async def pause(self) -> NoReturn:
        """Let a round leave that asks nothing: the client only comes back."""
        await self.ask({})

    async def stop(self) -> NoReturn:
        """End a verb that is used while a round is leaving."""
        task = asyncio.current_task()
        if not self._is_line():
            if task is not None and task.cancelling() and self._stops < _STOPS_BEFORE_ABANDON:
                self._stops += 1
                raise asyncio.CancelledError  # it is on its way out, and nobody would cancel it again
            await self._park()
        self._unwinding = True
        self._stops += 1
        if self._stops > _STOPS_BEFORE_ABANDON:
            self._abandon = True
            await asyncio.sleep(0)
        raise Suspend

    def begin(self, effect: asyncio.Task[Any]) -> None:
        """An effect is running; a round that leaves waits for it."""
        if self._effects is None:
            self._effects = set()
        self._effects.add(effect)
        effect.add_done_callback(self._effects.discard)

    # --- leaving ------------------------------------------------------------------------------

    async def _quiet(self, turns: int) -> None:
        quiet, seen = 0, len(self.requests)
        if turns == _QUIET_LINE and not _ready(asyncio.get_running_loop()):
            return
        while quiet < turns:
            await asyncio.sleep(0)
            quiet = quiet + 1 if len(self.requests) == seen else 0
            seen = len(self.requests)

    async def _leave(self) -> None:
        await self._quiet(_QUIET_BRANCHES)
        if self.leaving or self._done:
            return
        self.leaving = True
        await self._finish_effects(_EFFECT_SECONDS)
        if self._unwinding:
            await asyncio.sleep(_CLEANUP_SECONDS)
        await self._cancel_line()

    async def _cancel_line(self) -> None:
        """Unwind the tool's own task. The first cancel may be swallowed; `run` ends this when it works."""
        for _ in range(_CANCELS):
            self._cancelled += 1
            self._task.cancel()
            await asyncio.sleep(_CANCEL_SECONDS)
            self._cancel_parked()
            await asyncio.sleep(_CLEANUP_SECONDS)
        self._abandon = True
        self._cancelled += 1
        self._task.cancel()

    async def _finish_effects(self, seconds: float | None = None) -> None:
        while self._effects:
            _, waiting = await asyncio.wait(tuple(self._effects), timeout=seconds)
            if waiting and seconds is not None:
                return

    async def _park(self) -> NoReturn:
        task = asyncio.current_task()
        if task is None or self._done:
            self._stops += 1
            if self._stops <= _STOPS_BEFORE_ABANDON:
                raise asyncio.CancelledError
            await asyncio.get_running_loop().create_future()  # it catches everything: at least it rests
        assert task is not None
        if self._parked is None:
            self._parked = set()
        self._parked.add(task)
        task.add_done_callback(_retrieve)
        await asyncio.get_running_loop().create_future()
        raise AssertionError("a parked question was woken")

    # --- for the middleware -------------------------------------------------------------------

    def __await__(self) -> Generator[Any, Any, Any]:
        """Run the tool. Gives None when a round is leaving instead, whatever the tool did.

        A loop around a bare `except:` swallows every `Suspend`. Nothing can unwind such code; after it has
        had its chances it is left where it stands.
        """
        # One generator for all of it, and no coroutine: every call pays for this, also those that ask nothing.
        steps: Generator[Any, Any, Any] = self.tool.__await__()
        thrown: BaseException | None = None
        result: Any = None
        failure: BaseException | None = None
        try:
            while True:
                waited = steps.send(None) if thrown is None else steps.throw(thrown)
                if self._abandon:
                    _keep_for_good(steps)
                    logger.error(wording.swallowed_suspend())
                    break
                thrown = None
                try:
                    yield waited
                except BaseException as exc:
                    thrown = exc
        except StopIteration as stop:
            result = stop.value
            if self._leaver is None and not self.leaving and self._parked is None:  # the tool just ended
                self._done = True
                return result
        except Suspend:
            pass
        except BaseException as exc:
            failure = exc
        try:
            return (yield from self._end(result, failure).__await__())
        finally:
            failure = thrown = None  # their tracebacks hold this frame: a cycle a round would be costly

    async def _end(self, result: Any, failure: BaseException | None) -> Any:
        """What the tool's end means: a round, a result or a failure."""
        self._done = True
        if self._leaver is not None:
            self._leaver.cancel()
        for _ in range(self._cancelled):
            self._task.uncancel()
        if isinstance(failure, (KeyboardInterrupt, SystemExit)):
            raise failure
        if self._task.cancelling() > self._baseline:  # somebody else wants this call to end
            self._cancel_parked()
            raise failure if isinstance(failure, asyncio.CancelledError) else asyncio.CancelledError
        if self._parked or self._leaver:
            await self._sweep()
        if self.leaving:
            await self._finish_effects()
            return None
        if failure is not None:
            try:
                raise failure
            finally:
                failure = None
        return result

    def _cancel_parked(self) -> None:
        for task in self._parked or ():
            if not task.cancelling():  # else it is at its cleanup, which a second cancel would cut off
                task.cancel()

    def _holders(self) -> set[asyncio.Task[Any]]:
        """The outermost branches that hold a task which parked.

        They would run on without its answer if only that were cancelled; they cancel what they hold.
        """
        parked = [task for task in self._parked or () if not task.done()]
        holders = {holder for task in parked for holder in enclosing(task, self._is_branch)}
        return {task for task in holders if not task.cancelling() and not enclosing(task, self._is_branch) & holders}

    def _is_branch(self, task: asyncio.Task[Any]) -> bool:
        context = context_of(task)
        call = context.get(current_call) if context is not None else None
        return task is not self._task and call is not None and call.unwinding is self

    async def _sweep(self) -> None:
        """End the tasks that parked, and those that hold them, and let their cleanup run."""
        while holders := self._holders():
            for task in holders:
                task.add_done_callback(_retrieve)
                task.cancel()
            await asyncio.wait(holders, timeout=_CLEANUP_SECONDS)
        self._cancel_parked()
        pending = [task for task in (self._parked or ()) if not task.done()]
        if pending:
            await asyncio.wait(pending, timeout=_CLEANUP_SECONDS)
            for task in pending:
                if not task.done():
                    _keep_for_good(task)
