from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given as given_any
from hypothesis import strategies as st

from midcall.cli.call.arguments import BadArgument, read, split
from midcall.cli.tools.schemas import describe, kinds_of

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer", "minimum": 1},
        "share": {"type": "number"},
        "flag": {"type": "boolean"},
        "board": {"enum": ["half", "full", 3]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "numbers": {"type": "array", "items": {"type": "integer"}},
        "extra": {"type": "object"},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "trip": {"$ref": "#/$defs/Trip"},
        "colour": {"$ref": "#/$defs/Colour"},
        "free": {},
    },
    "$defs": {
        "Trip": {"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]},
        "Colour": {"enum": ["red", "green"], "type": "string"},
    },
}


def value(text: str) -> Any:
    [found] = read(split([text]), SCHEMA).values()
    return found


def outcome(text: str, schema: dict[str, Any]) -> dict[str, Any] | str:
    """The arguments, or the name of the one that is complained about."""
    try:
        return read(split([text]), schema)
    except BadArgument as error:
        return str(error).partition(":")[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("text=5", "5"),
        ("text=", ""),
        ("text=a=b", "a=b"),
        ("text= true ", " true "),
        ("count=5", 5),
        ("share=5", 5),
        ("share=.5", 0.5),
        ("share=1e3", 1000.0),
        ("flag=YES", True),
        ("flag=n", False),
        ("board=Full", "full"),
        ("board=3", 3),
        ("tags=a", ["a"]),
        ('tags=["a", "b"]', ["a", "b"]),
        ("numbers=7", [7]),
        ("numbers=[]", []),
        ('extra={"a": [1]}', {"a": [1]}),
        ("maybe=3", 3),
        ("maybe=null", None),
        ("maybe=", None),
        ("either=3", 3),
        ("either=three", "three"),
        ('trip={"days": 3}', {"days": 3}),
        ("colour=GREEN", "green"),
        ("free=[1]", [1]),
        ("free=word", "word"),
        ('text:="5"', "5"),
        ("extra:={}", {}),
    ],
)
def test_a_value_is_read_as_the_schema_wants_it(text: str, expected: Any) -> None:
    found = value(text)
    assert (found, type(found)) == (expected, type(expected))


def test_a_list_can_be_given_item_by_item() -> None:
    assert read(split(["tags=a", "tags=b,c"]), SCHEMA) == {"tags": ["a", "b,c"]}
    assert read(split(["numbers=1", "numbers:=2"]), SCHEMA) == {"numbers": [1, 2]}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("count=five", "count: must be a whole number, not 'five'"),
        ("count=5.5", "count: must be a whole number"),
        ("count=0", "count: 0 is less than the minimum of 1"),
        ("count=", "count: must be a whole number"),
        ("share=2,5", "share: must be a number"),
        ("share=nan", "share: must be a number"),
        ("flag=maybe", "flag: must be yes or no"),
        ("board=some", "board: must be one of half, full, 3, not 'some'"),
        ("numbers=x", "numbers: must be a whole number"),
        ("numbers=[1, 2", "numbers: this is not JSON"),
        ("extra=x", "extra: must be an object, as JSON"),
        ("trip={}", "trip: 'days' is a required property"),
        ("text:=5", "text: 5 is not of type 'string'"),
        ("text:=x", "text: this is not JSON"),
        ("txet=x", "txet: the tool has no such argument. Did you mean 'text'?"),
        ("zzz=1", "zzz: the tool has no such argument. It takes board, colour, count"),
        ("text", "'text': an argument is written as key=value, or key:=json"),
        ("=5", "'=5': an argument is written as key=value"),
        (":=5", "':=5': an argument is written as key=value"),
        ("text=@/no/such/file", "text: the file '/no/such/file' cannot be read"),
    ],
)
def test_an_argument_that_cannot_be_read_is_named_in_the_error(text: str, told: str) -> None:
    with pytest.raises(BadArgument) as caught:
        value(text)
    assert str(caught.value).startswith(told)


def test_a_repeated_argument_that_is_not_a_list_is_reported() -> None:
    with pytest.raises(BadArgument, match="text: given more than once, but it is not a list"):
        read(split(["text=a", "text=b"]), SCHEMA)


def test_all_missing_arguments_are_listed_with_their_types() -> None:
    with pytest.raises(BadArgument, match=r"missing: count \(a whole number\), tags \(a list of text\)"):
        read(split(["text=a"]), {**SCHEMA, "required": ["text", "count", "tags"]})


def test_a_file_can_be_given(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("much\ntext", "utf-8")
    (tmp_path / "a.json").write_text('{"a": 1}')
    (tmp_path / "a.bin").write_bytes(b"\xff")
    assert value(f"text=@{tmp_path / 'a.txt'}") == "much\ntext"
    assert value(f"extra:=@{tmp_path / 'a.json'}") == {"a": 1}
    with pytest.raises(BadArgument, match="not text in UTF-8"):
        value(f"text=@{tmp_path / 'a.bin'}")


def test_a_tool_that_takes_anything_is_given_anything() -> None:
    assert read(split(["a=1", "b=x"]), {"type": "object", "additionalProperties": True}) == {"a": 1, "b": "x"}
    assert read(split(["a=1"]), {"type": "object"}) == {"a": 1}
    with pytest.raises(BadArgument, match="It takes none"):
        read(split(["a=1"]), {"type": "object", "properties": {}})


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$ref": "#/$defs/A"}}},
        {"properties": {"a": {"$ref": "https://example.com/schema"}}},
        {"properties": {"a": {"type": "nonsense"}}},
        {"properties": {"a": True}},
        {"properties": {"a": {"type": 7, "enum": "x"}}},
        {"properties": {"a": {"anyOf": [{}]}}},
    ],
)
def test_a_schema_that_cannot_be_understood_leaves_the_last_word_to_the_server(schema: dict[str, Any]) -> None:
    for kind in kinds_of(schema).values():
        assert describe(kind)
    assert outcome("a=x", schema) in ({"a": "x"}, "a")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given_any(JSON)
def test_any_json_can_be_given_as_it_is(data: Any) -> None:
    assert value(f"free:={json.dumps(data)}") == data


@given_any(st.text().filter(lambda text: not text.startswith("@")))
def test_an_argument_of_type_text_is_never_converted(text: str) -> None:
    assert value(f"text={text}") == text


@given_any(st.sampled_from(sorted(SCHEMA["properties"])), st.text().filter(lambda text: not text.startswith("@")))
def test_any_input_becomes_a_valid_value_or_an_error_with_the_name(name: str, text: str) -> None:
    found = outcome(f"{name}={text}", SCHEMA)
    assert found == name or set(found) == {name}


@given_any(st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"]), JSON)
def test_a_plain_type_is_judged_as_a_validator_does(kind: str, data: Any) -> None:
    schema = {"type": "object", "properties": {"a": {"type": kind, "title": "A"}}}
    fits = jsonschema.Draft202012Validator(schema).is_valid({"a": data})
    assert outcome(f"a:={json.dumps(data)}", schema) == ({"a": data} if fits else "a")


def test_a_schema_with_types_only_loads_no_validator() -> None:
    program = (
        "import sys; from midcall.cli.call.arguments import read, split; "
        "read(split(['a=x', 'b=1']), {'properties': {'a': {'type': 'string'}, 'b': {'type': 'integer'}}}); "
        "sys.exit('jsonschema' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
