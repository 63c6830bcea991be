"""A default that its own field would not take from a user is refused, however the form was written."""

from __future__ import annotations

import dataclasses
from datetime import UTC, date, datetime
from enum import Enum
from typing import Annotated, Any, Literal, TypedDict

import annotated_types as at
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AnyUrl, BaseModel, EmailStr, Field
from pydantic.dataclasses import dataclass as pydantic_dataclass

from midcall import Question
from midcall.core.types import typed_form
from midcall.errors import InvalidForm


class Seat(Enum):
    WINDOW = "w"
    AISLE = "a"


def as_model(tp: Any, default: Any) -> Any:
    return type("Bad", (BaseModel,), {"__annotations__": {"n": tp}, "n": default, "__module__": __name__})


def as_dataclass(tp: Any, default: Any) -> Any:
    return dataclasses.make_dataclass("Bad", [("n", tp, default)])


def as_pydantic_dataclass(tp: Any, default: Any) -> Any:
    return pydantic_dataclass(as_dataclass(tp, default))


def as_typed_dict(tp: Any, default: Any) -> Any:
    return TypedDict("Bad", {"n": Annotated[tp, Field(default=default)]})


CONTAINERS = (as_model, as_dataclass, as_pydantic_dataclass, as_typed_dict)

UNFIT: list[tuple[Any, Any, str]] = [
    (Annotated[int, Field(le=10)], 99, "default 99 must be at most 10"),
    (Annotated[int, Field(ge=18)], 0, "default 0 must be at least 18"),
    (Annotated[int, Field(gt=0)], 0, "default 0 must be at least 1"),
    (Annotated[int, Field(ge=1)] | None, -1, "default -1 must be at least 1"),
    (Annotated[float, Field(gt=0)], 0.0, "default 0.0 must be greater than 0"),
    (Annotated[float, Field(lt=1)], 1, "default 1 must be less than 1"),
    (Annotated[str, Field(min_length=2)], "a", "default 'a' must have at least 2 characters"),
    (Annotated[str, Field(pattern="^[A-Z]+$")], "abc", "default 'abc' must match the pattern"),
    (Annotated[date, at.Ge(date(2026, 1, 1))], date(2025, 1, 1), "must be at least 2026-01-01"),
    (EmailStr, "nobody", "default 'nobody' must be an email address"),
    (Literal["a", "b"], "c", "default 'c' must be one of: a, b"),
    (Literal[1, 2], 3, "default 3 must be one of: 1, 2"),
    (Seat, "x", "default 'x' must be one of: Window, Aisle"),
    (tuple[Literal["a", "b"], ...], ("a", "z"), "default ('a', 'z') must contain only these: a, b"),
    (Annotated[frozenset[Literal["a"]], Field(min_length=1)], frozenset(), "default frozenset() "),
    (int, "many", "default 'many' must be a whole number"),
    (bool, "yes", "default 'yes' must be true or false"),
    (date, "tomorrow", "default 'tomorrow' must be a date"),
]


@pytest.mark.parametrize("container", CONTAINERS, ids=lambda each: each.__name__)
@pytest.mark.parametrize(("tp", "default", "said"), UNFIT, ids=[str(case[0])[:40] + repr(case[1]) for case in UNFIT])
def test_it_is_refused_with_the_field_the_default_and_the_bound(
    container: Any, tp: Any, default: Any, said: str
) -> None:
    with pytest.raises(InvalidForm) as refused:
        Question("How many?", container(tp, default))
    assert refused.value.path == "Bad.n"
    assert said in str(refused.value)
    assert "| None = None" in refused.value.advice


def test_a_bare_type_is_refused_alike() -> None:
    with pytest.raises(InvalidForm, match="default 0 must be at least 18"):
        typed_form(Annotated[int, Field(default=0, ge=18)])


def test_what_a_json_schema_extra_says_is_a_bound_too() -> None:
    class Bad(BaseModel):
        size: str = Field(default="xl", json_schema_extra={"enum": ["s", "m"]})

    with pytest.raises(InvalidForm, match="'xl' must be one of: s, m") as refused:
        typed_form(Bad)
    assert refused.value.path == "Bad.size"


KEPT: list[tuple[Any, Any]] = [
    (datetime, datetime(2026, 7, 28)),  # without an offset, no client could send it
    (Annotated[str, Field(min_length=3)], object()),
    (Annotated[int, Field(ge=18)], None),
    (Seat, object()),
    (float, float("inf")),  # an infinite limit
]


@pytest.mark.parametrize(("tp", "default"), KEPT, ids=[str(tp) for tp, _ in KEPT])
def test_what_has_no_wire_form_is_not_sent_and_is_applied_by_the_type(tp: Any, default: Any) -> None:
    typed = typed_form(as_dataclass(tp, default))
    assert typed.form.field("n").default is None
    assert typed.read({}).n is default or typed.read({}).n == default


@pytest.mark.parametrize(
    ("tp", "default", "sent"),
    [
        (Annotated[int, Field(le=10)], 10, 10),
        (Annotated[float, Field(gt=0)], 1, 1),
        (datetime, datetime(2026, 7, 28, tzinfo=UTC), "2026-07-28T00:00:00+00:00"),
        (AnyUrl, "https://example.com/", "https://example.com/"),
        (Seat, "a", "a"),
        (Annotated[frozenset[Literal["a"]], Field(min_length=1)], frozenset({"a"}), ("a",)),
    ],
    ids=repr,
)
def test_what_fits_is_sent(tp: Any, default: Any, sent: Any) -> None:
    assert typed_form(as_model(tp, default)).form.field("n").default == sent


def test_a_factory_is_the_types_own_business() -> None:
    class Late(BaseModel):
        n: int = Field(default_factory=lambda: 99, le=10)

    typed = typed_form(Late)
    assert typed.form.field("n").default is None
    assert typed.read({}).n == 99


@given(st.integers(-5, 5), st.integers(-5, 5), st.integers(-8, 8), st.sampled_from(CONTAINERS))
def test_a_default_is_sent_or_refused_as_an_answer_would_be(low: int, high: int, default: int, container: Any) -> None:
    low, high = sorted((low, high))
    kind = container(Annotated[int, Field(ge=low, lt=high + 1)], default)
    if low <= default <= high:
        assert typed_form(kind).form.field("n").default == default
    else:
        with pytest.raises(InvalidForm, match=f"default {default} "):
            typed_form(kind)
