"""What a command draws: tables on standard output, and on standard error a status line with a spinner."""

from __future__ import annotations

import asyncio
import io
import shutil
import sys
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from time import monotonic
from typing import Final

from rich.cells import set_cell_size
from rich.console import Console as Drawing
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from midcall.cli.exits import ignore_hangup
from midcall.cli.stdout import print_out
from midcall.client.lines.excerpt import shorten
from midcall.client.lines.screen import Ink, Meanwhile, columns_of, is_terminal, print_error
from midcall.client.lines.wrapping import BAR, put_behind_bar
from midcall.core.text import plain
from midcall.settings.cli import SPINNER_SECONDS

_CLEAR: Final = "\r\x1b[2K"
_FRAMES: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class Console(Meanwhile):
    """Standard error: lines that stay, and one status line below them."""

    def __init__(self) -> None:
        super().__init__(self._show)
        self.ink = Ink.on_stream(sys.stderr)
        self._status = ""
        self._undo: Callable[[], None] | None = None

    def report(self, sentence: str) -> None:
        """Print what went wrong. Only the first line begins like one of ours: the sentence may quote a server."""
        self._quote(sentence, f"{self.ink.bad('✗')} ")

    def refuse(self, sentence: str) -> None:
        """Print why a command was called wrongly, in the same way."""
        self._quote(sentence, "")

    def remark(self, sentence: str) -> None:
        """Print something that a log says, in the same way."""
        self._quote(sentence, self.ink.dim("  · "), self.ink.dim)

    def quote(self, text: str, paint: Callable[[str], str] = str) -> None:
        """Print text of a server, behind a bar: none of its lines can be taken for ours."""
        self._quote(text, None, paint)

    def _quote(self, text: str, first: str | None, paint: Callable[[str], str] = str) -> None:
        columns = columns_of(sys.stderr) if is_terminal(sys.stderr) else None
        self.say("".join(put_behind_bar(text, columns, first=first, bar=paint(BAR), paint=paint)).removesuffix("\n"))

    def status(self, text: str) -> None:
        """Replace the status line. Only a terminal has one."""
        with self.lock:
            self._status = text
            if self.ink.on and not self.is_asking:
                self._show("")

    @contextmanager
    def show_question(self, *, here: bool) -> Generator[None]:
        """Leave the screen to a question while this is open. A question `here` ends with the terminal."""
        with ExitStack() as stack:
            with self.lock:
                if not self.is_asking:
                    self._draw("", "")
                    self._undo = ignore_hangup() if here else None
                stack.callback(self._resume)
                stack.enter_context(self.asking())
            yield

    def _resume(self) -> None:
        with self.lock:
            if not self.is_asking:
                if self._undo is not None:
                    self._undo()
                self._show("")

    def _show(self, lines: str) -> None:
        self._draw(lines, self._status)

    def _draw(self, lines: str, status: str) -> None:
        if self.ink.on:
            # A status that is wider than the terminal would wrap, and its first line would stay.
            shown = set_cell_size(status, columns_of(sys.stderr) - 1).rstrip()
            print_error(f"{_CLEAR}{lines}{self.ink.dim(shown)}")
        elif lines:
            print_error(lines)


class Spinner:
    """The status line of a call: what is running, for how long, and how far it is."""

    def __init__(self, console: Console, name: str) -> None:
        self._console = console
        self._name = name
        self._begun = monotonic()
        self._progress = ""

    async def show_progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Show how far the tool is. Use it as a `progress_callback`."""
        share = f"{min(max(progress / total, 0), 1):.0%}" if total else ""
        self._progress = "".join(f" · {piece}" for piece in (share, shorten(message or "")) if piece)

    @property
    def line(self) -> str:
        """What the status line shows, beside the frame."""
        return f"{self._name} · {int(monotonic() - self._begun)} s{self._progress}"

    async def run(self) -> None:
        while True:
            for frame in _FRAMES:
                self._console.status(f"{frame} {self.line}")
                await asyncio.sleep(SPINNER_SECONDS)


@asynccontextmanager
async def spin(console: Console, name: str) -> AsyncGenerator[Spinner]:
    """Show a spinner while this is open, if there's a terminal."""
    spinner = Spinner(console, name)
    task = asyncio.create_task(spinner.run()) if console.ink.on else None
    try:
        yield spinner
    finally:
        if task is not None:
            task.cancel()
        console.status("")


_NARROWEST: Final = 40
_WIDEST: Final = 100


def width() -> int:
    """The columns to use: longer lines are hard to read, and narrower ones can't hold a table."""
    return max(_NARROWEST, min(shutil.get_terminal_size().columns, _WIDEST))


def print_parts(*parts: RenderableType, wide: bool = False) -> None:
    """Draw these below each other, in colour if standard output is a terminal that has them."""
    ink = Ink.on_stream(sys.stdout)
    drawn = io.StringIO()
    console = Drawing(
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


def indent(part: RenderableType) -> Padding:
    return Padding(part, (0, 0, 0, 2))
