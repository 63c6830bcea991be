"""The line that stays on the terminal after each question: its outcome."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import anyio

from midcall.client.asked import Asked
from midcall.client.lines.display import format_all_cancelled, format_outcome, format_turned_away
from midcall.client.lines.excerpt import server_name
from midcall.client.lines.screen import Ink, columns_of
from midcall.client.lines.wrapping import put_behind_bar
from midcall.client.urls import in_ascii
from midcall.core.outcome import Accepted, Outcome
from midcall.language import _


class Summary:
    """Prints outcomes, and opens the addresses that the user agreed to.

    Args:
        write: Prints text.
        open_url: Opens an address; returns whether it could.
    """

    def __init__(self, write: Callable[[str], None], open_url: Callable[[str], bool]) -> None:
        self._write = write
        self._open_url = open_url

    async def tell(self, asked: Asked, outcome: Outcome[Any], note: str = "") -> None:
        """Print the outcome of this question. If it's an accepted visit, open the address first."""
        match outcome:
            case Accepted() if asked.url is not None:
                await self._open(asked, asked.url)
            case _:
                mark = "✓" if isinstance(outcome, Accepted) else "✗"
                self._print_about(mark, asked, format_outcome(outcome), note)

    def tell_withdrawn(self, asked: Asked) -> None:
        self._print_about("✗", asked, _("The question was withdrawn."))

    def tell_no_terminal(self, asked: Asked) -> None:
        self._print_about("✗", asked, _("there is no terminal to ask at, so the question was cancelled."))

    def tell_all_cancelled(self, count: int) -> None:
        self._print("✗", format_all_cancelled(count))

    def tell_turned_away(self, count: int) -> None:
        self._print("✗", format_turned_away(count))

    def tell_sentence(self, sentence: str) -> None:
        self._print("✗", sentence)

    async def _open(self, asked: Asked, url: str) -> None:
        if await anyio.to_thread.run_sync(self._open_url, url, abandon_on_cancel=True):
            self._print_about("✓", asked, _("Opened in your browser."))
        else:
            advice = _("Could not start a browser here. Open the address yourself.")
            self._print_about("✓", asked, advice)
            self._write(f"\n{in_ascii(url)}\n\n")

    def _print_about(self, mark: str, asked: Asked, what: str, note: str = "") -> None:
        self._print(mark, f"{server_name(asked.server)}: {what}", note)

    def _print(self, mark: str, sentence: str, note: str = "") -> None:
        ink = Ink.on_stream(sys.stderr)
        painted = ink.good(mark) if mark == "✓" else ink.bad(mark)
        said = f"{sentence}  {note}" if note else sentence
        self._write("".join(put_behind_bar(said, columns_of(sys.stderr), first=f"{painted} ")))
