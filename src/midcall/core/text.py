"""Text from others, made safe to print.

A server writes the messages, labels and options that a terminal shows. Escape sequences could move
the cursor and repaint what was asked, a carriage return could overwrite it, bidirectional controls
could turn it around, and invisible characters could hide in it.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

__all__ = ["plain", "plain_line"]

_SEQUENCE: Final = re.compile(
    r"""
      (?: \x1b\[ | \x9b ) [0-?]* [ -/]* [@-~]                              # CSI: colours, cursor, screen
    | (?: \x1b[\]PX^_] | [\x9d\x90\x98\x9e\x9f] )                          # OSC, DCS and their like,
      [^\n\x07\x1b\x90\x98\x9c-\x9f]* (?: \x1b\\ | [\x07\x9c] )            #   up to their end
    | \x1b [ -/]+ [0-~]                                                    # character sets
    | \x1b [0-Z\\^-~]                                                      # single commands
    """,
    re.VERBOSE,
)
_TO_LOOK_AT: Final = re.compile(r"[^\n -~]+")
_JOINERS: Final = frozenset("\u200c\u200d")
"""Invisible, but scripts and emoji need them."""


def plain(text: str) -> str:
    """The text without escape sequences, bidirectional controls and invisible characters.

    Other control characters become visible. Line ends stay, in one form.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _SEQUENCE.sub("", text.replace("\r\n", "\n"))
    return _TO_LOOK_AT.sub(lambda found: "".join(map(_shown, found[0])), text)


def plain_line(text: str) -> str:
    """The same on one line, for labels and options."""
    return " ".join(plain(text).split())


def _shown(char: str) -> str:
    if char == "\n" or char.isprintable() or char in _JOINERS:
        return char
    match unicodedata.category(char):
        case "Cc":
            return _picture(ord(char))
        case "Cf":
            return ""
        case "Zl" | "Zp":
            return "\n"
        case "Zs":
            return " "
        case _:  # surrogates, private and unassigned characters
            return "\N{REPLACEMENT CHARACTER}"


def _picture(code: int) -> str:
    """A control character as something to look at."""
    if code == 9:
        return " "
    if code == 127:
        return "\N{SYMBOL FOR DELETE}"
    return chr(0x2400 + code) if code < 32 else f"\\x{code:02x}"
