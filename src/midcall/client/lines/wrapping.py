"""Measures and wraps text for a terminal. Other people's text goes behind a bar, so that no line of it poses as ours.

A line begins after a line end, where a long one is wrapped, and where the terminal itself breaks one that is too wide.
So everything is wrapped here, and every line gets the bar. Only the first may begin with our own text instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from midcall.core.text import plain

try:
    from rich.cells import cell_len, chop_cells
    from rich.console import Console
    from rich.text import Text
except ImportError:
    raise ImportError('Line prompts need Rich, which is not installed: pip install "midcall[terminal]"') from None

BAR: Final = "  │ "

_CONSOLE: Final = Console()
_NARROWEST: Final = 10


def put_behind_bar(
    text: str, columns: int | None, *, first: str | None = None, bar: str = BAR, paint: Callable[[str], str] = str
) -> Iterator[str]:
    """The lines of this text, made safe, each behind the bar; the first one behind `first`, if there is one.

    Without `columns`, nothing is wrapped: it isn't a terminal. `first` may take as much room as the bar.
    """
    begin = bar if first is None else first
    for line in wrap(plain(text), None if columns is None else columns - width_of(BAR)):
        yield f"{begin}{paint(line)}\n"
        begin = bar


def wrap(text: str, columns: int | None) -> list[str]:
    """Lines of at most this width. Empty lines stay."""
    lines = text.split("\n")
    if columns is None:
        return lines
    return [piece for line in lines for piece in _wrap_line(line, max(_NARROWEST, columns))]


def _wrap_line(line: str, columns: int) -> list[str]:
    if width_of(line) <= columns:
        return [line.rstrip()]
    return [piece.plain.rstrip() for piece in Text(line).wrap(_CONSOLE, columns)]


def break_anywhere(text: str, columns: int) -> list[str]:
    """Pieces of at most this width, which together are the text."""
    return chop_cells(text, columns)


def width_of(text: str) -> int:
    """How many columns this takes."""
    return cell_len(text)


def cut(text: str, columns: int) -> str:
    """The text, cut off with an ellipsis if it's too wide."""
    line = Text(text)
    line.truncate(columns, overflow="ellipsis")
    return line.plain
