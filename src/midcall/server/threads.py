"""A thread that waits for an event loop: how a verb runs there for it, and how its end gets back.

The servers run a `def` tool in a thread of anyio's, which ties what it waits for to the request. A
thread of the author's own (`asyncio.to_thread`, an executor) has only its context. The call that is
in it knows its loop; the rest is done here: the question is taken back when the request is
cancelled, when nobody waits for the thread any more, or when the thread itself is interrupted, and
a round that leaves unwinds the thread.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import anyio.from_thread

from midcall.errors import Misuse
from midcall.server.branches import retrieve
from midcall.server.call import aside, inside_effect
from midcall.server.enclosing import context_of
from midcall.server.joining import (
    ResultFuture,
    awaited_for,
    given_to_thread,
    is_stopped_for_this_thread,
    look_after,
    waits_for,
)
from midcall.server.rounds import Suspend, in_thread
from midcall.server.scopes import is_cancelled
from midcall.server.sending import give_up
from midcall.server.surface import surfaced
from midcall.wording import mistakes as wording

if TYPE_CHECKING:
    from midcall.server.call import Call

__all__ = ["block_on", "is_worker", "run_aside", "run_for_worker"]

T = TypeVar("T")

_LOOK_SECONDS: Final = 0.25


class _Deadlock(Exception):
    """The loop has stopped for this thread to end, as at the end of a `with ThreadPoolExecutor()`: so it has to."""


class _Unwound:
    """In place of a result: a round is leaving, and the thread is to be unwound.

    No exception: where the loop ends meanwhile, it would be told of one in a task that nobody awaits.
    """


class _TooLate(Exception):
    """Whoever waits for the thread was cancelled before it asked."""


def is_worker() -> bool:
    """Whether this is a thread of anyio's, as that of a `def` tool is."""
    try:
        anyio.from_thread.check_cancelled()
    except RuntimeError:
        return False
    except asyncio.CancelledError:
        pass  # what it runs next finds that out, too
    return True


def run_for_worker(call: Call, verb: Callable[[], Coroutine[Any, Any, T]], *, asks: bool) -> T:
    """Run this for a thread of anyio's, and wait for it here: that of a `def` tool, or one that a branch started."""
    thread, given = threading.get_ident(), given_to_thread()

    async def for_the_thread() -> T:
        if asks and is_cancelled():
            raise _TooLate  # anyio cancels nothing that begins in a scope after its end: it would wait for ever
        if asyncio.get_running_loop() is not call.loop:  # the thread is one of another loop, that the tool runs
            elsewhere = asyncio.run_coroutine_threadsafe(_aside(call, verb, thread, asks, None), call.loop)
            return _unless_unwound(await asyncio.wrap_future(elsewhere))
        if call.unwinding is not None and not waits_for(call.task, given):
            return _unless_unwound(await _aside(call, verb, thread, asks, given))
        in_thread.set(thread)
        with _GivenUpWith(call, given) if asks else nullcontext():
            return await verb()

    try:
        return anyio.from_thread.run(for_the_thread)
    except _TooLate:
        anyio.from_thread.check_cancelled()  # raises what the scope knows as its own
        raise asyncio.CancelledError from None


def run_aside(call: Call, verb: Callable[[], Coroutine[Any, Any, T]], *, asks: bool) -> T:
    """Run this for a thread of the author's own, and wait for it here. `asks`: it may leave with a round."""
    given = given_to_thread()
    try:
        work = _aside(call, verb, threading.get_ident(), asks, given)
        return _unless_unwound(_block_on(call.loop, work, call.thread))
    except _Deadlock:
        call.loop.call_soon_threadsafe(look_after, given)
        if call.unwinding is not None and call.unwinding.leaving:
            raise Suspend from None
        raise surfaced(Misuse(wording.loop_waits_for_thread()), call) from None


def block_on(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T], call: Call | None) -> T:
    """Run this on the loop of another thread, and wait for it here."""
    try:
        return _block_on(loop, work, call.thread if call is not None and call.loop is loop else None)
    except _Deadlock:
        raise surfaced(Misuse(wording.loop_waits_for_thread()), call) from None


def _block_on(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T], thread: int | None) -> T:
    """Not every loop can tell which thread it runs in."""
    thread = thread or getattr(loop, "_thread_id", None)
    future = asyncio.run_coroutine_threadsafe(work, loop)
    try:
        while not concurrent.futures.wait((future,), _LOOK_SECONDS).done:
            if thread is not None and is_stopped_for_this_thread(thread):
                raise _Deadlock
        return future.result()
    finally:
        if not future.done():  # this thread was interrupted: nobody waits any more
            with suppress(RuntimeError):  # nor does the loop run
                loop.call_soon_threadsafe(_take_back, work)


def _take_back(work: Coroutine[Any, Any, Any]) -> None:
    for task in asyncio.all_tasks():
        if task.get_coro() is work:
            give_up(task)


async def _aside(
    call: Call, verb: Callable[[], Coroutine[Any, Any, T]], thread: int, asks: bool, given: ResultFuture | None
) -> T | _Unwound:
    aside.set(True)
    if not (asks and _branches(call)):
        # The thread is unwound first, and whoever waits for it after it. Where there are branches, one of them may
        # wait for it that would take its end for an answer, and go on: there the question parks, as a branch's does.
        in_thread.set(thread)
    try:
        with _GivenUpWith(call, given) if asks else nullcontext(), _given_up_by_client(call):
            return await verb()
    except (Suspend, asyncio.CancelledError):
        if call.unwinding is None or not call.unwinding.leaving:
            raise
        for branch in _branches(call):
            branch.add_done_callback(retrieve)
        look_after(given)
        return _Unwound()


def _unless_unwound(result: T | _Unwound) -> T:
    if isinstance(result, _Unwound):
        raise Suspend
    return result


@contextmanager
def _given_up_by_client(call: Call) -> Generator[None]:
    """A request that is cancelled takes back what its threads wait for: nothing else would reach them."""
    cancelled, running = call.asking_session().cancel_requested, asyncio.current_task()
    if cancelled is None or running is None:
        yield
        return
    watching = asyncio.create_task(cancelled.wait())
    watching.add_done_callback(lambda ended: None if ended.cancelled() else give_up(running))
    try:
        yield
    finally:
        watching.cancel()


class _GivenUpWith:
    """Takes a question back where nobody waits for its thread any more, or its call has ended.

    No function, whose closure would be taken for something that waits for the thread.
    """

    __slots__ = ("_awaited", "_call", "_question", "_shown")

    def __init__(self, call: Call, given: ResultFuture | None) -> None:
        self._call = call
        self._awaited = awaited_for(given)
        self._shown = partial(_ends_with, self._awaited)
        self._question = cast("asyncio.Task[Any]", asyncio.current_task())

    def __enter__(self) -> None:
        if self._is_over():
            raise asyncio.CancelledError
        self._call.task.add_done_callback(self._look)
        if self._awaited is not None:
            self._awaited.add_done_callback(self._look)
            self._question.add_done_callback(self._shown)

    def __exit__(self, *_: object) -> None:
        self._call.task.remove_done_callback(self._look)
        if self._awaited is not None:
            self._awaited.remove_done_callback(self._look)
            self._question.remove_done_callback(self._shown)

    def _is_over(self) -> bool:
        if self._call.unwinding is not None and self._call.unwinding.leaving:
            return False  # the round ends what waits, in its own way
        return self._call.task.done() or (self._awaited is not None and self._awaited.cancelled())

    def _look(self, _: object) -> None:
        if self._is_over():
            give_up(self._question)


def _ends_with(awaited: asyncio.Future[Any] | None, question: asyncio.Future[Any]) -> None:
    """Does nothing. It shows `enclosing` who waits for a question, through the thread that asks it."""


def _branches(call: Call) -> list[asyncio.Task[Any]]:
    """The tasks of the tool that may ask: no effects, and none that runs for a thread."""
    rounds = call.unwinding
    if rounds is None:
        return []
    return [task for task in asyncio.all_tasks() if rounds.is_branch(task) and _may_ask(task)]


def _may_ask(task: asyncio.Task[Any]) -> bool:
    context = context_of(task)
    return context is not None and not context.get(aside) and not context.get(inside_effect)
