"""What cannot be written as JSON, for the author who wants to send it."""

from __future__ import annotations


def half_a_character(at: int) -> str:
    return f"holds half a character (a lone surrogate, at position {at}), which cannot be sent"


def half_a_character_advice() -> str:
    return (
        "Such halves come from text that was decoded with errors='surrogateescape', or cut out of UTF-16: "
        "decode it as what it is, or with errors='replace'."
    )


def not_plain(kind: str) -> str:
    return f"is of type {kind}, which JSON cannot hold"


def plain_data_advice() -> str:
    return "Send plain data: text, numbers, true, false, None, and lists and dicts of these."
