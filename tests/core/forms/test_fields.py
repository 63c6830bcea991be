from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace

import pytest

from midcall.core.forms.fields import Choice, Choices, Field, Flag, Number, Text
from midcall.errors import InvalidForm

EVERY_KIND: list[Field] = [
    Text("name", min_length=1, pattern="^a", default="ab"),
    Number("age", integer=True, minimum=18, default=20),
    Flag("news", default=True),
    Choice("seat", {"w": "Window", "a": "Aisle"}, default="w"),
    Choices("days", ["mon", "tue"], min_items=1, default=["mon"]),
]


def test_a_number_may_be_left_no_choice() -> None:
    assert Number("f", minimum=3, maximum=3, default=3).rule()(4) != ()
    assert Number("f", integer=True, minimum=2.5, maximum=3, default=3).rule()(3) == ()


def test_a_field_is_required_unless_it_has_a_default_or_says_so() -> None:
    assert Text("a").required is True
    assert Text("a", default="x").required is False
    assert Flag("a", default=False).required is False
    assert Text("a", default="x", required=True).required is True
    assert Text("a", required=False).required is False


def test_the_label_is_the_title_else_the_name() -> None:
    assert Text("travel_date", title="When?").label == "When?"
    assert Text("travel_date").label == "travel_date"


def test_options_have_titles_where_a_mapping_gave_them() -> None:
    titled = Choice("seat", {"w": "Window", "a": "Aisle"})
    assert titled.values == ("w", "a")
    assert titled.titles == ("Window", "Aisle")
    assert titled.labels == {"w": "Window", "a": "Aisle"}
    assert titled.option_names == ("w (Window)", "a (Aisle)")
    untitled = Choices("days", ["mon", "tue"])
    assert untitled.titles is None
    assert untitled.labels == {"mon": "mon", "tue": "tue"}


def test_a_legacy_choice_always_has_titles_since_its_wire_shape_does() -> None:
    assert Choice("seat", ["w"], legacy=True).titles == ("w",)


def test_whole_floats_and_integers_make_the_same_field() -> None:
    assert Number("age", minimum=18.0, default=20.0) == Number("age", minimum=18, default=20)
    assert repr(Number("age", minimum=18.0).minimum) == "18"


@pytest.mark.parametrize("field", EVERY_KIND, ids=lambda field: type(field).__name__)
def test_a_field_is_a_value(field: Field) -> None:
    assert pickle.loads(pickle.dumps(field)) == field
    assert copy.deepcopy(field) == field
    assert hash(copy.copy(field)) == hash(field)
    with pytest.raises(FrozenInstanceError):
        field.name = "other"  # type: ignore[misc]


def test_a_field_can_be_copied_with_a_change() -> None:
    assert replace(Text("a", max_length=3), title="A") == Text("a", max_length=3, title="A")


def test_only_the_name_and_the_options_are_positional() -> None:
    with pytest.raises(TypeError):
        Text("name", "Title")  # type: ignore[misc]
    with pytest.raises(TypeError):
        Choice("seat", ["w"], "Title")  # type: ignore[misc]


REFUSED: dict[str, Callable[[], Field]] = {
    "title must be text": lambda: Text("f", title=3),  # type: ignore[arg-type]
    "required must be": lambda: Text("f", required="yes"),  # type: ignore[arg-type]
    "min_length must be a whole number from 0 on": lambda: Text("f", min_length=-1),
    "max_length must be a whole number from 0 on": lambda: Text("f", max_length=True),
    "min_length 3 is above max_length 2": lambda: Text("f", min_length=3, max_length=2),
    "cannot be read": lambda: Text("f", pattern="("),
    "which clients do not support": lambda: Text("f", pattern=r"\d\Z"),
    "is not one of: email, uri, date, date-time": lambda: Text("f", format="phone"),  # type: ignore[arg-type]
    "default 'a' must have at least 2 characters": lambda: Text("f", min_length=2, default="a"),
    "default 'abc' must have at most 2 characters": lambda: Text("f", max_length=2, default="abc"),
    "default 'b' must match the pattern": lambda: Text("f", pattern="^a", default="b"),
    "default 'x' must be an email address": lambda: Text("f", format="email", default="x"),
    "default 3 must be text": lambda: Text("f", default=3),  # type: ignore[arg-type]
    "minimum must be a finite number": lambda: Number("f", minimum=float("nan")),
    "maximum must be a finite number": lambda: Number("f", maximum=float("inf")),
    "default must be a finite number": lambda: Number("f", default=True),
    "minimum 3 is above maximum 2": lambda: Number("f", minimum=3, maximum=2),
    "no whole number from 0.2 to 0.8": lambda: Number("f", integer=True, minimum=0.2, maximum=0.8),
    "default 1.5 must be a whole number": lambda: Number("f", integer=True, default=1.5),
    "default 17 must be at least 18": lambda: Number("f", minimum=18, default=17),
    "default 1 must be true or false": lambda: Flag("f", default=1),  # type: ignore[arg-type]
    "a choice needs at least one option": lambda: Choice("f", []),
    "not one text": lambda: Choice("f", "abc"),
    "two options have the same value": lambda: Choices("f", ["a", "a"]),
    "options and their titles must be text": lambda: Choice("f", [1, 2]),  # type: ignore[list-item]
    "options and their titles": lambda: Choice("f", {"a": None}),  # type: ignore[dict-item]
    "default 'c' must be one of: a, b": lambda: Choice("f", ["a", "b"], default="c"),
    "default must be a list of options": lambda: Choices("f", ["a"], default="a"),
    "default ['c'] must contain only these: a, b": lambda: Choices("f", ["a", "b"], default=["c"]),
    "default [] needs at least 1 choice": lambda: Choices("f", ["a"], min_items=1, default=[]),
    "min_items 2 is above max_items 1": lambda: Choices("f", ["a", "b"], min_items=2, max_items=1),
    "min_items 2 is more than there are options": lambda: Choices("f", ["a"], min_items=2),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_cannot_be_asked_is_refused_at_once_with_the_name_of_the_field(sentence: str) -> None:
    with pytest.raises(InvalidForm) as refused:
        REFUSED[sentence]()
    assert refused.value.path == "f"
    assert sentence in str(refused.value)


@pytest.mark.parametrize("name", ["", None, 3])
def test_a_field_needs_a_name(name: object) -> None:
    with pytest.raises(InvalidForm, match="needs a name"):
        Text(name)  # type: ignore[arg-type]


@pytest.mark.parametrize("pattern", [r"(?P<n>a)", r"(?i)a", r"a++", r"(?>a)", r"\Aa", r"(?#b)a", "(a)(?(1)b)", "a{,2}"])
def test_a_pattern_in_pythons_own_dialect_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidForm, match="clients do not support"):
        Text("f", pattern=pattern)


@pytest.mark.parametrize("pattern", [r"^[*+]+$", r"\\A", r"[]A\]]", r"^(?=b)(?!c)(?:d|e)", r"a+?", r"a}+", r"^\+\d"])
def test_a_pattern_that_clients_know_too_is_taken(pattern: str) -> None:
    assert Text("f", pattern=pattern).pattern == pattern
