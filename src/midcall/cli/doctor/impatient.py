"""An event loop that ends when its work is done, whatever its threads still wait for.

A name is looked up in a thread, and where nobody answers the question that takes far longer than anybody here waits.
The usual loop, and the interpreter after it, would wait for that thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Thread
from typing import Any, TypeVar

__all__ = ["hurry"]

T = TypeVar("T")


def hurry() -> None:
    """From now on, the loop that runs waits for no thread when it ends."""
    asyncio.get_running_loop().set_default_executor(_Threads())


class _Threads(ThreadPoolExecutor):
    """A thread for each call, which ends with the process."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future: Future[T] = Future()
        Thread(target=_carry_out, args=(future, fn, args, kwargs), daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        pass


def _carry_out(future: Future[T], fn: Callable[..., T], args: Any, kwargs: Any) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = fn(*args, **kwargs)
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)
