"""Sanitize other people's text before it's printed.

A server writes the messages, labels and options that a terminal shows. Escape sequences could repaint the question, a
carriage return could overwrite it, bidirectional controls could reverse it, and invisible characters could hide in it.

`plain` removes what could do that, so that a text can be read. `reveal` removes nothing: it is for values that somebody
agrees to, where a character that can't be seen may be the difference.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
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


# --- everything that a text contains -------------------------------------------------------------

_CLEAR: Final = re.compile(r"[!-~]+(?: [!-~]+)*")
"""ASCII, with single spaces in between."""
_UNSEEN_SPACE: Final = re.compile(r"(?<![^ \n\t]) | (?=[\n\t]|\Z)")
"""A space at the beginning or the end of a line, or after another space."""
_SIGNS: Final = {" ": "␣", "\t": "⇥", "\n": "↵"}
_OURS: Final = frozenset("⟨␣⇥↵")
"""What our marks and signs begin with. A text that has them shows them as marks, so nobody can forge one."""
_BLANK: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufffc\U00016fe4\U0001d159"
    "\U000e0000-\U000e0fff]"
)
"""Letters, symbols and combining characters that show nothing. Unicode's other invisible characters are controls."""
MARK: Final = re.compile("⟨U\\+([0-9A-F]{4,6})⟩|[␣⇥↵]")
"""What `reveal` writes for a character."""
_STACK: Final = 4
"""More combining characters on one letter cover the lines around it."""
_ALIKE: Final = frozenset({"LATIN", "CYRILLIC", "GREEK", "COPTIC", "ARMENIAN", "CHEROKEE", "LISU", "DESERET"})
"""Scripts whose letters pass for each other's."""


def reveal(text: str, *, layout: bool = False) -> str:
    """The whole text, with every character that can mislead as a mark such as `⟨U+202E⟩`.

    Two different texts never become the same. Spaces that nobody would see become `␣`, tabs `⇥`, and line ends `↵`.
    With `layout`, spaces and line ends stay.
    """
    if _CLEAR.fullmatch(text):
        return text
    shown = list(text)
    misleading = (found.start() for found in re.finditer(r"[^ -~\n\t]", text) if _misleads(found[0]))
    for index in {*misleading, *_find_piled(text), *_find_strangers(text)}:
        shown[index] = f"⟨U+{ord(text[index]):04X}⟩"
    for index, char in enumerate(text):
        if char == "\t" or (char == "\n" and not layout):
            shown[index] = _SIGNS[char]
    for space in () if layout else _UNSEEN_SPACE.finditer(text):
        shown[space.start()] = _SIGNS[" "]
    return "".join(shown)


def conceal(shown: str) -> str:
    """The text that `reveal` has shown like this: the way back, for a text that was edited meanwhile."""
    back = {sign: char for char, sign in _SIGNS.items()}
    return MARK.sub(lambda mark: chr(min(int(mark[1], 16), 0x10FFFF)) if mark[1] else back[mark[0]], shown)


@lru_cache(4096)
def _misleads(char: str) -> bool:
    """Whether it can't be seen, steers others, or looks like others to everyone."""
    if char in _OURS or _BLANK.match(char) or unicodedata.category(char)[0] in "CZ":
        return True
    return unicodedata.category(char) == "Me" or unicodedata.normalize("NFC", char) != char


def _find_piled(text: str) -> Iterator[int]:
    """Combining characters that look like part of another character, or that cover others."""
    if text.isascii():
        return
    base = 0
    for index in range(1, len(text) + 1):
        if index < len(text) and _combines(text[index]):
            continue
        bare = _combines(text[base]) or text[base].isspace() or _misleads(text[base])
        if bare or index - base > 1:
            pile = text[base:index]
            hides = bare or len(pile) > 1 + _STACK or len(set(pile)) < len(pile)
            if hides or not unicodedata.is_normalized("NFC", pile) or any(unicodedata.combining(c) == 1 for c in pile):
                yield from range(base if _combines(text[base]) else base + 1, index)
        base = index


@lru_cache(4096)
def _combines(char: str) -> bool:
    """Whether it combines with the character before it. Parts of Korean syllables do, though they are letters."""
    return unicodedata.category(char)[0] == "M" or "\u1160" <= char <= "\u11ff" or "\ud7b0" <= char <= "\ud7fb"


def _find_strangers(text: str) -> Iterator[int]:
    """Letters and digits of another script than the rest of their word."""
    if text.isascii():
        return
    word: dict[str, list[int]] = {}
    last: list[int] = []
    for index, char in enumerate(f"{text} "):
        if _combines(char):
            last.append(index)
        elif char.isalnum():
            last = word.setdefault(_script(char), [])
            last.append(index)
        else:
            if len(word) > 1:
                yield from _find_mixed(word)
            word, last = {}, []


def _find_mixed(word: dict[str, list[int]]) -> Iterator[int]:
    """Where a word has letters or digits that look like its own script's, but belong to another."""
    for alike in ([each for each in word if each in _ALIKE], [each for each in word if each[-5:] == "DIGIT"]):
        own = next((each for each in ("LATIN", "DIGIT") if each in alike), alike[0] if alike else "")
        yield from (place for each in alike if each != own for place in word[each])


@lru_cache(4096)
def _script(char: str) -> str:
    """The script of a letter, or of a digit: `DIGIT` for those of ASCII, `BENGALI DIGIT`."""
    name = unicodedata.name(char, "")
    digit = unicodedata.category(char) == "Nd"
    return f"{name.partition('DIGIT')[0]}DIGIT" if digit else name.partition(" ")[0]
