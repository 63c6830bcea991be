"""Keeps what the program writes to the terminal while a form is on it, and writes it afterwards.

A line that goes to the terminal in between would tear the form: a log line, a print, a library's
warning. So standard output and error lead into a pipe as long as the form is shown, and only the
form writes to the terminal. Nothing is lost but what comes before the last megabytes: processes that were
started meanwhile still write into the pipe later, and a thread carries it on for as long as they do.
"""

from __future__ import annotations

import atexit
import os
import selectors
import sys
import threading
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager, nullcontext, suppress
from typing import Final, TextIO

from midcall.wording.client import terminal as wording

__all__ = ["KEEPS_ALL", "Held", "aside"]

_MOST: Final = 8 * 2**20

KEEPS_ALL: Final = sys.platform != "win32"
"""Elsewhere only what is printed through Python is kept, and handed over as text."""


class Held:
    """What was written meanwhile."""

    def __init__(self) -> None:
        self._texts: list[tuple[str, bool]] = []

    def write(self, text: str, stderr: bool) -> None:
        """Have this written once the form is gone."""
        self._texts.append((text, stderr))

    def release(self) -> None:
        for text, stderr in self._texts:
            stream = sys.stderr if stderr else sys.stdout
            stream.write(text)
            stream.flush()


@contextmanager
def aside() -> Generator[Held]:
    """While this is open, only the form writes to the terminal."""
    held = Held()
    try:
        with _diverted() if KEEPS_ALL else nullcontext():
            yield held
    finally:
        held.release()


@contextmanager
def _diverted() -> Generator[None]:
    _flush()
    pipe = _Pipe(os.dup(2))
    terminal = os.fdopen(os.dup(2), "w", encoding="utf-8", errors="replace")
    own = sys.__stdout__, sys.__stderr__
    kept = {fd: os.dup(fd) for fd in (1, 2) if os.isatty(fd)}
    try:
        for fd in kept:
            os.dup2(pipe.entrance, fd)
        # Textual writes to, and measures, what it takes for the terminal.
        sys.__stdout__ = sys.__stderr__ = terminal  # type: ignore[misc]
        yield
    finally:
        sys.__stdout__, sys.__stderr__ = own  # type: ignore[misc]
        _flush()
        for fd, was in kept.items():
            os.dup2(was, fd)
            os.close(was)
        with suppress(OSError):
            terminal.close()
        pipe.release()


def _flush() -> None:
    streams: list[TextIO | None] = [sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__]
    for stream in streams:
        with suppress(AttributeError, OSError, ValueError):
            if stream is not None:
                stream.flush()


class _Kept:
    """The last megabytes of what was written, and how much came before them."""

    def __init__(self) -> None:
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._left_out = 0

    def add(self, chunk: bytes) -> None:
        self._chunks.append(chunk)
        self._size += len(chunk)
        while self._size > _MOST:
            gone = len(self._chunks.popleft())
            self._size -= gone
            self._left_out += gone

    def data(self) -> bytes:
        note = f"{wording.output_left_out(self._left_out)}\n".encode() if self._left_out else b""
        return note + b"".join(self._chunks)


class _Pipe:
    """Takes in what is written, and gives it to the terminal from its release on."""

    def __init__(self, terminal: int) -> None:
        self._exit, self.entrance = os.pipe()
        os.set_blocking(self._exit, False)
        self._terminal = terminal
        self._held: _Kept | None = _Kept()
        self._lock = threading.Lock()
        self._alive = True
        threading.Thread(target=self._carry, name="midcall aside", daemon=True).start()

    def release(self) -> None:
        with self._lock:
            os.close(self.entrance)
            while self._take():
                pass
            held, self._held = self._held, None
            if held is not None:
                self._write(held.data())
        atexit.register(self._drain)  # the thread does not outlive the program

    def _drain(self) -> None:
        with self._lock:
            while self._alive and self._take():
                pass

    def _carry(self) -> None:
        """Until the last process that could write has closed its end."""
        with selectors.DefaultSelector() as ready:
            ready.register(self._exit, selectors.EVENT_READ)
            while self._alive:
                ready.select()
                with self._lock:
                    self._alive = self._take() is not None
        atexit.unregister(self._drain)
        os.close(self._exit)
        os.close(self._terminal)

    def _take(self) -> bytes | None:
        """What has come in: nothing yet is empty, nothing ever again is None."""
        try:
            chunk = os.read(self._exit, 65536)
        except BlockingIOError:
            return b""
        if self._held is not None:
            self._held.add(chunk)
        else:
            self._write(chunk)
        return chunk or None

    def _write(self, data: bytes) -> None:
        with suppress(OSError):
            while data:
                data = data[os.write(self._terminal, data) :]
