"""What a command prints: the result on standard output, everything else on standard error."""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

from midcall.cli.output.hangup import abandon, ignore_hangup
from midcall.client.lines.backlog import LastLines
from midcall.client.lines.screen import Ink, print_error, print_text

_CLEAR: Final = "\r\x1b[2K"


def print_out(text: str) -> None:
    """Write to standard output in any encoding, even if the pipe's reader or the terminal is gone."""
    try:
        print_text(text)
    except OSError:
        abandon(sys.stdout)


class Console:
    """Standard error: lines that stay, and one status line below them.

    While a question is on the screen, lines wait until it's answered; only the last ones are kept.
    """

    def __init__(self) -> None:
        self.ink = Ink.on_stream(sys.stderr)
        self._lock = threading.RLock()  # the server's log is read in a thread
        self._status = ""
        self._questions = 0
        self._undo: Callable[[], None] = _nothing
        self._held = LastLines()

    def say(self, line: str) -> None:
        """Print a line."""
        with self._lock:
            if self._questions:
                self._held.add(line)
                return
            self._show(f"{line}\n", self._status)

    def status(self, text: str) -> None:
        """Replace the status line. Only a terminal has one."""
        with self._lock:
            if self.ink.on and not self._questions:
                self._show("", text)
            self._status = text

    @contextmanager
    def show_question(self, *, here: bool = True) -> Generator[None]:
        """Leave the screen to a question while this is open. A question `here` ends with the terminal."""
        with self._lock:
            if not self._questions:
                self._show("", "")
                self._undo = ignore_hangup() if here else _nothing
            self._questions += 1
        try:
            yield
        finally:
            with self._lock:
                self._questions -= 1
                if not self._questions:
                    self._undo()
                    self._show("".join(f"{line}\n" for line in self._held.take()), self._status)

    def _show(self, lines: str, status: str) -> None:
        if self.ink.on:
            columns = shutil.get_terminal_size().columns - 1
            print_error(f"{_CLEAR}{lines}{self.ink.dim(status[:columns])}")
        elif lines:
            print_error(lines)


def _nothing() -> None:
    pass
