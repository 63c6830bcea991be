"""Other people's text on a page: sanitized and cut to what a page can show, or in full with every character marked."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from markupsafe import Markup, escape

from midcall.core.text import MARK, plain, plain_line, reveal
from midcall.language import ngettext
from midcall.settings.web import PAGE_LINE_CHARACTERS, PAGE_MESSAGE_CHARACTERS


def text(whole: str, most: int = PAGE_MESSAGE_CHARACTERS) -> str:
    """Up to this many characters, and how many more there are."""
    if len(whole) <= most:
        return plain(whole)
    left = len(whole) - most
    note = ngettext("({count} more character is not shown)", "({count} more characters are not shown)", left)
    return f"{plain(whole[:most])}… {note.format(count=f'{left:,}')}"


def line(whole: str, most: int = PAGE_LINE_CHARACTERS) -> str:
    """The same on one line, with an ellipsis if something is missing."""
    return plain_line(whole) if len(whole) <= most else f"{plain_line(whole[:most])}…"


# --- what somebody agrees to -------------------------------------------------------------------

_DIRECTED: Final = re.compile("r(?:[rmn]*[rm])?|a+")
_DIRECTIONS: Final = {"R": "r", "AL": "r", "NSM": "m", "AN": "a", "L": "l", "EN": "l"}


def exact(whole: str) -> Markup:
    """All of a message, with a mark for every character that can mislead. Its layout stays."""
    return draw_marks(reveal(whole, layout=True))


def draw_marks(revealed: str) -> Markup:
    """This text from `reveal`, with its marks highlighted, in the order in which it was written."""
    if revealed.isascii():
        return Markup(escape(revealed))
    pieces = (
        _highlight(piece) if order == "l" else Markup("<bdi>{}</bdi>").format(piece)
        for order, piece in _split(revealed)
    )
    return Markup("").join(pieces)


def has_marks(revealed: str) -> bool:
    return MARK.search(revealed) is not None


def _split(text: str) -> list[tuple[str, str]]:
    """The text in pieces that are written from right to left (r), and others (l).

    A browser would put numbers on the other side of Hebrew or Arabic words, so that 1א and א1 look the same.
    """
    directions = "".join(_DIRECTIONS.get(unicodedata.bidirectional(char), "n") for char in text)
    pieces: list[tuple[str, str]] = []
    end = 0
    for found in _DIRECTED.finditer(directions):
        pieces += [("l", text[end : found.start()]), ("r", text[found.start() : found.end()])]
        end = found.end()
    return [*pieces, ("l", text[end:])]


def _highlight(text: str) -> Markup:
    parts: list[Markup] = []
    end = 0
    for found in MARK.finditer(text):
        name = unicodedata.name(chr(int(found[1], 16)), "") if found[1] else ""
        title = Markup(' title="{}"').format(name.capitalize()) if name else ""
        mark = Markup("<mark{}>{}</mark>{}").format(title, found[0], Markup("<wbr>"))
        parts += [escape(text[end : found.start()]), mark]
        end = found.end()
    return Markup("").join([*parts, escape(text[end:])])
