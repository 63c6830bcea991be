"""Sanitize other people's text before it's printed.

A server writes the messages, labels and options that a terminal shows. Escape sequences could repaint the question, a
carriage return could overwrite it, bidirectional controls could reverse it, and invisible characters could hide in it.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

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
_SUSPECT: Final = re.compile(r"[^\n -~]+")
_JOINERS: Final = frozenset("\u200c\u200d")
"""Invisible, but needed by scripts and emoji."""


def plain(text: str) -> str:
    """Remove escape sequences, bidirectional controls and invisible characters.

    Other control characters become visible, and line ends become `\\n`.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _SEQUENCE.sub("", text.replace("\r\n", "\n"))
    return _SUSPECT.sub(lambda found: "".join(map(_sanitize, found[0])), text)


def plain_line(text: str) -> str:
    """The same on one line, for labels and options."""
    return " ".join(plain(text).split())


def _sanitize(char: str) -> str:
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
    """A control character as a visible symbol."""
    if code == 9:
        return " "
    if code == 127:
        return "\N{SYMBOL FOR DELETE}"
    return chr(0x2400 + code) if code < 32 else f"\\x{code:02x}"
