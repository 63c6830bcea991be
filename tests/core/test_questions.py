"""Questions as values: what they are known by, and what stays of them."""

from __future__ import annotations

from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, Field

from midcall.core.question import MISSING, Question, plain_question


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


class Size(Enum):
    SMALL = "S"
    LARGE = "L"


BARE: tuple[Any, ...] = (
    int,
    bool,
    str,
    float,
    Size,
    Literal["a", "b"],
    date,
    Annotated[int, Field(ge=0, le=9)],
    Annotated[int, Field(gt=0.5)],
    Annotated[int, Field(multiple_of=3)],
    Annotated[str, Field(min_length=2, max_length=4)],
    Annotated[str, Field(pattern="^a")],
    Annotated[str, AfterValidator(str.upper)],
)
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 12),
    st.integers(),
    st.floats(),
    st.sampled_from(["", "S", "L", "SMALL", "a", "b", "aa", "2026-01-02", "1", "\ud800", "é" * 4, "\U0001f600" * 3]),
    st.text(),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(), st.integers(), max_size=2),
)


@pytest.mark.parametrize("type", BARE, ids=str)
@given(value=VALUES)
def test_what_is_read_in_one_step_is_what_the_form_accepts(type: Any, value: Any) -> None:
    question: Question[Any] = Question("Which?", type)
    _, read, problems = question.judge({"answer": value})
    quick = question.typed.quick
    try:
        found = MISSING if quick is None else quick(value)
    except (ValueError, LookupError, TypeError):
        return
    assert found is MISSING or (found == read and found.__class__ is read.__class__ and not problems)


@pytest.mark.parametrize(("type", "value"), [(int, 3), (bool, False), (str, "ä"), (Size, "L"), (Literal["a"], "a")])
def test_plain_values_are_read_in_one_step(type: Any, value: Any) -> None:
    question: Question[Any] = Question("Which?", type)
    assert question.typed.quick is not None
    assert question.typed.quick(value) == question.read({"answer": value})[0]
