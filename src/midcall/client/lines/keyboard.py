"""What a person types, line by line, while the event loop lives on."""

from __future__ import annotations

import asyncio
import select
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any, Final, TypeAlias

__all__ = ["Keyboard", "Reader"]

Reader: TypeAlias = Callable[[], str]
"""Reads a line and returns it without its end; blocks; raises `EOFError` where there are no more."""


def _typed() -> str:
    """`input()`, begun only when a line is there: from glibc 2.41 on, no program ends while one reads its terminal."""
    if sys.platform != "win32" and sys.stdin.isatty():
        select.select((sys.stdin,), (), ())
    return input()


_IN_A_ROW: Final = 3
_ROW_SECONDS: Final = 2.0


class Keyboard:
    """Reads lines in a thread, one at a time.

    A read that has begun cannot be taken back. So one that nobody waits for any more is taken over by
    the next prompt, and would otherwise swallow what is typed there. A line that was finished while
    nobody waited was meant for a prompt that is gone, and is dropped. The thread is a daemon, which
    a worker thread of anyio is not: a program can end while it still reads.
    """

    interrupted = False
    """Whether it was Ctrl-C that ended the last line, and not the end of the input."""

    def __init__(self, read: Reader = _typed) -> None:
        self._read = read
        self._pending: Future[str | None] | None = None
        self._presses: deque[float] = deque(maxlen=_IN_A_ROW)

    async def line(self, prompt: Callable[[], None] | None = None) -> str | None:
        """The next line, or None if the user wants out: Ctrl-C, or the end of the input.

        The prompt is called to show itself once Ctrl-C is heard. Who presses it again and again wants out
        of the program, and not of one more question: the third in a row is the program's.
        """
        loop = asyncio.get_running_loop()
        woken: asyncio.Future[None] = loop.create_future()

        def wake(*_: Any) -> None:
            with suppress(RuntimeError):  # the loop may have ended by now
                loop.call_soon_threadsafe(_settle, woken)

        with _on_interrupt(wake, self._presses):
            if prompt is not None:
                prompt()
            pending = self._begun()
            pending.add_done_callback(wake)
            await woken
        self.interrupted = not pending.done()
        return None if self.interrupted else pending.result()

    def _begun(self) -> Future[str | None]:
        if self._pending is None or self._pending.done():
            self._pending = Future()
            threading.Thread(target=self._fill, args=(self._pending,), name="midcall keyboard", daemon=True).start()
        return self._pending

    def _fill(self, pending: Future[str | None]) -> None:
        try:
            pending.set_result(self._read())
        except UnicodeDecodeError:
            pending.set_result("\N{REPLACEMENT CHARACTER}")
        except BaseException:  # the end of input, a closed terminal, Ctrl-C on Windows: no more lines
            pending.set_result(None)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


@contextmanager
def _on_interrupt(call: Callable[[], None], presses: deque[float]) -> Generator[None]:
    """While this is open, Ctrl-C calls this instead of ending the program. Only the main thread hears of it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def pressed(*_: Any) -> None:
        presses.append(monotonic())
        if len(presses) == _IN_A_ROW and presses[-1] - presses[0] < _ROW_SECONDS:
            presses.clear()
            signal.signal(signal.SIGINT, before)
            signal.raise_signal(signal.SIGINT)
        else:
            call()

    before = signal.signal(signal.SIGINT, pressed)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
