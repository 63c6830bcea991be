"""Reads lines from the terminal without blocking the event loop.

It is `input()` in a thread, not prompt_toolkit: line prompts serve screen readers and dumb terminals, so they must
not redraw anything.
"""

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
from math import inf
from time import monotonic
from typing import Any, Final, TypeAlias

from midcall.settings.client import CONFIRM_SECONDS, CTRL_C_SECONDS

Reader: TypeAlias = Callable[[], str]
"""Blocks until there is a line, and returns it without its line end. Raises `EOFError` at the end of the input."""


def _read_line() -> str:
    """Call `input()` once a line is there: since glibc 2.41, a program can't exit while a thread reads its terminal."""
    if sys.platform != "win32" and sys.stdin.isatty():
        select.select((sys.stdin,), (), ())
    return input()


_IN_A_ROW: Final = 3


class Keyboard:
    """Reads lines in a thread, one at a time.

    A read can't be interrupted. If its prompt goes away, the next prompt takes the read over, so that no line is
    swallowed. A line that was finished in between belonged to the prompt that is gone, and is dropped. The thread is
    a daemon, unlike a worker thread of anyio, so a program can exit while it still reads.
    """

    quickest: float = CONFIRM_SECONDS
    """Seconds before a prompt that took the place of another one gets lines that count."""
    interrupted = False
    """Whether Ctrl-C ended the last line, not the end of the input."""
    hasty = False
    """Whether the last line came so soon after its prompt had replaced another one that it was typed for that one."""

    def __init__(self, read: Reader = _read_line) -> None:
        self._read = read
        self._pending: Future[str | None] | None = None
        """The last read, until a prompt has taken its line."""
        self._replaced = -inf
        self._presses: deque[float] = deque(maxlen=_IN_A_ROW)

    async def line(self, prompt: Callable[[], None] | None = None) -> str | None:
        """Return the next line, or None at Ctrl-C and at the end of the input.

        Calls `prompt` to show the prompt once Ctrl-C is handled. The third Ctrl-C in a row goes to the program:
        someone who keeps pressing it wants to end the program, not one more question.
        """
        loop = asyncio.get_running_loop()
        woken: asyncio.Future[None] = loop.create_future()

        def wake(*_: Any) -> None:
            with suppress(RuntimeError):  # the loop may be closed by now
                loop.call_soon_threadsafe(_settle, woken)

        replaces = self._pending is not None
        with _on_interrupt(wake, self._presses):
            if prompt is not None:
                prompt()
            if replaces:
                self._replaced = monotonic()
            pending = self._start()
            pending.add_done_callback(wake)
            await woken
        self.interrupted = not pending.done()
        self.hasty = monotonic() - self._replaced < self.quickest
        if self.interrupted:
            return None
        self._pending = None
        return pending.result()

    def forget_typed(self) -> None:
        """Drop what was typed at the terminal before the next prompt is shown: it was intended for something else."""
        if self._read is _read_line and sys.platform != "win32":
            import termios

            with suppress(AttributeError, OSError, ValueError, termios.error):  # it isn't a terminal, or is gone
                termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)

    def _start(self) -> Future[str | None]:
        if self._pending is None or self._pending.done():
            self._pending = Future()
            threading.Thread(target=self._fill, args=(self._pending,), name="midcall keyboard", daemon=True).start()
        return self._pending

    def _fill(self, pending: Future[str | None]) -> None:
        try:
            pending.set_result(self._read())
        except UnicodeDecodeError:
            pending.set_result("\N{REPLACEMENT CHARACTER}")
        except BaseException:  # end of input, closed terminal, Ctrl-C on Windows: no more lines
            pending.set_result(None)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


@contextmanager
def _on_interrupt(call: Callable[[], None], presses: deque[float]) -> Generator[None]:
    """Let Ctrl-C call this instead of ending the program. Only the main thread can handle signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def on_press(*_: Any) -> None:
        presses.append(monotonic())
        if len(presses) == _IN_A_ROW and presses[-1] - presses[0] < CTRL_C_SECONDS:
            presses.clear()
            signal.signal(signal.SIGINT, before)
            signal.raise_signal(signal.SIGINT)
        else:
            call()

    before = signal.signal(signal.SIGINT, on_press)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
