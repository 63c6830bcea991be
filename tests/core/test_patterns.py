"""Patterns of others: those that could take for ever are left to the server that sent them."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from midcall.core.forms.check import check
from midcall.core.forms.form import Form
from midcall.core.forms.patterns import is_safe

FEARED = [
    "^(a+)+$",
    "^(a*)*$",
    "(a|a)*b",
    "(a|aa)+$",
    r"^(\w+\s?)*$",
    r"^([a-zA-Z0-9])(([\-.]|[_]+)?([a-zA-Z0-9]+))*$",
    "(x+x+)+y",
    "(.*a){20}",
    "a*a*a*a*b",
    r"(a+)\1+$",
    "(?=(a+)+$)b",
    "((a{1,200}){1,200}){1,200}",
    "((a{1,20}){1,20}){1,20}b",
]
TAME = ["^[A-Z]{3}-[0-9]{4}$", "^[a-z]+$", "^[0-9]{5}$", "[0-9]", "^(yes|no)$", r"^\+?[0-9]{6,14}$", "^.{2,40}$", ""]


@pytest.mark.parametrize("pattern", FEARED)
@pytest.mark.parametrize("longest", [None, 40, 100_000])
def test_patterns_that_could_take_for_ever_are_not_tame(pattern: str, longest: int | None) -> None:
    assert not is_safe(pattern, longest)


@pytest.mark.parametrize("pattern", TAME)
def test_patterns_as_people_write_them_are_tame(pattern: str) -> None:
    assert is_safe(pattern, None)


def test_a_short_text_may_be_searched_with_more() -> None:
    assert is_safe("^[a-z]+@[a-z]+$", 200)
    assert not is_safe("^[a-z]+@[a-z]+$", None)
    assert not is_safe("a+b", None)


@pytest.mark.parametrize("pattern", ["^[[a]b]$", "[]--]", "[a||b]", "[^[:alpha:]]"])
def test_a_pattern_that_python_warns_about_is_left_to_the_server(pattern: str) -> None:
    schema = {"type": "object", "properties": {"x": {"type": "string", "pattern": pattern}}, "required": ["x"]}
    form = Form.from_schema(schema, strict=False)
    assert check(form, {"x": "anything"}) == ()


@pytest.mark.parametrize("pattern", [r"^\[[a-z]\]$", "^[a-z]|[0-9]$", "^[-a]$"])
def test_a_pattern_with_several_sets_is_safe(pattern: str) -> None:
    assert is_safe(pattern, 10)


@given(st.text())
@example("[[")
def test_anything_can_be_looked_at(pattern: str) -> None:
    assert is_safe(pattern, 10) in (True, False)


@pytest.mark.parametrize("pattern", FEARED)
def test_a_hostile_pattern_does_not_hang_who_fills_the_form(pattern: str) -> None:
    schema = {"type": "object", "properties": {"x": {"type": "string", "pattern": pattern}}, "required": ["x"]}
    form = Form.from_schema(schema, strict=False)
    assert check(form, {"x": "a" * 40 + "!"}) == ()


def test_an_authors_own_pattern_is_unchanged() -> None:
    schema = {"type": "object", "properties": {"x": {"type": "string", "pattern": "^(ab?)+$"}}, "required": ["x"]}
    assert Form.from_schema(schema).schema()["properties"]["x"]["pattern"] == "^(ab?)+$"
    assert re.search("^(ab?)+$", "aab")
