"""Lines for the terminal that come while a question has it: the last of them are shown afterwards.

Whoever asks at the terminal of this process says so with `asking()`. Whoever has something to say there,
in whatever thread, uses `say`.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

from midcall.client.lines.screen import print_error
from midcall.wording.client import questions as wording

__all__ = ["LastLines", "Meanwhile", "asking", "is_asking", "say"]

_MOST: Final = 200


class LastLines:
    """The last of very many lines, and how many came before them."""

    def __init__(self, most: int = _MOST) -> None:
        self._lines: deque[str] = deque(maxlen=most)
        self._count = 0

    def add(self, line: str) -> None:
        self._lines.append(line)
        self._count += 1

    def taken(self) -> list[str]:
        """What there is to show. After that, there is nothing."""
        left_out = self._count - len(self._lines)
        lines = [*([wording.lines_left_out(left_out)] if left_out else ()), *self._lines]
        self._lines.clear()
        self._count = 0
        return lines


class Meanwhile:
    """Writes lines, unless somebody is being asked: then they wait."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._lock = threading.RLock()
        self._questions = 0
        self._held = LastLines()

    @property
    def is_asking(self) -> bool:
        """Whether a question has the terminal."""
        return self._questions > 0

    def say(self, line: str) -> None:
        """A line of its own, now or later."""
        with self._lock:
            if self._questions:
                self._held.add(line)
            else:
                self._write(f"{line}\n")

    @contextmanager
    def asking(self) -> Generator[None]:
        """While this is open, a question has the terminal."""
        with self._lock:
            self._questions += 1
        try:
            yield
        finally:
            with self._lock:
                self._questions -= 1
                if not self._questions and (lines := self._held.taken()):
                    self._write("".join(f"{line}\n" for line in lines))


_own: Final = Meanwhile(print_error)
"""The terminal of this process is one, however many connections and answerers there are."""

asking = _own.asking
say = _own.say


def is_asking() -> bool:
    """Whether a question has the terminal of this process."""
    return _own.is_asking
