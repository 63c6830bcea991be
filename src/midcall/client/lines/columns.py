"""Text in columns: how wide it is on a terminal, and how it breaks into lines."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Final

from midcall.core.text import plain_line
from midcall.wording.client import lines as wording

__all__ = ["clipped", "cut", "one_line", "padded", "width", "wrapped"]

_MOST: Final = 200


def width(text: str) -> int:
    """The columns that this takes up: letters of East Asia and most emoji take two, marks none."""
    return len(text) if text.isascii() else sum(map(_width, text))


def padded(text: str, columns: int) -> str:
    """The text with spaces behind it, up to this width."""
    return text + " " * (columns - width(text))


def clipped(text: str, most: int, more: int = 0) -> str:
    """The text, or its beginning and how much of it is not there. So many `more` were left out before."""
    left_out = max(0, len(text) - most) + more
    return f"{text[:most]}… {wording.characters_left_out(left_out)}" if left_out else text


def one_line(text: str, most: int = _MOST) -> str:
    """Text from a server on one line, safe to print, and not more of it than fits its place."""
    return clipped(plain_line(text[: 20 * most]), most, max(0, len(text) - 20 * most))


def cut(text: str, columns: int) -> str:
    """The text, or as much of its beginning as fits."""
    return text if width(text) <= columns else f"{text[: _fitting(text, columns - 1)]}…"


def wrapped(text: str, columns: int) -> list[str]:
    """Lines of at most this width, broken between words where there are any. An empty line stays one."""
    return [piece for line in text.split("\n") for piece in (list(_pieces(line, columns)) or [""])]


def _pieces(line: str, columns: int) -> Iterator[str]:
    piece = line[: len(line) - len(line.lstrip(" "))][: columns // 2]
    empty = True
    for word in line.split():
        if not empty and width(piece) + 1 + width(word) > columns:
            yield piece
            piece, empty = "", True
        piece = piece + word if empty else f"{piece} {word}"
        empty = False
        while width(piece) > columns:
            cut = _fitting(piece, columns)
            yield piece[:cut]
            piece = piece[cut:]
    if not empty:
        yield piece


def _fitting(text: str, columns: int) -> int:
    """How many characters fit; at least one, so that something gets done."""
    taken = 0
    for index, char in enumerate(text):
        taken += _width(char)
        if taken > columns:
            return max(1, index)
    return len(text)


def _width(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
