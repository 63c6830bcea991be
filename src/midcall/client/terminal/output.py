"""Holds back what the program writes to the terminal while a form is on it, and prints it afterwards.

A log line, a print or a library's warning would tear the form. So standard output and error lead into a pipe while
the form is shown, and only the form writes to the terminal. The last megabytes are kept. Child processes started
meanwhile keep writing into the pipe later, so a thread forwards it for as long as they do.
"""

from __future__ import annotations

import atexit
import os
import selectors
import sys
import threading
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Final, TextIO

from midcall.language import _
from midcall.settings.client import OUTPUT_BYTES

KEEPS_ALL: Final = sys.platform != "win32"
"""On Windows only what Python prints is held back, as text, by Textual."""


@contextmanager
def aside() -> Generator[None]:
    """Let only the form write to the terminal while this context is open."""
    if not KEEPS_ALL:
        yield
        return
    _flush()
    pipe = _Pipe(os.dup(2))
    terminal = os.fdopen(os.dup(2), "w", encoding="utf-8", errors="replace")
    own = sys.__stdout__, sys.__stderr__
    kept = {fd: os.dup(fd) for fd in (1, 2) if os.isatty(fd)}
    try:
        for fd in kept:
            os.dup2(pipe.entrance, fd)
        # Textual writes to these, and reads the size of the terminal from them.
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


class _LastBytes:
    """The last megabytes of output, and a count of the bytes dropped before them."""

    def __init__(self) -> None:
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._left_out = 0

    def add(self, chunk: bytes) -> None:
        self._chunks.append(chunk)
        self._size += len(chunk)
        while self._size > OUTPUT_BYTES:
            gone = len(self._chunks.popleft())
            self._size -= gone
            self._left_out += gone

    def data(self) -> bytes:
        if not self._left_out:
            return b"".join(self._chunks)
        note = _("… {count:,} bytes of earlier output were left out.").format(count=self._left_out)
        return f"{note}\n".encode() + b"".join(self._chunks)


class _Pipe:
    """Collects output until it's released, and forwards it to the terminal from then on."""

    def __init__(self, terminal: int) -> None:
        self._exit, self.entrance = os.pipe()
        os.set_blocking(self._exit, False)
        self._terminal = terminal
        self._held: _LastBytes | None = _LastBytes()
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
        atexit.register(self._drain)  # the thread doesn't outlive the program

    def _drain(self) -> None:
        with self._lock:
            while self._alive and self._take():
                pass

    def _carry(self) -> None:
        """Forward output until the last process has closed its end of the pipe."""
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
        """Read what has arrived: empty if there is nothing yet, None at the end."""
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
