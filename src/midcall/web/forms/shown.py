"""Text of others on a page: made safe, and no longer than a page can bear."""

from __future__ import annotations

from typing import Final

from midcall.core.text import plain, plain_line
from midcall.wording.client import html as wording

__all__ = ["LINE", "MESSAGE", "line", "text"]

MESSAGE: Final = 10_000
LINE: Final = 300


def text(said: str, most: int = MESSAGE) -> str:
    """Some lines of text, and how much is not shown."""
    return plain(said) if len(said) <= most else f"{plain(said[:most])}{wording.more_characters(len(said) - most)}"


def line(said: str, most: int = LINE) -> str:
    """The same on one line, where there is no room to say how much."""
    return plain_line(said) if len(said) <= most else f"{plain_line(said[:most])}…"
