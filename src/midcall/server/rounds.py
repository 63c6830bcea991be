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
from collections.abc import Awaitable, Generator, Sequence
from contextvars import Context, ContextVar
from types import CoroutineType, coroutine
from typing import Any, Final, NoReturn, TypeVar

import anyio.lowlevel

from midcall.server.branches import CLEANUP_SECONDS, Branches, keep_for_good
from midcall.server.call import current_call
from midcall.server.enclosing import context_of, wake
from midcall.server.held import held_by
from midcall.server.scopes import close_scopes, is_cancelled, scope_of
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
_CANCEL_SECONDS: Final = 0.25
_CANCELS: Final = 3
_EFFECT_SECONDS: Final = 10.0
"""How long a round waits for effects before it unwinds the rest. They are awaited to their end in any
case; but an effect may itself wait for what a branch holds that waits for its answer."""


def _ready(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether anything but this task can run in this turn; where the loop does not tell, it may."""
    return bool(getattr(loop, "_ready", True))


class Suspend(BaseException):
    """A round is leaving: let this pass. Do not catch it, and do not use a bare `except:`."""

    def __str__(self) -> str:
        return wording.suspend_advice()  # made for whoever sees it, which hardly anybody does


class Rounds:
    """The questions of one run that have to leave, and the tasks that wait for that."""

    # Defaults of the class: a call that asks nothing makes one of these, and needs next to nothing of it.
    leaving = False
    _abandon = False
    _cancelled = 0
    """How often we have cancelled the tool's own task."""
    _cancelled_before = 0
    """How often it was cancelled before the round began to leave."""
    _done = False
    _unwinding = False
    _leaver: asyncio.Task[None] | None = None
    _branches: Branches | None = None
    _ender: asyncio.Task[None] | None = None
    _stops: dict[object, int] | None = None
    """How often each branch, or the tool itself, was stopped."""
    _effects: set[asyncio.Task[Any]] | None = None
    _threads: frozenset[int] = frozenset()
    tool: Awaitable[Any]
    """What runs."""

    def __init__(self, task: asyncio.Task[Any]) -> None:
        self.requests: dict[str, dict[str, Any]] = {}
        self._task = task
        self._scope = scope_of(task)

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
        task = asyncio.current_task()
        if task is not None and task.cancelling():  # in a scope that was cancelled nobody wants to know any more
            await anyio.lowlevel.checkpoint_if_cancelled()
        self.requests.update(requests)
        if self._is_line():
            if _ready(self._task.get_loop()):
                await self._quiet(_QUIET_LINE)
            self._unwinding = True
            self._start_leaving()
            if self._effects:
                await self._finish_effects(_EFFECT_SECONDS)
            self._end_branches()  # while the tool is unwound: its cleanup may wait for them, or they for it
            raise Suspend
        if self._leaver is None:
            self._leaver = asyncio.create_task(self._leave())
        await self._park()

    async def pause(self) -> NoReturn:
        """Let a round leave that asks nothing: the client only comes back."""
        await self.ask({})

    async def stop(self) -> NoReturn:
        """End a verb that is used while a round is leaving."""
        if not self._is_line():
            await self._stop_branch()
        self._unwinding = True
        thread = in_thread.get()
        if self._catches_all(thread):
            self._abandon = True
            if thread is not None:
                wake(self._task)
                await self._rest()
            await asyncio.sleep(0)
        raise Suspend

    async def _stop_branch(self) -> NoReturn:
        task = asyncio.current_task()
        if task is None or not task.cancelling():
            await self._park()
        if not self._catches_all(task):
            raise asyncio.CancelledError  # it is on its way out, and nobody would cancel it again
        assert task is not None
        self._own_branches().give_up(task)
        await self._rest()

    def _own_branches(self) -> Branches:
        self._branches = self._branches or Branches(self.is_branch, self._task, self.tool)
        return self._branches

    def is_branch(self, task: asyncio.Task[Any]) -> bool:
        """Whether this is a task that the tool has started, as far as that can be seen."""
        context = context_of(task)
        call = context.get(current_call) if context is not None else None
        return task is not self._task and call is not None and call.unwinding is self and task not in call.sending

    def _catches_all(self, branch: object) -> bool:
        """Whether this was stopped so often that it must be a loop which catches everything."""
        self._stops = stops = self._stops or {}
        stops[branch] = stops.get(branch, 0) + 1
        return stops[branch] > _STOPS_BEFORE_ABANDON

    @staticmethod
    async def _rest() -> NoReturn:
        await asyncio.get_running_loop().create_future()
        raise AssertionError("what rests was woken")

    def begin(self, effect: asyncio.Task[Any]) -> None:
        """An effect is running; a round that leaves waits for it."""
        if self._effects is None:
            self._effects = set()
        self._effects.add(effect)
        effect.add_done_callback(self._effects.discard)

    # --- leaving ------------------------------------------------------------------------------

    async def _quiet(self, turns: int) -> None:
        quiet, seen = 0, len(self.requests)
        while quiet < turns:
            await asyncio.sleep(0)
            quiet = quiet + 1 if len(self.requests) == seen else 0
            seen = len(self.requests)

    def _start_leaving(self) -> None:
        self.leaving = True
        self._cancelled_before = self._task.cancelling()

    async def _leave(self) -> None:
        await self._quiet(_QUIET_BRANCHES)
        if self.leaving or self._done:
            return
        self._start_leaving()
        await self._finish_effects(_EFFECT_SECONDS)
        if self._unwinding:
            await asyncio.sleep(CLEANUP_SECONDS)
        await self._cancel_line()

    async def _cancel_line(self) -> None:
        """Unwind the tool's own task. The first cancel may be swallowed; `_end` ends this when it works."""
        self._own_branches().look()
        for _ in range(_CANCELS):
            self._cancelled += 1
            self._own_branches().look_below(self._task)
            self._task.cancel()
            self._end_branches()
            await self._own_branches().watch((self._task,))
            await asyncio.sleep(_CANCEL_SECONDS)
            if await self._own_branches().has_endless():  # then what it waits for may never come
                break
        self._abandon = True
        if not wake(self._task):
            self._cancelled += 1
            self._task.cancel()

    async def _finish_effects(self, seconds: float | None = None) -> None:
        while self._effects:
            _, waiting = await asyncio.wait(tuple(self._effects), timeout=seconds)
            if waiting and seconds is not None:
                return

    async def _park(self) -> NoReturn:
        task = asyncio.current_task()
        assert task is not None
        self._own_branches().park(task)
        if self._unwinding or self._cancelled or self._done:  # it came late
            self._end_branches()
        await self._rest()

    def _end_branches(self) -> None:
        """Let those that parked end by and by, together with whoever holds them."""
        if self._branches is not None and (self._ender is None or self._ender.done()):
            # In a context of its own, since it is none of them; by no factory, which may start it inside of one.
            self._ender = asyncio.Task(self._branches.end(), loop=self._task.get_loop(), context=Context())

    # --- for the middleware -------------------------------------------------------------------

    @coroutine
    def run(self, tool: Awaitable[Any]) -> Generator[Any, Any, Any]:
        """Run the tool. Gives None when a round is leaving instead, whatever the tool did.

        A loop around a bare `except:` swallows every `Suspend`. Nothing can unwind such code; after it has
        had its chances it is left where it stands.
        """
        # One generator for all of it: every call pays for this, also those that ask nothing.
        self.tool = tool
        steps: Any = tool if type(tool) is CoroutineType else tool.__await__()  # pyright: ignore[reportUnknownVariableType]
        thrown: BaseException | None = None
        result: Any = None
        failure: BaseException | None = None
        held: Sequence[asyncio.Task[Any]] = ()
        try:
            while not self._abandon:
                waited = steps.send(None) if thrown is None else steps.throw(thrown)
                thrown = None
                try:
                    yield waited
                except BaseException as exc:
                    thrown = exc
                    if self._cancelled:  # by us: what it holds may have changed since, and it is about to end all
                        self._own_branches().look_below(self._task)
            self._leave_alone(steps)
        except StopIteration as stop:
            result, thrown = stop.value, None
            if not self.leaving and self._branches is None:  # the tool just ended
                self._done = True
                return result
        except Suspend as unwound:
            held = held_by(unwound)
            if not held and self._is_alone():  # as nearly every tool that asks is
                return None
        except BaseException as exc:
            failure = exc
            held = held_by(exc) if self.leaving else ()
        try:
            return (yield from self._end(result, failure, held).__await__())
        finally:
            failure = thrown = None  # their tracebacks hold this frame: a cycle a round would be costly

    def _leave_alone(self, steps: Generator[Any, Any, Any]) -> None:
        """Nothing unwinds this tool. It stays where it stands, and what it has entered is left for it."""
        keep_for_good(steps)
        close_scopes(self._task, self._scope)
        logger.error(wording.swallowed_suspend())

    def _is_alone(self) -> bool:
        """Whether there is nothing to end but the tool itself, and nobody else wants it to."""
        return self._branches is None and not self._effects and not self._task.cancelling()

    async def _end(self, result: Any, failure: BaseException | None, held: Sequence[asyncio.Task[Any]]) -> Any:
        """What the tool's end means: a round, a result or a failure."""
        self._done = True
        if self._leaver is not None:
            self._leaver.cancel()
        for _ in range(self._cancelled):
            self._task.uncancel()
        if isinstance(failure, (KeyboardInterrupt, SystemExit)):
            raise failure
        if self._is_ended(failure):
            self._own_branches().cancel()
            await anyio.lowlevel.checkpoint_if_cancelled()  # the scope takes back only what it has raised itself
            raise failure if isinstance(failure, asyncio.CancelledError) else asyncio.CancelledError
        if held:
            await self._own_branches().take(held)
        self._end_branches()
        if self._ender is not None:
            await asyncio.wait((self._ender,))
        if self.leaving:
            await self._finish_effects()
            return None
        if failure is not None:
            try:
                raise failure
            finally:
                failure = None
        return result

    def _is_ended(self, failure: BaseException | None) -> bool:
        """Whether somebody else wants this call to end.

        The count of cancels alone does not tell: before Python 3.13, a task group whose child failed leaves one behind.
        Nor does the error: while a round leaves, the result of a branch that was ended is the same.
        """
        if self._task.cancelling() > 0 and is_cancelled():
            return True
        was_cancelled = not self.leaving or self._task.cancelling() > self._cancelled_before
        return isinstance(failure, asyncio.CancelledError) and not self._cancelled and was_cancelled
