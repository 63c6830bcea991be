"""How much of a server's text is shown: all of it, as a rule, and never so much that the form drowns."""

from __future__ import annotations

from typing import Final

from midcall.client.asked import Asked
from midcall.core.text import plain, plain_line
from midcall.wording.client import terminal as wording

__all__ = ["brief", "paragraphs", "server_name", "whole"]

_MESSAGE: Final = 20_000
_LINES: Final = 400
_LABEL: Final = 200
_DESCRIPTION: Final = 2_000


def whole(text: str, most: int = _MESSAGE) -> str:
    """A text of several lines. What is beyond the limit is not shown, and that is said."""
    shown = plain(text[:most]).rstrip()
    lines = shown.split("\n")
    if len(lines) > _LINES:
        shown = "\n".join(lines[:_LINES])
    left = len(text) - min(most, len(text)) + sum(map(len, lines[_LINES:]))
    return f"{shown}\n{wording.not_all_shown(left)}" if left else shown


def paragraphs(text: str) -> str:
    """A description."""
    return whole(text, _DESCRIPTION)


def brief(text: str, most: int = _LABEL) -> str:
    """A label, an option, a headline: one line."""
    line = plain_line(text[: 4 * most])
    return line if len(line) <= most and len(text) <= 4 * most else f"{line[: most - 1]}…"


def server_name(asked: Asked) -> str:
    """The server as the user is told of it."""
    return brief(asked.server, 60) or wording.unnamed_server()
