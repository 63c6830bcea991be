"""The terminal of this process, if it has one: what it can show, how to ask there, and writing to it.

Code that asks there does it inside `TERMINAL.asking()`. Code that prints there, in any thread, calls `TERMINAL.say`.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final, Literal, TextIO, TypeAlias

from midcall.language import ngettext
from midcall.settings.client import KEPT_LINES

Display: TypeAlias = Literal["form", "lines", "nowhere"]
"""How this process can ask: with forms, with line prompts, or not at all."""

COLUMNS: Final = 40
ROWS: Final = 12
PLAIN: Final = ("NO_COLOR", "MIDCALL_PLAIN", "ACCESSIBLE")
"""Any of these asks for plain text, for example for a screen reader."""


@dataclass(frozen=True, slots=True)
class Ink:
    """Makes text bold or coloured, if `on`."""

    on: bool = False

    @classmethod
    def on_stream(cls, stream: TextIO | None) -> Ink:
        """Colours if the stream is a terminal that supports them and NO_COLOR isn't set."""
        return cls(stream is not None and stream.isatty() and not os.environ.get("NO_COLOR") and _understands_escapes())

    def bold(self, text: str) -> str:
        return self._paint("1", text)

    def dim(self, text: str) -> str:
        return self._paint("2", text)

    def strong(self, text: str) -> str:
        return self._paint("1;4", text)

    def warn(self, text: str) -> str:
        return self._paint("33", text)

    def bad(self, text: str) -> str:
        return self._paint("31", text)

    def good(self, text: str) -> str:
        return self._paint("32", text)

    def accent(self, text: str) -> str:
        return self._paint("36", text)

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.on and text else text


def has_terminal() -> bool:
    """Whether a person can read and type here."""
    return is_terminal(sys.stdin) and (is_terminal(sys.stdout) or is_terminal(sys.stderr))


def is_terminal(stream: TextIO | None) -> bool:
    """Whether this stream is a terminal. A program without a console has no streams at all."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # it is closed
        return False


def find_display() -> Display:
    """Choose how to ask. Forms are drawn on standard error, so that standard output can be a pipe."""
    if not is_terminal(sys.__stdin__) or not _in_foreground():
        return "nowhere"
    if not is_terminal(sys.__stderr__) and not is_terminal(sys.__stdout__):
        return "nowhere"
    return "form" if is_terminal(sys.__stderr__) and _can_draw() else "lines"


def _can_draw() -> bool:
    if any(os.environ.get(name, "") not in ("", "0") for name in PLAIN):
        return False
    if sys.platform != "win32" and os.environ.get("TERM", "dumb") in ("dumb", "unknown", ""):
        return False
    if threading.current_thread() is not threading.main_thread():
        return False  # Textual learns of a new size by a signal, and only the main thread gets signals
    size = _size()
    return size[0] >= COLUMNS and size[1] >= ROWS


def _size() -> tuple[int, int]:
    for stream in (sys.__stderr__, sys.__stdout__, sys.__stdin__):
        try:
            return os.get_terminal_size(stream.fileno() if stream is not None else -1)
        except (OSError, ValueError):
            continue
    return shutil.get_terminal_size()


def _in_foreground() -> bool:
    """Whether this process may read the terminal. The shell stops a background job that does."""
    if sys.platform == "win32" or sys.__stdin__ is None:
        return True
    try:
        return os.tcgetpgrp(sys.__stdin__.fileno()) == os.getpgrp()
    except OSError:
        return True


def print_on_screen(text: str) -> None:
    """Write to standard output, or to standard error if only that is a terminal."""
    print_to(_screen(), text)


def print_error(text: str) -> None:
    """Write to standard error, if it's still there."""
    with suppress(OSError, ValueError):
        print_to(sys.stderr, text)


def columns_here() -> int:
    """The width of the terminal that `print_on_screen` writes to."""
    return columns_of(_screen())


def columns_of(stream: TextIO | None) -> int:
    """The width of this terminal, which isn't always that of standard output."""
    with suppress(AttributeError, OSError, ValueError):
        if stream is not None and (columns := os.get_terminal_size(stream.fileno()).columns) > 0:
            return columns
    return shutil.get_terminal_size().columns


def screen_ink() -> Ink:
    """Colours for `print_on_screen`."""
    stream = _screen()
    return Ink.on_stream(stream) if is_terminal(stream) else Ink()


def _screen() -> TextIO | None:
    return sys.stderr if not is_terminal(sys.stdout) and is_terminal(sys.stderr) else sys.stdout


def print_to(stream: TextIO | None, text: str) -> None:
    """Write and flush. Characters that the stream's encoding lacks are replaced."""
    if stream is not None:
        encoding = stream.encoding or "utf-8"
        stream.write(text.encode(encoding, "replace").decode(encoding))
        stream.flush()


def _understands_escapes() -> bool:
    if sys.platform == "win32":
        return bool({"WT_SESSION", "TERM", "ANSICON"} & os.environ.keys())
    return os.environ.get("TERM", "dumb") != "dumb"


# --- while a question is on it -------------------------------------------------------------------


class Meanwhile:
    """Writes lines. While a question is on the terminal, it holds them back, and keeps only the last ones."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self.lock = threading.RLock()
        self._questions = 0
        self._held: deque[str] = deque(maxlen=KEPT_LINES)
        self._left_out = 0

    @property
    def is_asking(self) -> bool:
        """Whether a question is on the terminal."""
        return self._questions > 0

    def say(self, line: str) -> None:
        """Write this line, now or after the question."""
        with self.lock:
            if not self._questions:
                self._write(f"{line}\n")
                return
            self._left_out += len(self._held) == KEPT_LINES
            self._held.append(line)

    @contextmanager
    def asking(self) -> Generator[None]:
        """Hold lines back while this context is open."""
        with self.lock:
            self._questions += 1
        try:
            yield
        finally:
            with self.lock:
                self._questions -= 1
                if not self._questions and self._held:
                    self._release()

    def _release(self) -> None:
        lines = [*self._held]
        if self._left_out:
            note = ngettext("{count:,} line was left out.", "{count:,} lines were left out.", self._left_out)
            lines.insert(0, f"  … {note.format(count=self._left_out)}")
        self._held.clear()
        self._left_out = 0
        self._write("".join(f"{line}\n" for line in lines))


TERMINAL: Final = Meanwhile(print_error)
"""A process has one terminal, shared by all its connections and answerers."""
