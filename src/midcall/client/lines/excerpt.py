"""As much of a server's text as fits its place, safe to print."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from midcall.core.forms.fields import Field
from midcall.core.text import plain, plain_line
from midcall.language import _, ngettext
from midcall.settings.client import (
    DEFAULT_CHARACTERS,
    LINE_CHARACTERS,
    TERMINAL_MESSAGE_CHARACTERS,
    TERMINAL_MESSAGE_LINES,
)

_NAME: Final = 60


def one_line(text: str, most: int = LINE_CHARACTERS, show: Callable[[str], str] = plain_line) -> str:
    """The text on one line. If it's too long, say how much is missing."""
    return clip(show(text[: 20 * most]), most, max(0, len(text) - 20 * most))


def clip(text: str, most: int, missing: int = 0) -> str:
    """The beginning of the text, and how much is missing. `missing` counts what was cut off before."""
    missing += max(0, len(text) - most)
    if not missing:
        return text
    note = ngettext("{count:,} more character", "{count:,} more characters", missing).format(count=missing)
    return f"{text[:most]}… ({note})"


def shorten(text: str, most: int = LINE_CHARACTERS) -> str:
    """The text on one line, cut off with an ellipsis: for labels, options and headlines."""
    line = plain_line(text[: 4 * most])
    return line if len(line) <= most and len(text) <= 4 * most else f"{line[: most - 1]}…"


def shorten_paragraphs(text: str, most: int = TERMINAL_MESSAGE_CHARACTERS) -> str:
    """A text of several lines. If it's too long, a last line says how much is missing."""
    lines = plain(text[:most]).rstrip().split("\n")
    missing = max(0, len(text) - most) + sum(map(len, lines[TERMINAL_MESSAGE_LINES:]))
    shown = "\n".join(lines[:TERMINAL_MESSAGE_LINES])
    return f"{shown}\n… {format_missing(missing)}" if missing else shown


def format_missing(count: int) -> str:
    """A sentence that says how much isn't shown."""
    return ngettext("{count:,} more character is not shown.", "{count:,} more characters are not shown.", count).format(
        count=count
    )


def server_name(server: str) -> str:
    """The server's name for itself, which isn't proven."""
    return shorten(server, _NAME) or _("An unnamed server")


def find_default(field: Field) -> Any:
    """The default, unless it is so long that nobody would see all of it before it is sent."""
    default = field.default
    return None if isinstance(default, str) and len(default) > DEFAULT_CHARACTERS else default
