from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from hypothesis import given, settings
from hypothesis import strategies as st

from midcall.core.forms.check import check, fill, tidy
from midcall.core.forms.fields import Choice, Choices, Field, Flag, Number, Text
from midcall.core.forms.form import Form
from midcall.language import use
from midcall.language.problems import Problem
from tests.core.strategies import content_for, forms

SOME_CASES = settings(max_examples=80)


def problems(field: Field, value: Any) -> list[tuple[str, str]]:
    return [(problem.code, problem.message) for problem in check(Form(field), {field.name: value})]


def test_a_problem_reads_as_the_field_and_a_sentence() -> None:
    assert str(Problem("age", "too_small", {"minimum": 18})) == "age: must be at least 18"
    assert str(Problem("", "value", {"reason": "the dates overlap"})) == "the dates overlap"


SENTENCES: list[tuple[Field, Any, list[tuple[str, str]]]] = [
    (Text("f"), "", []),
    (Text("f"), 3, [("type", "must be text")]),
    (Text("f"), None, [("type", "must be text")]),
    (Text("f", min_length=1), "", [("too_short", "must not be empty")]),
    (Text("f", min_length=3), "ab", [("too_short", "must have at least 3 characters")]),
    (Text("f", max_length=1), "ab", [("too_long", "must have at most 1 character")]),
    (Text("f", max_length=2), "😀😀", []),
    (Text("f", pattern="b"), "abc", []),
    (Text("f", pattern="^b"), "abc", [("pattern", "must match the pattern ^b")]),
    (Text("f", format="email"), "x", [("format", "must be an email address such as name@example.com")]),
    (Text("f", format="uri"), "x", [("format", "must be a full web address such as https://example.com")]),
    (Text("f", format="date"), "x", [("format", "must be a date such as 2026-07-28")]),
    (
        Text("f", format="date-time"),
        "2026-07-28T09:30:00",
        [("format", "must be a date and time with its offset such as 2026-07-28T09:30:00Z")],
    ),
    (Text("f", pattern="^[a-z]+$"), "main", []),
    (Text("f", pattern="^[a-z]+$"), "main\n", [("pattern", "must match the pattern ^[a-z]+$")]),
    (Text("f", pattern=r"^\d$"), "٣", [("pattern", r"must match the pattern ^\d$")]),
    (Number("f"), 1.5, []),
    (Number("f"), True, [("type", "must be a number")]),
    (Number("f"), "1", [("type", "must be a number")]),
    (Number("f"), float("nan"), [("type", "must be a number")]),
    (Number("f"), float("-inf"), [("type", "must be a number")]),
    (Number("f", integer=True), 1.0, []),
    (Number("f", integer=True), 10**30, []),
    (Number("f", integer=True), 1.5, [("type", "must be a whole number")]),
    (Number("f", integer=True), False, [("type", "must be a whole number")]),
    (Number("f", minimum=18), 17, [("too_small", "must be at least 18")]),
    (Number("f", maximum=0.5), 0.75, [("too_large", "must be at most 0.5")]),
    (Flag("f"), False, []),
    (Flag("f"), 0, [("type", "must be true or false")]),
    (Flag("f"), "true", [("type", "must be true or false")]),
    (Choice("f", ["a", "b", "c"]), "a", []),
    (Choice("f", ["a", "b", "c"]), "d", [("option", "must be one of: a, b, c")]),
    (Choice("f", {"w": "Window", "x": "x"}), "Window", [("option", "must be one of: Window, x")]),
    (Choice("f", ["a"]), ["a"], [("type", "must be text")]),
    (Choices("f", ["a", "b"]), ["a", "a"], []),
    (Choices("f", ["a", "b"]), "a", [("type", "must be a list of choices")]),
    (Choices("f", ["a", "b"]), ["a", "c", {}], [("option", "must contain only these: a, b")]),
    (Choices("f", ["a", "b"], min_items=1), [], [("too_few", "needs at least 1 choice")]),
    (Choices("f", ["a", "b"], max_items=1), ["a", "b"], [("too_many", "takes at most 1 choice")]),
]


@pytest.mark.parametrize(("field", "value", "expected"), SENTENCES)
def test_each_problem_is_a_code_and_a_sentence_for_the_user(
    field: Field, value: Any, expected: list[tuple[str, str]]
) -> None:
    assert problems(field, value) == expected


def test_a_whole_number_is_accepted_however_it_is_written() -> None:
    form = Form(Number("whole", integer=True), Number("other"))
    filled = fill(form, {"whole": 3.0, "other": 3.0})
    assert [type(value) for value in filled.values()] == [int, float]


def test_a_long_list_of_options_is_cut_short_in_the_sentence() -> None:
    many = Choice("f", [str(number) for number in range(200)])
    assert problems(many, "x") == [("option", "must be one of: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 188 more")]


def test_all_problems_are_reported_in_the_order_of_the_fields() -> None:
    form = Form(Text("code", min_length=4, pattern="^[A-Z]+$"), Number("age", minimum=18), Flag("ok"))
    assert [str(problem) for problem in check(form, {"age": 3, "code": "ab"})] == [
        "code: must have at least 4 characters",
        "code: must match the pattern ^[A-Z]+$",
        "age: must be at least 18",
        "ok: is required",
    ]


def test_an_optional_field_may_be_missing_and_an_unknown_key_is_ignored() -> None:
    form = Form(Text("a", required=False), Text("b", default="x"))
    assert check(form, {"other": 1}) == ()


@pytest.mark.parametrize("content", [None, [], "text", 3, True])
def test_content_that_is_not_an_object_is_one_problem_of_the_whole(content: object) -> None:
    (problem,) = check(Form(Text("a"), Text("b")), content)
    assert problem.field == ""
    assert problem.code == "type"


def test_any_mapping_is_an_object() -> None:
    assert check(Form(Text("a")), MappingProxyType({"a": "x"})) == ()


def test_tidying_drops_nulls_and_what_was_not_asked() -> None:
    form = Form(Text("a"), Text("b"), Flag("c"), Choices("d", ["x"]))
    assert tidy(form, {"c": False, "b": None, "a": "", "d": [], "other": 1}) == {"a": "", "c": False, "d": []}


def test_tidying_drops_an_empty_text_where_it_can_only_mean_left_empty() -> None:
    form = Form(
        Text("mail", format="email", required=False),
        Number("age", required=False),
        Choice("seat", ["w"], required=False),
        Text("note", required=False),
        Text("code", min_length=1),
    )
    assert tidy(form, dict.fromkeys(form.names, "")) == {"note": "", "code": ""}


def test_filling_applies_the_defaults_of_omitted_fields_in_the_order_of_the_form() -> None:
    form = Form(Text("a", default="x"), Text("b"), Choices("c", ["y"], default=["y"]), Text("d", required=False))
    filled = fill(form, {"b": "z"})
    assert list(filled.items()) == [("a", "x"), ("b", "z"), ("c", ["y"])]
    assert fill(form, {"c": [], "b": "", "a": ""}) == {"a": "", "b": "", "c": []}


def test_a_filled_default_can_be_changed_without_changing_the_form() -> None:
    form = Form(Choices("c", ["y"], default=["y"]))
    fill(form, {})["c"].append("z")
    assert fill(form, {}) == {"c": ["y"]}


@SOME_CASES
@given(forms.flatmap(lambda form: st.tuples(st.just(form), content_for(form))))
def test_what_passes_stays_right_when_it_is_tidied_and_filled(case: tuple[Form, dict[str, Any]]) -> None:
    form, content = case
    tidied = tidy(form, content)
    assert tidy(form, tidied) == tidied
    if not check(form, tidied):
        filled = fill(form, tidied)
        assert check(form, filled) == ()
        assert [name for name in form.names if name in filled] == list(filled)


def test_a_problem_is_described_in_the_current_language(tmp_path: Path) -> None:
    directory = tmp_path / "de" / "LC_MESSAGES"
    directory.mkdir(parents=True)
    catalog = Catalog("de")
    catalog.add("must be at least {minimum}", "muss mindestens {minimum} sein")
    with (directory / "midcall.mo").open("wb") as file:
        write_mo(file, catalog)
    (problem,) = check(Form(Number("age", minimum=18)), {"age": 17})
    with use(["de"], tmp_path):
        assert str(problem) == "age: muss mindestens 18 sein"
    assert str(problem) == "age: must be at least 18"
