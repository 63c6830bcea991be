"""An event loop that ends without waiting for its threads.

Name lookups run in threads, and take far longer than we wait if nobody answers. Daemon threads end with the process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


def use_daemon_threads() -> None:
    """Make the running loop use daemon threads."""
    asyncio.get_running_loop().set_default_executor(_DaemonThreads())


class _DaemonThreads(ThreadPoolExecutor):
    """Starts a thread for each call."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future: Future[T] = Future()
        Thread(target=_run, args=(future, fn, args, kwargs), daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        pass


def _run(future: Future[T], fn: Callable[..., T], args: Any, kwargs: Any) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = fn(*args, **kwargs)
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)
