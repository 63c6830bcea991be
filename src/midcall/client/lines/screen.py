"""The terminal of this process, if it has one."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TextIO

from midcall.client.lines.colors import Ink

__all__ = ["has_terminal", "print_error", "print_on_screen", "print_text", "screen_ink"]


def has_terminal() -> bool:
    """Whether a person can read and type here."""
    return _is_terminal(sys.stdin) and (_is_terminal(sys.stdout) or _is_terminal(sys.stderr))


def print_on_screen(text: str) -> None:
    """Write to where the user sees it: standard output may be on its way to a file."""
    _print(_screen(), text)


def print_text(text: str) -> None:
    """Write to standard output, whatever its encoding, at once."""
    _print(sys.stdout, text)


def print_error(text: str) -> None:
    """Write to standard error, if there is one, and it is still there."""
    with suppress(OSError, ValueError):
        _print(sys.stderr, text)


def screen_ink() -> Ink:
    """Colours for `print_on_screen`."""
    stream = _screen()
    return Ink.on_stream(stream) if stream is not None and _is_terminal(stream) else Ink()


def _screen() -> TextIO | None:
    return sys.stderr if not _is_terminal(sys.stdout) and _is_terminal(sys.stderr) else sys.stdout


def _is_terminal(stream: TextIO | None) -> bool:
    """Without a console, as a program with windows has none, there is no stream at all."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # it is closed
        return False


def _print(stream: TextIO | None, text: str) -> None:
    if stream is not None:
        encoding = stream.encoding or "utf-8"
        stream.write(text.encode(encoding, "replace").decode(encoding))
        stream.flush()
