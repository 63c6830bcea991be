"""Letters that look like others: Cyrillic, Greek and Armenian ones that pass for Latin."""

from __future__ import annotations

import unicodedata
from typing import Final

_LATIN: Final = dict(
    zip(
        # Cyrillic, Greek, Armenian; each above the Latin letter that it looks like.
        "абвгԁеһіјкӏмноԛрѕтуԝхѵшҽ" + "αβεγηικνορτυχω" + "աɡցհոօսզ",
        "a6brdehijklmhoqpstywxvwe" + "abeyniKvoptuxw".lower() + "wggnnouq",
        strict=True,
    )
)
_EAST_ASIAN: Final = frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO"})
"""Scripts that are written together."""


def scripts(label: str) -> frozenset[str]:
    """The English names of the scripts that this label's letters belong to."""
    names = {unicodedata.name(char, "UNKNOWN").split()[0] for char in label if char.isalpha()}
    together = names & _EAST_ASIAN
    return frozenset((names - together) | ({"East Asian"} if together else set[str]()))


def looks_like(label: str) -> str | None:
    """The ASCII name that this label can be mistaken for, if each of its letters looks like one from a to z."""
    base = "".join(char for char in unicodedata.normalize("NFKD", label.casefold()) if not unicodedata.combining(char))
    seen = "".join(_LATIN.get(char, char) for char in base)
    return seen if seen.isascii() and seen != label.casefold() else None


def foreign_letters(label: str) -> dict[str, list[tuple[int, str]]]:
    """By script, the letters that aren't a to z, each with its position from 1. The script is "" if unknown."""
    found: dict[str, list[tuple[int, str]]] = {}
    for place, char in enumerate(label, 1):
        if not char.isascii():
            script = "".join(scripts(char) - {"LATIN", "UNKNOWN"})
            found.setdefault(script.capitalize(), []).append((place, char))
    return found
