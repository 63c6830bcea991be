"""No text that a stranger sends takes long: every function of `core` that reads text, on long and odd ones."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import example, given

from midcall.core.adopted import AdoptedQuestion
from midcall.core.forms.check import check
from midcall.core.forms.fields import Choice, Choices, Number, Text
from midcall.core.forms.form import Form
from midcall.core.forms.formats import is_date, is_date_time, is_email, is_uri
from midcall.core.forms.line_input import read, search
from midcall.core.forms.patterns import can_compile, is_portable, make_portable
from midcall.core.forms.schema import find_hazards, is_line_of_choices
from midcall.core.forms.secrets import message_asks_for_secret, secret_fields, secret_properties
from midcall.core.journal import read_head
from midcall.core.question import Question, Visit
from midcall.core.remembered import shorten
from midcall.core.text import conceal, plain, plain_line, reveal
from midcall.core.types.options import humanize
from midcall.core.urls import check_address, find_links, is_loopback, is_safe, is_web_url, network_of, parse_url
from midcall.core.wire import escape_halves, find_half_character, find_unsendable
from midcall.errors import InvalidJournal
from midcall.settings.calls import PATTERN_CHARACTERS
from tests.budget import cpu_budget
from tests.long_texts import MORE_CHARACTERS, Long, assert_fast, long_texts, some

MANY = Choices("x", ["a", "b, c", "d", *map(str, range(50))])
EMAIL, PATTERN = Form(Text("x", format="email")), Form(Text("x", pattern="^(a+)+$"))


def from_schema(text: str) -> object:
    prop = {"type": "string", "title": text, "description": text, "pattern": text, "default": text, "format": text}
    return Form.from_schema({"type": "object", "properties": {text: prop}}, strict=False)


def adopt(text: str) -> object:
    """What a proxy does with a question of another server."""
    prop = {"type": "string", "title": text, "description": text, "pattern": text, "default": text}
    schema = {"type": "object", "properties": {text[:300]: prop}}
    return AdoptedQuestion({"message": text, "requestedSchema": schema})


def read_head_of_journal(text: str) -> None:
    with suppress(InvalidJournal):
        read_head(f"midcall/4 {text}")


def find_hazards_in_fields(text: str) -> object:
    """The same text in fields whose patterns are short enough to be run."""
    pieces = [text[at : at + PATTERN_CHARACTERS] for at in range(0, len(text), PATTERN_CHARACTERS)]
    return find_hazards({"properties": {f"x{at}": {"pattern": piece} for at, piece in enumerate(pieces)}})


FUNCTIONS: dict[str, Callable[[str], object]] = {
    "plain": plain,
    "plain_line": plain_line,
    "conceal": conceal,
    "reveal": reveal,
    "shorten": shorten,
    "humanize": humanize,
    "read_head": read_head_of_journal,
    "find_links": find_links,
    "network_of": network_of,
    "parse_url": parse_url,
    "is_loopback": is_loopback,
    "is_safe": is_safe,
    "is_web_url": is_web_url,
    "check_address": check_address,
    "check_address of a path": lambda text: check_address(f"https://a.example/?{text}"),
    "find_half_character": find_half_character,
    "escape_halves": escape_halves,
    "find_unsendable": find_unsendable,
    "can_compile": can_compile,
    "can_compile, cut": lambda text: can_compile(text[:2_000]),
    "is_portable": is_portable,
    "is_portable, cut": lambda text: is_portable(text[:PATTERN_CHARACTERS]),
    "make_portable": make_portable,
    "make_portable, cut": lambda text: make_portable(text[:PATTERN_CHARACTERS]),
    "find_hazards of one field": lambda text: find_hazards({"properties": {"x": {"pattern": text}}}),
    "find_hazards of many fields": find_hazards_in_fields,
    "is_line_of_choices": is_line_of_choices,
    "message_asks_for_secret": message_asks_for_secret,
    "secret_fields": lambda text: secret_fields(Form(Text("x", title=text))),
    "secret_properties": lambda text: secret_properties({"properties": {text: {"type": "string", "title": text}}}),
    "is_date": is_date,
    "is_date_time": is_date_time,
    "is_email": is_email,
    "is_uri": is_uri,
    "read a number": lambda text: read(Number("x"), text),
    "read choices": lambda text: read(MANY, text),
    "read a choice": lambda text: read(Choice("x", {"a": text, "b": "B"}), "b"),
    "search choices": lambda text: search(MANY, [text]),
    "check an email": lambda text: check(EMAIL, {"x": text}),
    "check a pattern": lambda text: check(PATTERN, {"x": text}),
    "check choices": lambda text: check(Form(MANY), {"x": list(text)}),
    "a form": from_schema,
    "a question": lambda text: Question(text, Form(Text("x", title=text, description=text))),
    "an adopted question": adopt,
    "a visit": lambda text: Visit(text, f"https://a.example/{text}"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@some
@given(text=long_texts)
@example(text="[x](.)")
@example(text=Long((")",), "http://a", characters=MORE_CHARACTERS))
@example(text=Long(("(", ")"), "https://a/", characters=MORE_CHARACTERS))
@example(text=Long(("www.",), characters=MORE_CHARACTERS))
@example(text=Long(("\u0301\u0316",), "https:/\t/a", characters=MORE_CHARACTERS))
@example(text=Long(("[",), characters=MORE_CHARACTERS))
@example(text=Long(("1",), "{", characters=MORE_CHARACTERS))
@example(text=Long(("(?=a)",), "^", characters=MORE_CHARACTERS))
def test_a_long_odd_text_is_read_in_bounded_time(name: str, text: Long | str) -> None:
    assert_fast(FUNCTIONS[name], text)


def test_the_empty_target_of_a_link_is_not_a_link() -> None:
    with cpu_budget(1):
        assert find_links("[x](.)", "[y](!!)") == ()


def test_the_brackets_around_a_link_are_not_part_of_it() -> None:
    with cpu_budget(1):
        found = find_links("(see https://a.example/b_(c)), https://d.example/)).")
    assert found == ("https://a.example/b_(c)", "https://d.example/")
