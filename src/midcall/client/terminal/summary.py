"""What stays on the terminal of a question: one line of what became of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import anyio

from midcall.client.asked import Asked
from midcall.client.lines.colors import Ink
from midcall.client.terminal.excerpt import server_name
from midcall.core.outcome import Accepted, Cancelled, Declined, Outcome
from midcall.wording.client import terminal as wording

__all__ = ["Account"]


class Account:
    """Leaves lines, and opens the addresses that the user agreed to.

    Args:
        write: Takes the lines.
        open_url: Opens an address, and tells whether it could.
    """

    def __init__(self, write: Callable[[str], None], open_url: Callable[[str], bool]) -> None:
        self._write = write
        self._open_url = open_url

    async def tell(self, asked: Asked, outcome: Outcome[Any], note: str = "") -> None:
        """What became of this question."""
        match outcome:
            case Accepted() if asked.url is not None:
                await self._open(asked, asked.url)
            case Accepted():
                self._leave("✓", asked, wording.sent(), note)
            case Declined():
                self._leave("✗", asked, wording.declined(), note)
            case Cancelled():
                self._leave("✗", asked, wording.cancelled(), note)

    def withdrawn(self, asked: Asked) -> None:
        self._leave("✗", asked, wording.withdrawn())

    def nobody_there(self, asked: Asked) -> None:
        self._leave("✗", asked, wording.nobody_at_a_terminal())

    def all_cancelled(self, count: int) -> None:
        self._mark("✗", wording.all_cancelled(count))

    def turned_away(self, count: int) -> None:
        self._mark("✗", wording.turned_away(count))

    async def _open(self, asked: Asked, url: str) -> None:
        if await anyio.to_thread.run_sync(self._open_url, url, abandon_on_cancel=True):
            self._leave("✓", asked, wording.opened())
        else:
            self._leave("✓", asked, f"{wording.open_it_yourself()}\n\n  {url}\n")

    def _leave(self, mark: str, asked: Asked, what: str, note: str = "") -> None:
        self._mark(mark, wording.account(server_name(asked), what), note)

    def _mark(self, mark: str, sentence: str, note: str = "") -> None:
        ink = Ink.on_stream(sys.stderr)
        painted = ink.good(mark) if mark == "✓" else ink.bad(mark)
        aside = ink.dim(f"  {note}") if note else ""
        self._write(f"{painted} {sentence}{aside}\n")
