"""What a person types, line by line, while the event loop lives on."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TypeAlias

__all__ = ["Keyboard", "Reader"]

Reader: TypeAlias = Callable[[], str]
"""Reads a line and returns it without its end; blocks; raises `EOFError` where there are no more."""


class Keyboard:
    """Reads lines in a thread, one at a time.

    A read that has begun cannot be taken back. So one that nobody waits for any more is taken over by
    the next prompt, and would otherwise swallow what is typed there. A line that was finished while
    nobody waited was meant for a prompt that is gone, and is dropped. The thread is a daemon, which
    a worker thread of anyio is not: a program can end while it still reads.
    """

    def __init__(self, read: Reader = input) -> None:
        self._read = read
        self._pending: Future[str | None] | None = None

    async def line(self) -> str | None:
        """The next line, or None if the user wants out: Ctrl-C, or the end of the input."""
        if self._pending is None or self._pending.done():
            self._pending = Future()
            threading.Thread(target=self._fill, args=(self._pending,), name="midcall keyboard", daemon=True).start()
        typed = asyncio.wrap_future(self._pending)
        with _interruption() as interrupted:
            try:
                # Waits for either, and unlike `await typed` leaves the read alone when this is cancelled.
                await asyncio.wait({typed, interrupted}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                interrupted.cancel()
        if not typed.done():
            return None
        self._pending = None
        return typed.result()

    def _fill(self, pending: Future[str | None]) -> None:
        try:
            pending.set_result(self._read())
        except UnicodeDecodeError:
            pending.set_result("\N{REPLACEMENT CHARACTER}")
        except BaseException:  # the end of input, a closed terminal, Ctrl-C on Windows: no more lines
            pending.set_result(None)


@contextmanager
def _interruption() -> Generator[asyncio.Future[None]]:
    """A future that Ctrl-C fulfils, instead of ending the program. Only the main thread hears of it."""
    loop = asyncio.get_running_loop()
    interrupted: asyncio.Future[None] = loop.create_future()
    if threading.current_thread() is not threading.main_thread():
        yield interrupted
        return

    def fulfil() -> None:
        if not interrupted.done():
            interrupted.set_result(None)

    def on_interrupt(*_: Any) -> None:
        loop.call_soon_threadsafe(fulfil)

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)
