from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcall.client.lines.columns import clipped, cut, padded, width, wrapped
from midcall.core.text import plain


@pytest.mark.parametrize(
    ("text", "columns"), [("", 0), ("abc", 3), ("東京", 4), ("e\u0301", 1), ("👍", 2), ("ｆ", 2), ("a\u200db", 2)]
)
def test_text_is_as_wide_as_a_terminal_shows_it(text: str, columns: int) -> None:
    assert width(text) == columns


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("one two three", ["one two", "three"]),
        ("one\n\ntwo", ["one", "", "two"]),
        ("abcdefghijkl", ["abcdefgh", "ijkl"]),
        ("東京東京東京", ["東京東京", "東京"]),
        ("a abcdefghijkl", ["a", "abcdefgh", "ijkl"]),
        ("  - one two", ["  - one", "two"]),
        ("   ", [""]),
    ],
)
def test_lines_break_between_words_where_there_are_any(text: str, lines: list[str]) -> None:
    assert wrapped(text, 8) == lines


@given(st.text(), st.integers(4, 40))
def test_no_line_is_too_wide_and_nothing_is_lost(text: str, columns: int) -> None:
    shown = plain(text)
    lines = wrapped(shown, columns)
    assert all(width(line) <= columns for line in lines)
    assert "".join("".join(lines).split()) == "".join(shown.split())


def test_text_is_padded_cut_and_clipped() -> None:
    assert padded("東京", 6) == "東京  "
    assert [cut("東京東京", 5), cut("abc", 3)] == ["東京…", "abc"]
    assert [clipped("abc", 3), clipped("abcde", 3)] == ["abc", "abc… (2 more characters)"]
