"""Other people's text on a page: sanitized, and cut to what a page can show."""

from __future__ import annotations

from typing import Final

from midcall.core.text import plain, plain_line
from midcall.language import ngettext

MESSAGE: Final = 10_000
LINE: Final = 300


def text(whole: str, most: int = MESSAGE) -> str:
    """Up to this many characters, and how many more there are."""
    if len(whole) <= most:
        return plain(whole)
    left = len(whole) - most
    note = ngettext("({count} more character is not shown)", "({count} more characters are not shown)", left)
    return f"{plain(whole[:most])}… {note.format(count=f'{left:,}')}"


def line(whole: str, most: int = LINE) -> str:
    """The same on one line, with an ellipsis if something is missing."""
    return plain_line(whole) if len(whole) <= most else f"{plain_line(whole[:most])}…"
