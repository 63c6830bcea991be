"""What a field accepts and what is in it, in words."""

from __future__ import annotations

from typing import Any

import pytest

from midcall.core.forms.fields import Choice, Choices, Field, Flag, Number, Text
from midcall.core.forms.hints import format_value, list_hints

SEATS = {"w": "Window", "a": "Aisle"}


@pytest.mark.parametrize(
    ("field", "words"),
    [
        (Text("t"), []),
        (Text("t", min_length=2, max_length=40), ["2 to 40 characters"]),
        (Text("t", min_length=2), ["at least 2 characters"]),
        (Text("t", max_length=1), ["at most 1 character"]),
        (Text("t", min_length=5, max_length=5), ["5 characters"]),
        (Text("t", format="email"), ["an email address"]),
        (Text("t", format="date"), ["a date such as 2026-07-28"]),
        (Text("t", pattern="^[A-Z]+$"), ["must match ^[A-Z]+$"]),
        (Text("t", required=False), ["optional"]),
        (Text("t", default="x"), []),
        (Number("n", integer=True), ["a whole number"]),
        (Number("n"), ["a number such as 2.5"]),
        (Number("n", integer=True, minimum=1, maximum=10), ["a whole number from 1 to 10"]),
        (Number("n", minimum=0), ["a number, at least 0"]),
        (Number("n", maximum=0.5), ["a number, at most 0.5"]),
        (Flag("f"), ["yes or no"]),
        (Choice("c", SEATS), ["choose one"]),
        (Choices("c", SEATS), ["choose any number, separated by commas, or none"]),
        (Choices("c", SEATS, min_items=1), ["choose at least 1, separated by commas"]),
        (Choices("c", SEATS, min_items=1, max_items=2), ["choose 1 to 2, separated by commas"]),
    ],
)
def test_constraints_are_described_in_words(field: Field, words: list[str]) -> None:
    assert list_hints(field) == words


@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        (Flag("f"), True, "yes"),
        (Flag("f"), False, "no"),
        (Choice("c", SEATS), "a", "Aisle"),
        (Choices("c", SEATS), ["a", "w"], "Aisle, Window"),
        (Choices("c", SEATS), [], "(none)"),
        (Number("n"), 2.5, "2.5"),
        (Text("t"), "two\nlines\x1b[31m", "two↵lines⟨U+001B⟩[31m"),
        (Text("t"), None, "(left empty)"),
    ],
)
def test_values_are_shown_as_the_user_would_say_them(field: Field, value: Any, shown: str) -> None:
    assert format_value(field, value) == shown
