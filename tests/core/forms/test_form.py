from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_types import _v2025_11_25 as era_2025
from mcp_types import _v2026_07_28 as era_2026
from pydantic import TypeAdapter

from midcall.core.forms.check import check, fill, tidy
from midcall.core.forms.fields import Choice, Choices, Flag, Number, Text
from midcall.core.forms.form import Form
from midcall.core.journal import Entry, Journal, decode, encode
from midcall.errors import InvalidForm
from midcall.protocol import FULL_FORMS, NEWEST
from tests.core.strategies import fitting_content, forms

OLD = "2025-06-18"
SOME_FORMS = settings(max_examples=60)

TRIP = Form(
    Text("name", title="Your name", description="As in the passport", min_length=1, max_length=40, pattern="^[A-Z]"),
    Text("mail", format="email", required=False),
    Number("age", integer=True, minimum=18, maximum=120, default=30),
    Number("budget", minimum=0.5),
    Flag("news", default=False),
    Choice("seat", ["window", "aisle"]),
    Choice("meal", {"v": "Vegan", "m": "Meat"}, default="v"),
    Choice("class", {"1": "First", "2": "Second"}, legacy=True),
    Choices("days", ["mon", "tue", "wed"], min_items=1, max_items=2, default=["mon"]),
    Choices("extras", {"bag": "Extra bag", "wifi": "Wi-Fi"}, required=False),
)


def test_the_schema_has_every_field_in_full() -> None:
    assert TRIP.schema() == {
        "type": "object",
        "properties": {
            "name": {
                "type": "string",
                "title": "Your name",
                "description": "As in the passport",
                "minLength": 1,
                "maxLength": 40,
                "pattern": "^[A-Z]",
            },
            "mail": {"type": "string", "format": "email"},
            "age": {"type": "integer", "minimum": 18, "maximum": 120, "default": 30},
            "budget": {"type": "number", "minimum": 0.5},
            "news": {"type": "boolean", "default": False},
            "seat": {"type": "string", "enum": ["window", "aisle"]},
            "meal": {
                "type": "string",
                "oneOf": [{"const": "v", "title": "Vegan"}, {"const": "m", "title": "Meat"}],
                "default": "v",
            },
            "class": {"type": "string", "enum": ["1", "2"], "enumNames": ["First", "Second"]},
            "days": {
                "type": "array",
                "items": {"type": "string", "enum": ["mon", "tue", "wed"]},
                "minItems": 1,
                "maxItems": 2,
                "default": ["mon"],
            },
            "extras": {
                "type": "array",
                "items": {"anyOf": [{"const": "bag", "title": "Extra bag"}, {"const": "wifi", "title": "Wi-Fi"}]},
            },
        },
        "required": ["name", "budget", "seat", "class"],
    }


def test_an_old_version_gets_only_what_it_can_show_and_the_rest_in_words() -> None:
    assert TRIP.schema(OLD) == {
        "type": "object",
        "properties": {
            "name": {
                "type": "string",
                "title": "Your name",
                "description": "As in the passport",
                "minLength": 1,
                "maxLength": 40,
            },
            "mail": {"type": "string", "format": "email"},
            "age": {"type": "integer", "minimum": 18, "maximum": 120, "description": "If left empty: 30."},
            "budget": {"type": "number", "minimum": 0.5},
            "news": {"type": "boolean", "default": False},
            "seat": {"type": "string", "enum": ["window", "aisle"]},
            "meal": {
                "type": "string",
                "enum": ["v", "m"],
                "enumNames": ["Vegan", "Meat"],
                "description": "If left empty: v (Vegan).",
            },
            "class": {"type": "string", "enum": ["1", "2"], "enumNames": ["First", "Second"]},
            "days": {
                "type": "string",
                "description": "Type at least 1 and at most 2 of these, separated by commas: mon, tue, wed. "
                "If left empty: mon.",
            },
            "extras": {
                "type": "string",
                "description": "Type any number of these, separated by commas: bag (Extra bag), wifi (Wi-Fi).",
            },
        },
        "required": ["name", "budget", "seat", "class"],
    }


def test_a_default_that_an_old_version_cannot_pre_fill_is_suggested_where_the_field_is_required() -> None:
    schema = Form(Text("city", description="Where to?", default="Oslo", required=True)).schema(OLD)
    assert schema["properties"]["city"]["description"] == "Where to? Suggested: Oslo."


@pytest.mark.parametrize(
    ("version", "lowered"),
    [("2024-11-05", True), (OLD, True), (FULL_FORMS, False), (NEWEST, False), ("2027-01-01", False)],
)
def test_versions_before_2025_11_25_are_lowered(version: str, lowered: bool) -> None:
    assert (TRIP.schema(version) == TRIP.schema(OLD)) == lowered
    assert (TRIP.schema(version) == TRIP.schema()) != lowered


@SOME_FORMS
@given(forms)
def test_the_sdk_takes_every_property_on_every_version(form: Form) -> None:
    for version, era in ((OLD, era_2025), (FULL_FORMS, era_2025), (NEWEST, era_2026)):
        properties = form.schema(version)["properties"]
        for prop in properties.values():
            TypeAdapter[Any](era.PrimitiveSchemaDefinition).validate_python(prop)


@SOME_FORMS
@given(forms)
def test_a_lowered_form_holds_nothing_that_2025_06_18_does_not_know(form: Form) -> None:
    for prop in form.schema(OLD)["properties"].values():
        assert not {"pattern", "oneOf", "items", "minItems", "maxItems"} & prop.keys()
        assert prop["type"] in ("string", "number", "integer", "boolean")
        assert "default" not in prop or prop["type"] == "boolean"


def test_the_schema_is_made_once() -> None:
    assert TRIP.schema() is TRIP.schema(FULL_FORMS)
    assert TRIP.schema(OLD) is TRIP.schema("2024-11-05")


@SOME_FORMS
@given(forms)
def test_a_form_survives_the_way_through_its_schema(form: Form) -> None:
    assert Form.from_schema(json.loads(json.dumps(form.schema()))) == form
    assert Form.from_schema(form.schema(), strict=False) == form
    assert Form.from_schema(form.schema()).digest == form.digest


def test_fields_keep_their_order() -> None:
    form = Form(Text("z"), Text("a"), Text("m"))
    assert form.names == ("z", "a", "m")
    assert list(form.schema()["properties"]) == ["z", "a", "m"]
    assert [field.name for field in form] == ["z", "a", "m"]
    assert len(form) == 3
    assert form != Form(Text("a"), Text("z"), Text("m"))


def test_a_field_is_found_by_its_name() -> None:
    assert TRIP.field("news") == Flag("news", default=False)
    with pytest.raises(KeyError):
        TRIP.field("other")


def test_a_form_without_fields_is_refused() -> None:
    with pytest.raises(InvalidForm, match=r"confirm\(\)"):
        Form()


def test_two_fields_of_one_name_are_refused() -> None:
    with pytest.raises(InvalidForm) as refused:
        Form(Text("a"), Number("a"))
    assert refused.value.path == "a"


@pytest.mark.parametrize("given", ["name", [Text("a")], {"a": str}])
def test_a_form_takes_nothing_but_fields(given: Any) -> None:
    with pytest.raises(InvalidForm, match="takes Text, Number"):
        Form(given)


def test_a_form_never_changes() -> None:
    with pytest.raises(AttributeError):
        TRIP.fields = ()  # type: ignore[misc]
    with pytest.raises(AttributeError):
        TRIP.other = 1  # type: ignore[attr-defined]


def test_a_form_is_a_value() -> None:
    assert pickle.loads(pickle.dumps(TRIP)) == TRIP
    assert copy.deepcopy(TRIP) == TRIP
    assert hash(copy.copy(TRIP)) == hash(TRIP)
    assert TRIP != "a form"
    assert repr(Form(Flag("a"))).startswith("Form(Flag(name='a'")


def test_the_digest_names_what_the_form_asks() -> None:
    assert len(TRIP.digest) == 12
    assert Form(Text("a")).digest == Form(Text("a")).digest
    different = [
        Form(Text("a")),
        Form(Text("a", title="A")),
        Form(Text("a", required=False)),
        Form(Text("a"), Text("b")),
        Form(Text("b"), Text("a")),
        Form(Number("a")),
    ]
    assert len({form.digest for form in different}) == len(different)


def test_the_digest_never_changes_since_calls_under_way_are_known_by_it() -> None:
    assert Form(Text("a", title="A"), Choices("b", {"x": "X"}, required=False)).digest == "dM4NrE8RCPn6"


def test_the_digest_is_the_same_in_another_process() -> None:
    script = (
        "from midcall.core.forms.form import *; from midcall.core.forms.fields import *; "
        "print(Form(Text('a', title='é')).digest)"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONHASHSEED": "7"}
    ran = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == Form(Text("a", title="é")).digest


# --- lifting -----------------------------------------------------------------------------------

DAYS = Choices("days", {"mon": "Monday", "tue": "Tuesday, maybe", "a,b": "Both"}, required=False)


@pytest.mark.parametrize(
    ("line", "items"),
    [
        ("mon,tue", ["mon", "tue"]),
        ("  mon ,  TUE ", ["mon", "tue"]),
        ("monday, both", ["mon", "a,b"]),
        ("a,b, Tuesday, maybe, mon", ["a,b", "tue", "mon"]),
        ("mon, someday", ["mon", "someday"]),
        ("mon,,tue,", ["mon", "tue"]),
        ("mon, Monday, tue, MON", ["mon", "tue"]),
        ("Tuesday", ["Tuesday"]),
    ],
)
def test_a_typed_line_becomes_the_choices_it_names(line: str, items: list[str]) -> None:
    assert Form(DAYS).lift({"days": line}, OLD) == {"days": items}


def test_an_unknown_item_is_left_for_the_check_to_report() -> None:
    form = Form(DAYS)
    (problem,) = check(form, form.lift({"days": "mon, someday"}, OLD))
    assert str(problem) == "days: must contain only these: Monday, Tuesday, maybe, Both"


def test_options_that_differ_only_in_case_are_distinguished() -> None:
    form = Form(Choices("c", ["a", "A", "b"]))
    assert form.lift({"c": "A, a, B"}, OLD) == {"c": ["A", "a", "b"]}


def test_an_empty_line_is_no_answer_where_none_is_needed_and_no_choice_where_one_is() -> None:
    form = Form(
        Choices("a", ["x"], required=False, min_items=1), Choices("b", ["x"]), Choices("c", ["x"], default=["x"])
    )
    lifted = form.lift({"a": " ", "b": "", "c": ""}, OLD)
    assert lifted == {"b": []}
    assert check(form, lifted) == ()
    assert fill(form, lifted) == {"b": [], "c": ["x"]}


def test_nothing_is_lifted_that_was_not_lowered() -> None:
    content = {"days": ["mon"], "name": "a,b", "other": 1}
    assert Form(DAYS, Text("name")).lift(content, NEWEST) == content
    assert Form(DAYS, Text("name")).lift(content, OLD) == content
    assert Form(DAYS).lift(content, NEWEST) is not content


@settings(SOME_FORMS, max_examples=120)
@given(forms.flatmap(lambda form: st.tuples(st.just(form), fitting_content(form))))
def test_what_an_old_client_types_is_lifted_to_what_a_new_one_sends(case: tuple[Form, dict[str, Any] | None]) -> None:
    form, content = case
    if content is None:
        return
    typeable = {
        field.name: [item for item in content[field.name] if item == item.strip() and item and "," not in item]
        for field in form
        if isinstance(field, Choices) and field.name in content
    }
    typed = content | {name: ", ".join(items) for name, items in typeable.items()}
    once = {name: list(dict.fromkeys(items)) for name, items in typeable.items()}
    expected = content | {name: items for name, items in once.items() if items or form.field(name).required}
    for name, items in typeable.items():
        if not items and not form.field(name).required:
            del expected[name]
    assert form.lift(typed, OLD) == expected


def test_what_could_not_be_sent_is_still_enforced() -> None:
    form = Form(Text("code", pattern="^[A-Z]{3}$"), Choices("days", ["mon", "tue"], max_items=1))
    lifted = form.lift({"code": "abc", "days": "mon, tue"}, OLD)
    assert [problem.code for problem in check(form, tidy(form, lifted))] == ["pattern", "too_many"]


# --- raw schemas -------------------------------------------------------------------------------


def with_property(prop: Any, **root: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": prop}, **root}


def test_a_raw_schema_with_what_generators_add_is_taken() -> None:
    schema = with_property({"type": "string"}, title="T", description="D", additionalProperties=False)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    assert Form.from_schema(schema) == Form(Text("x", required=False))


TEXT = {"type": "string"}
REFUSED: list[tuple[str, Any]] = [
    ("", []),
    ("type", {}),
    ("type", {"type": "array", "properties": {}}),
    ("properties", {"type": "object"}),
    ("properties", {"type": "object", "properties": [1]}),
    ("properties.x", with_property(3)),
    ("properties.x.type", with_property({})),
    ("properties.x.type", with_property({"type": "null"})),
    ("properties.x.type", with_property({"type": ["string", "null"]})),
    ("properties.x.type", with_property({"type": "object"})),
    ("properties.x.properties", with_property({"type": "object", "properties": {"city": TEXT}})),
    ("properties.x.$ref", with_property({"$ref": "#/$defs/Address"}, **{"$defs": {}})),
    ("properties.x.anyOf", with_property({"anyOf": [TEXT, {"type": "null"}]})),
    ("properties.x.allOf", with_property({"allOf": [TEXT]})),
    ("properties.x.minimum", with_property({"type": "string", "minimum": 1})),
    ("properties.x.multipleOf", with_property({"type": "integer", "multipleOf": 2})),
    ("properties.x.exclusiveMinimum", with_property({"type": "number", "exclusiveMinimum": 2})),
    ("properties.x.enum", with_property({"type": "integer", "enum": [1, 2]})),
    ("properties.x.const", with_property({"type": "string", "const": "a"})),
    ("properties.x.examples", with_property({"type": "string", "examples": ["a"]})),
    ("properties.x.minLength", with_property({"type": "string", "enum": ["a"], "minLength": 1})),
    ("properties.x.title", with_property({"type": "string", "title": 3})),
    ("properties.x.description", with_property({"type": "string", "description": None})),
    ("properties.x.default", with_property({"type": "string", "default": None})),
    ("properties.x", with_property({"type": "string", "default": 3})),
    ("properties.x", with_property({"type": "string", "format": "phone"})),
    ("properties.x.format", with_property({"type": "string", "format": 3})),
    ("properties.x", with_property({"type": "string", "pattern": "("})),
    ("properties.x.pattern", with_property({"type": "string", "pattern": 3})),
    ("properties.x.minLength", with_property({"type": "string", "minLength": "1"})),
    ("properties.x.maxLength", with_property({"type": "string", "maxLength": True})),
    ("properties.x.minLength", with_property({"type": "string", "minLength": -1})),
    ("properties.x", with_property({"type": "string", "minLength": 3, "maxLength": 2})),
    ("properties.x.minimum", with_property({"type": "number", "minimum": "1"})),
    ("properties.x.maximum", with_property({"type": "number", "maximum": False})),
    ("properties.x.enum", with_property({"type": "string", "enum": "abc"})),
    ("properties.x.enum[1]", with_property({"type": "string", "enum": ["a", 1]})),
    ("properties.x", with_property({"type": "string", "enum": []})),
    ("properties.x", with_property({"type": "string", "enum": ["a", "a"]})),
    ("properties.x.enum", with_property({"type": "string", "enumNames": ["A"]})),
    ("properties.x.enum", with_property({"type": "string", "enum": ["a", "a"], "enumNames": ["A", "B"]})),
    ("properties.x.enumNames", with_property({"type": "string", "enum": ["a", "b"], "enumNames": ["A"]})),
    ("properties.x.oneOf", with_property({"type": "string", "enum": ["a"], "oneOf": [{"const": "a", "title": "A"}]})),
    ("properties.x.oneOf[0].title", with_property({"type": "string", "oneOf": [{"const": "a"}]})),
    ("properties.x.oneOf[0].const", with_property({"type": "string", "oneOf": [{"const": 1, "title": "A"}]})),
    ("properties.x.oneOf[1].const", with_property({"type": "string", "oneOf": [{"const": "a", "title": "A"}] * 2})),
    ("properties.x.oneOf[0].pattern", with_property({"type": "string", "oneOf": [{"pattern": "a"}]})),
    ("properties.x.oneOf[0]", with_property({"type": "string", "oneOf": ["a"]})),
    ("properties.x.items", with_property({"type": "array"})),
    ("properties.x.items.type", with_property({"type": "array", "items": {"type": "integer", "enum": ["a"]}})),
    ("properties.x.items.type", with_property({"type": "array", "items": {"enum": ["a"]}})),
    ("properties.x.items.enum", with_property({"type": "array", "items": TEXT})),
    ("properties.x.items.properties", with_property({"type": "array", "items": {"type": "object", "properties": {}}})),
    ("properties.x.items.$ref", with_property({"type": "array", "items": {"$ref": "#/$defs/A"}})),
    (
        "properties.x.items.minLength",
        with_property({"type": "array", "items": {**TEXT, "enum": ["a"], "minLength": 1}}),
    ),
    ("properties.x.items.anyOf[0].title", with_property({"type": "array", "items": {"anyOf": [{"const": "a"}]}})),
    (
        "properties.x.uniqueItems",
        with_property({"type": "array", "items": {**TEXT, "enum": ["a"]}, "uniqueItems": True}),
    ),
    ("required", with_property(TEXT, required="x")),
    ("required[0]", with_property(TEXT, required=["y"])),
    ("required[0]", with_property(TEXT, required=[1])),
    ("additionalProperties", with_property(TEXT, additionalProperties=True)),
    ("$defs", with_property(TEXT, **{"$defs": {}})),
    ("title", with_property(TEXT, title=3)),
    ("minProperties", with_property(TEXT, minProperties=1)),
]


@pytest.mark.parametrize(("path", "schema"), REFUSED)
def test_a_raw_schema_is_refused_with_the_path_of_what_mcp_does_not_know(path: str, schema: Any) -> None:
    with pytest.raises(InvalidForm) as refused:
        Form.from_schema(schema)
    assert refused.value.path == path


def test_the_refusal_of_a_nested_object_says_what_to_do() -> None:
    with pytest.raises(InvalidForm, match="make each part a field"):
        Form.from_schema(with_property({"type": "object", "properties": {}}))


@pytest.mark.parametrize(
    ("prop", "field"),
    [
        ({"type": "integer", "exclusiveMinimum": 2, "minimum": 1}, Number("x", integer=True, minimum=1)),
        ({"type": "string", "format": "phone", "examples": ["a"], "default": None}, Text("x")),
        ({"type": "string", "pattern": r"\p{L}"}, Text("x")),
        ({"type": "string", "pattern": "^a{99999999999999999999}"}, Text("x")),
        ({"type": "string", "const": "a"}, Choice("x", ["a"])),
        ({"enum": ["a", "b"]}, Choice("x", ["a", "b"])),
        ({"const": "a"}, Choice("x", ["a"])),
        ({"type": "array", "items": {"enum": ["a"]}}, Choices("x", ["a"])),
        ({"anyOf": [TEXT, {"type": "null"}], "title": "X", "default": None}, Text("x", title="X")),
        ({"type": "array", "items": {**TEXT, "enum": ["a"], "title": "A"}, "uniqueItems": True}, Choices("x", ["a"])),
        ({"type": "array", "items": {**TEXT, "const": "a"}}, Choices("x", ["a"])),
        ({"type": "array", "items": {**TEXT, "anyOf": [{"const": "a", "title": "A"}]}}, Choices("x", {"a": "A"})),
    ],
)
def test_a_loose_reading_passes_over_what_only_refines_a_field(prop: dict[str, Any], field: Any) -> None:
    schema = with_property(prop, required=["x"], **{"$defs": {}})
    assert Form.from_schema(schema, strict=False) == Form(field)


@pytest.mark.parametrize(
    "prop",
    [
        {"type": "object", "properties": {}},
        {"$ref": "#/$defs/A"},
        {"anyOf": [TEXT, {"type": "integer"}]},
        {"anyOf": [TEXT, {"type": "integer"}, {"type": "null"}]},
        {"type": "array", "items": TEXT},
        {"type": "array", "items": {"type": "object"}},
        {"type": "array", "items": {"enum": [1]}},
        {"enum": [1, "a"]},
        {"enum": []},
        {},
    ],
)
def test_a_loose_reading_still_rejects_an_invalid_field(prop: dict[str, Any]) -> None:
    with pytest.raises(InvalidForm):
        Form.from_schema(with_property(prop), strict=False)


@SOME_FORMS
@given(forms.flatmap(lambda form: st.tuples(st.just(form), fitting_content(form))))
def test_a_journal_keeps_the_value_alone_of_a_form_with_one_field_and_gives_back_the_content(
    case: tuple[Form, dict[str, Any] | None],
) -> None:
    form, content = case
    if content is not None:
        journal = Journal("call", entries={"?a": Entry("accept", 1, "a?", content)})
        journal.keep("?a", content, form.names)
        assert isinstance(journal.settled["?a"], dict) is not (len(form) == len(content) == 1)
        assert decode(encode(journal)).content("?a", form.names) == content
