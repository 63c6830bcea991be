"""A thread that waits for an event loop: how a verb runs there for it, and how its end gets back.

The servers run a `def` tool in a thread of anyio's, which ties what it waits for to the request. A
thread of the author's own (`asyncio.to_thread`, an executor) has only its context. The call that is
in it knows its loop; the rest is done here: the question is taken back when the request is
cancelled, or when the thread itself is interrupted, and a round that leaves unwinds the thread.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

import anyio.from_thread

from midcall.server.branches import retrieve
from midcall.server.call import aside, inside_effect
from midcall.server.enclosing import context_of
from midcall.server.rounds import Suspend, in_thread

if TYPE_CHECKING:
    from midcall.server.call import Call

__all__ = ["block_on", "is_worker", "run_aside", "run_for_worker"]

T = TypeVar("T")

_IN_A_THREAD: Final = "run_sync_in_worker_thread"
"""What anyio calls the coroutine that waits for a thread."""
_A_FUTURE: Final = "FutureIter"
"""What a coroutine awaits in the end, where it can be followed down to that."""


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
    thread = threading.get_ident()

    async def for_the_thread() -> T:
        if asyncio.get_running_loop() is not call.loop:  # the thread is one of another loop, that the tool runs
            elsewhere = asyncio.run_coroutine_threadsafe(_aside(call, verb, thread, asks), call.loop)
            return await asyncio.wrap_future(elsewhere)
        if call.unwinding is not None and not _waits_for_a_thread(call.unwinding.tool):
            return await _aside(call, verb, thread, asks)
        in_thread.set(thread)
        return await verb()

    return anyio.from_thread.run(for_the_thread)


def run_aside(call: Call, verb: Callable[[], Coroutine[Any, Any, T]], *, asks: bool) -> T:
    """Run this for a thread of the author's own, and wait for it here. `asks`: it may leave with a round."""
    return block_on(call.loop, _aside(call, verb, threading.get_ident(), asks))


def block_on(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> T:
    """Run this on the loop of another thread, and wait for it here."""
    future = asyncio.run_coroutine_threadsafe(work, loop)
    try:
        return future.result()
    except BaseException:
        future.cancel()  # where this thread was interrupted, nobody waits any more
        raise


async def _aside(call: Call, verb: Callable[[], Coroutine[Any, Any, T]], thread: int, asks: bool) -> T:
    aside.set(True)
    if not (asks and _branches(call)):
        # The thread is unwound first, and whoever waits for it after it. Where there are branches, one of them may
        # wait for it that would take its end for an answer, and go on: there the question parks, as a branch's does.
        in_thread.set(thread)
    try:
        async with _given_up_with(call):
            return await verb()
    except (Suspend, asyncio.CancelledError):
        if call.unwinding is None or not call.unwinding.leaving:
            raise
        for branch in _branches(call):
            branch.add_done_callback(retrieve)
        raise Suspend from None


@asynccontextmanager
async def _given_up_with(call: Call) -> AsyncGenerator[None]:
    """A request that is cancelled takes back what its threads wait for: nothing else would reach them."""
    cancelled, running = call.session.cancel_requested, asyncio.current_task()
    if cancelled is None or running is None:
        yield
        return
    watching = asyncio.create_task(cancelled.wait())
    watching.add_done_callback(lambda ended: None if ended.cancelled() else running.cancel())
    try:
        yield
    finally:
        watching.cancel()


def _waits_for_a_thread(tool: Any) -> bool:
    """Whether the tool's own task waits for a thread of anyio's, and for nothing else: then there is only that one.

    It is seen in what it awaits, down to the innermost; where that cannot be followed, it is taken for a `def` tool.
    """
    name, awaited = "", tool
    while (code := getattr(awaited, "cr_code", None)) is not None:
        name, awaited = code.co_name, awaited.cr_await
    return name == _IN_A_THREAD or type(awaited).__name__ != _A_FUTURE


def _branches(call: Call) -> list[asyncio.Task[Any]]:
    """The tasks of the tool that may ask: no effects, and none that runs for a thread."""
    rounds = call.unwinding
    if rounds is None:
        return []
    return [task for task in asyncio.all_tasks() if rounds.is_branch(task) and _may_ask(task)]


def _may_ask(task: asyncio.Task[Any]) -> bool:
    context = context_of(task)
    return context is not None and not context.get(aside) and not context.get(inside_effect)
