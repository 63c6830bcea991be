"""Verbs for threads: they run in the call's event loop while the thread waits, and the end of a run gets back to it.

The servers run a `def` tool in a worker thread of anyio's, which ties what it waits for to the run. A thread of the
author's own (`asyncio.to_thread`, an executor) has only its context: the call in it knows the loop.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final, TypeVar
from weakref import WeakKeyDictionary

import anyio.from_thread
import anyio.to_thread
from anyio import CapacityLimiter

from midcall.errors import Misuse, NoChannel
from midcall.server.frameworks.errors import surface
from midcall.server.model_text import TOO_MANY_WAIT
from midcall.server.running.run import aside, in_thread
from midcall.settings.live_runs import BLOCKED_SECONDS, MAX_LENT_THREADS, THREAD_POLL_SECONDS

if TYPE_CHECKING:
    from midcall.server.call import Call

T = TypeVar("T")

_LOOP_STOPPED: Final = (
    "The event loop is blocked until this thread ends, so nobody can answer it. No async function may wait for a "
    "thread by join(), result() or the end of a `with ThreadPoolExecutor()`: await it, as with asyncio.to_thread."
)

_TOO_MANY: Final = "too many questions of `def` tools wait for this caller already"
_TOO_MANY_ADVICE: Final = (
    "Each of them holds a worker thread until it's answered, so a caller may have half of those that others leave. "
    "Write the tool as `async def`: then its questions hold none."
)


class _Ended:
    """In place of a result: the run is being ended.

    Not an exception: on its way to the thread, a `CancelledError` would become one that `except Exception` catches.
    """


class _Blocked(Exception):
    """The loop doesn't turn: it may be waiting for this very thread."""


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
    if asks:
        anyio.from_thread.check_cancelled()

    async def for_the_thread() -> T | _Ended:
        if asyncio.get_running_loop() is not call.loop:  # the thread belongs to another loop, which the tool runs
            elsewhere = asyncio.run_coroutine_threadsafe(_for_thread(call, verb, thread), call.loop)
            return await asyncio.wrap_future(elsewhere)
        with _lend(call) if asks else nullcontext():
            return await _for_thread(call, verb, thread)

    try:
        return _unless_ended(anyio.from_thread.run(for_the_thread))
    except concurrent.futures.CancelledError:
        raise asyncio.CancelledError from None


_lent: WeakKeyDictionary[CapacityLimiter, Counter[str]] = WeakKeyDictionary()
"""How many threads wait for the people of each caller, by pool."""


@contextmanager
def _lend(call: Call) -> Generator[None]:
    """Let the pool start another thread while one waits for a person: who never answers must not take all of them.

    One caller may have half of what the others leave, so there is always something left for one more.

    Raises:
        NoChannel: This caller has that many.
    """
    pool = anyio.to_thread.current_default_thread_limiter()
    lent, caller = _lent.setdefault(pool, Counter()), call.caller
    others = lent.total() - lent[caller]
    if lent[caller] >= (MAX_LENT_THREADS - others) // 2:
        raise surface(NoChannel(_TOO_MANY, advice=_TOO_MANY_ADVICE, for_model=TOO_MANY_WAIT), call)
    lent[caller] += 1
    pool.total_tokens += 1
    try:
        yield
    finally:
        lent[caller] -= 1
        if not lent[caller]:
            del lent[caller]
        pool.total_tokens = max(1, pool.total_tokens - 1)


def size_of_pool() -> float:
    """How many threads this loop's pool has, without those that were lent."""
    pool = anyio.to_thread.current_default_thread_limiter()
    return pool.total_tokens - _lent.get(pool, Counter[str]()).total()


def run_aside(call: Call, verb: Callable[[], Coroutine[Any, Any, T]], *, asks: bool) -> T:
    """Run this for a thread of the author's own, and wait for it here."""
    work = _aside(call, verb, threading.get_ident())
    try:
        return _unless_ended(_block_on(call.loop, work, call))
    except _Blocked:
        if call.run.ending is not None:
            raise asyncio.CancelledError from None
        raise surface(Misuse(_LOOP_STOPPED), call) from None


def block_on(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T], call: Call | None) -> T:
    """Run this on the loop of another thread, and wait for it here."""
    try:
        return _block_on(loop, work, call)
    except _Blocked:
        raise surface(Misuse(_LOOP_STOPPED), call) from None


def _block_on(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T], call: Call | None) -> T:
    future = asyncio.run_coroutine_threadsafe(work, loop)
    try:
        while not concurrent.futures.wait((future,), THREAD_POLL_SECONDS).done:
            if not _turns(loop, future, call):
                raise _Blocked
        return future.result()
    except concurrent.futures.CancelledError:
        raise asyncio.CancelledError from None
    finally:
        if not future.done():  # this thread was interrupted, or gives up: nobody waits any more
            future.cancel()


def _turns(loop: asyncio.AbstractEventLoop, future: concurrent.futures.Future[Any], call: Call | None) -> bool:
    """Whether the loop takes a turn, or has the result, before it counts as blocked."""
    turned: concurrent.futures.Future[None] = concurrent.futures.Future()
    loop.call_soon_threadsafe(turned.set_result, None)
    until = time.monotonic() + BLOCKED_SECONDS
    while not concurrent.futures.wait((turned, future), THREAD_POLL_SECONDS, concurrent.futures.FIRST_COMPLETED).done:
        is_ending = call is not None and call.run.ending is not None  # then nobody waits for the answer any more
        if is_ending or time.monotonic() > until:
            return False
    return True


async def _aside(call: Call, verb: Callable[[], Coroutine[Any, Any, T]], thread: int) -> T | _Ended:
    aside.set(True)
    return await _for_thread(call, verb, thread)


async def _for_thread(call: Call, verb: Callable[[], Coroutine[Any, Any, T]], thread: int) -> T | _Ended:
    in_thread.set(thread)
    try:
        return await verb()
    except asyncio.CancelledError:
        if call.run.ending is None and call.failed is None:
            raise
        return _Ended()


def _unless_ended(result: T | _Ended) -> T:
    if isinstance(result, _Ended):
        raise asyncio.CancelledError
    return result
