"""Holds back lines for the terminal while a question is on it, and prints the last of them afterwards.

Code that asks at the terminal of this process does it inside `asking()`. Code that prints there, in any thread,
calls `say`.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

from midcall.client.lines.screen import print_error
from midcall.language import ngettext
from midcall.settings.client import KEPT_LINES


class LastLines:
    """The last lines, and a count of those dropped before them."""

    def __init__(self, most: int = KEPT_LINES) -> None:
        self._lines: deque[str] = deque(maxlen=most)
        self._count = 0

    def add(self, line: str) -> None:
        self._lines.append(line)
        self._count += 1

    def take(self) -> list[str]:
        """Return the lines to show, and forget them."""
        left_out = self._count - len(self._lines)
        lines = [*([_format_left_out(left_out)] if left_out else ()), *self._lines]
        self._lines.clear()
        self._count = 0
        return lines


def _format_left_out(count: int) -> str:
    sentence = ngettext("{count:,} line was left out.", "{count:,} lines were left out.", count)
    return f"  … {sentence.format(count=count)}"


class Meanwhile:
    """Writes lines, or holds them back while a question is on the terminal."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._lock = threading.RLock()
        self._questions = 0
        self._held = LastLines()

    @property
    def is_asking(self) -> bool:
        """Whether a question is on the terminal."""
        return self._questions > 0

    def say(self, line: str) -> None:
        """Write this line, now or after the question."""
        with self._lock:
            if self._questions:
                self._held.add(line)
            else:
                self._write(f"{line}\n")

    @contextmanager
    def asking(self) -> Generator[None]:
        """Hold lines back while this context is open."""
        with self._lock:
            self._questions += 1
        try:
            yield
        finally:
            with self._lock:
                self._questions -= 1
                if not self._questions and (lines := self._held.take()):
                    self._write("".join(f"{line}\n" for line in lines))


_own: Final = Meanwhile(print_error)
"""A process has one terminal, shared by all its connections and answerers."""

asking = _own.asking
say = _own.say


def is_asking() -> bool:
    """Whether a question is on the terminal of this process."""
    return _own.is_asking
