"""Letters that are not what they look like."""

from __future__ import annotations

import unicodedata
from typing import Final

__all__ = ["looks_like", "scripts", "strange"]

_LATIN: Final = dict(
    zip(
        # Cyrillic, then Greek, then Armenian; each above the Latin letter that it can be taken for.
        "абвгԁеһіјкӏмноԛрѕтуԝхѵшҽ" + "αβεγηικνορτυχω" + "աɡցհոօսզ",
        "a6brdehijklmhoqpstywxvwe" + "abeyniKvoptuxw".lower() + "wggnnouq",
        strict=True,
    )
)
_EAST_ASIAN: Final = frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO"})
"""Scripts that are written together."""


def scripts(label: str) -> frozenset[str]:
    """The scripts that the letters of this label belong to, by their English names."""
    names = {unicodedata.name(char, "UNKNOWN").split()[0] for char in label if char.isalpha()}
    together = names & _EAST_ASIAN
    return frozenset((names - together) | ({"East Asian"} if together else set[str]()))


def looks_like(label: str) -> str | None:
    """The plain name that this label can be taken for, if every letter of it has one.

    A letter with an accent can be taken for the letter without.
    """
    shown = "".join(char for char in unicodedata.normalize("NFKD", label.casefold()) if not unicodedata.combining(char))
    seen = "".join(_LATIN.get(char, char) for char in shown)
    return seen if seen.isascii() and seen != label.casefold() else None


def strange(label: str) -> dict[str, list[tuple[int, str]]]:
    """The letters that are not a to z, each with its place from 1, by their script; "" where that says nothing."""
    found: dict[str, list[tuple[int, str]]] = {}
    for place, char in enumerate(label, 1):
        if not char.isascii():
            script = "".join(scripts(char) - {"LATIN", "UNKNOWN"})
            found.setdefault(script.capitalize(), []).append((place, char))
    return found
