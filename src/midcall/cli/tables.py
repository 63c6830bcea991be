"""Columns and wrapped text on standard output, drawn by rich."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from midcall.cli.console import print_out
from midcall.client.lines.screen import Ink
from midcall.core.text import plain

_NARROWEST: Final = 40
_WIDEST: Final = 100


def width() -> int:
    """The columns to use: longer lines are hard to read, and narrower ones can't hold a table."""
    return max(_NARROWEST, min(shutil.get_terminal_size().columns, _WIDEST))


def print_parts(*parts: RenderableType, wide: bool = False) -> None:
    """Draw these below each other, in colour if standard output is a terminal that has them."""
    ink = Ink.on_stream(sys.stdout)
    drawn = io.StringIO()
    console = Console(
        file=drawn,
        width=shutil.get_terminal_size().columns if wide else width(),
        force_terminal=ink.on,
        color_system="standard" if ink.on else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    for part in parts:
        console.print(part)
    print_out("".join(f"{line.rstrip()}\n" for line in drawn.getvalue().splitlines()))


def heading(text: str, note: str = "") -> Text:
    """A line in bold, with a note behind it."""
    return Text.assemble((plain(text), "bold"), (f"  {plain(note)}" if note else "", "dim"))


def columns(rows: Iterable[Sequence[RenderableType]], header: Sequence[str] = (), *, wraps: bool = True) -> Table:
    """Rows in columns. The last column gets the remaining space, and wraps if it may."""
    table = Table(box=None, show_header=bool(header), header_style="dim", padding=(0, 2, 0, 0), pad_edge=False)
    listed = list(rows)
    last = len(listed[0]) - 1
    for index in range(last + 1):
        title = header[index] if header else ""
        table.add_column(title, no_wrap=not (wraps and index == last), overflow="fold")
    for row in listed:
        table.add_row(*row)
    return table


def indent(part: RenderableType, by: int = 2) -> Padding:
    return Padding(part, (0, 0, 0, by))
