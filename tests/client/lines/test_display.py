from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from midcall.client.lines.display import Sheet
from midcall.client.lines.excerpt import clip, shorten, shorten_paragraphs
from midcall.client.lines.screen import Ink
from midcall.core.text import plain


def show(message: str, columns: int) -> list[str]:
    """The lines of a message of this server, without the bar before them."""
    written: list[str] = []
    Sheet(written.append, Ink(), columns + 2).open("Server", message, "advice")
    return [line[2:] for line in "".join(written).splitlines() if line.startswith("│")]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("one two three four five six", ["one two three four", "five six"]),
        ("one\n\ntwo", ["one", "", "two"]),
        ("abcdefghijklmnopqrstuvwxyz", ["abcdefghijklmnopqr", "stuvwxyz"]),
        ("東京東京東京東京東京東京", ["東京東京東京東京東", "京東京"]),
        ("a abcdefghijklmnopqrstuvwxyz", ["a", "abcdefghijklmnopqr", "stuvwxyz"]),
        ("  - one two three four", ["  - one two three", "four"]),
    ],
)
def test_lines_break_between_words_if_there_are_any(text: str, lines: list[str]) -> None:
    assert show(text, 18) == lines


@given(st.text(), st.integers(18, 40))
def test_no_line_is_too_wide_and_nothing_is_lost(text: str, columns: int) -> None:
    lines = show(text, columns)
    assert all(cell_len(line) <= columns for line in lines)
    assert "".join("".join(lines).split()) == "".join(plain(text).split())


def test_long_text_is_shortened_and_says_how_much_is_missing() -> None:
    assert [clip("abc", 3), clip("abcde", 3)] == ["abc", "abc… (2 more characters)"]
    assert [shorten("abc\ndef", 7), shorten("abcdef", 5)] == ["abc def", "abcd…"]
    assert shorten_paragraphs("abc\ndef", 4) == "abc\n… 3 more characters are not shown."
