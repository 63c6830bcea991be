"""Questions as values: what they are known by, and what stays of them."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from midcall.core.question import Question, plain_question


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Literal["a", "b"], Literal["b", "a"]),
        (list[Literal["a", "b"]], list[Literal["b", "a"]]),
    ],
    ids=str,
)
@pytest.mark.parametrize("make", [Question, plain_question])
def test_options_in_another_order_are_another_question_whichever_comes_first(one: Any, other: Any, make: Any) -> None:
    assert one == other
    first, second, again = make("Which?", one), make("Which?", other), make("Which?", one)
    assert first.digest == again.digest != second.digest
    shown = [str(question.form.schema()["properties"]["answer"]) for question in (first, second)]
    assert [text.index("'a'") < text.index("'b'") for text in shown] == [True, False]


def test_a_plain_question_is_made_once_and_a_long_one_does_not_stay() -> None:
    assert plain_question("Which?", str) is plain_question("Which?", str)
    letter = "x" * 2000
    assert plain_question(letter, str) is not plain_question(letter, str)
    assert plain_question(letter, str).digest == Question(letter, str).digest != Question("x" * 2001, str).digest
