"""Who waits for a thread: the future that it gives its result to, and a loop that has stopped until it ends."""

from __future__ import annotations

import asyncio
import concurrent.futures
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias, cast

from midcall.server.branches import retrieve

__all__ = [
    "ResultFuture",
    "awaited_for",
    "given_to_thread",
    "is_stopped_for_this_thread",
    "look_after",
    "waits_for",
]

ResultFuture: TypeAlias = asyncio.Future[Any] | concurrent.futures.Future[Any]

_OF_ANYIO: Final = "WorkerThread.run"
_OF_AN_EXECUTOR: Final = "_WorkItem.run"
"""Where a thread runs what it was given, and holds the future for the result."""

_WAITS_FOR_A_THREAD: Final[Mapping[str, Callable[[Any], bool]]] = {
    "ThreadPoolExecutor.shutdown": lambda pool: threading.current_thread() in getattr(pool, "_threads", ()),
    "Thread.join": lambda thread: thread is threading.current_thread(),
    "Future.result": lambda future: future is given_to_thread(),
}
"""What a loop's own thread may be stopped in, and whether it waits for this thread there."""


def given_to_thread() -> ResultFuture | None:
    """The future that this thread gives its result to, if that can be seen: for threads of anyio's and executors."""
    frame = sys._getframe()  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        if frame.f_code.co_qualname == _OF_ANYIO:
            return frame.f_locals.get("future")
        if frame.f_code.co_qualname == _OF_AN_EXECUTOR:
            return getattr(frame.f_locals.get("self"), "future", None)
        frame = frame.f_back
    return None


def awaited_for(given: ResultFuture | None) -> asyncio.Future[Any] | None:
    """What is awaited in this loop until the thread has its result; cancelled when nobody does any more."""
    candidates = _chained(given) if isinstance(given, concurrent.futures.Future) else (given,)
    for future in candidates:
        if isinstance(future, asyncio.Future) and future.get_loop() is asyncio.get_running_loop():
            return cast("asyncio.Future[Any]", future)
    return None


def _chained(future: concurrent.futures.Future[Any]) -> Iterator[Any]:
    """What gets the result of this one; asyncio keeps that in what it calls when this one is done."""
    for callback in tuple(getattr(future, "_done_callbacks", ())):
        for cell in getattr(callback, "__closure__", None) or ():
            try:
                yield cell.cell_contents
            except ValueError:  # an empty cell
                continue


def look_after(given: ResultFuture | None) -> None:
    """The thread is unwound: whoever would have awaited it may be gone."""
    if (awaited := awaited_for(given)) is not None:
        awaited.add_done_callback(retrieve)


def is_stopped_for_this_thread(thread: int) -> bool:
    """Whether that thread, a loop's own, is stopped until this one ends, as far as that can be seen."""
    frame = sys._current_frames().get(thread)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        if (waits := _WAITS_FOR_A_THREAD.get(frame.f_code.co_qualname)) is not None:
            at = frame.f_locals
            if at.get("wait", True) and at.get("timeout") is None and waits(at.get("self")):
                return True
        frame = frame.f_back
    return False


def waits_for(task: asyncio.Task[Any], given: ResultFuture | None) -> bool:
    """Whether this task waits for the thread, and for nothing else; where that cannot be seen, it is said to."""
    return given is None or getattr(task, "_fut_waiter", given) is given
