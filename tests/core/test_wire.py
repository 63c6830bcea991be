"""What cannot be written to the wire is refused when the question is made, with its place."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from midcall import Choice, Choices, Flag, Form, Number, Question, Text
from midcall.core.adopted import AdoptedQuestion
from midcall.core.forms.check import check
from midcall.core.question import Visit
from midcall.core.wire import find_half_character, find_unsendable
from midcall.errors import InvalidForm, InvalidQuestion

HALF = "half \ud83d"
"""The first half of a character, as it is cut out of UTF-16, or left by `surrogateescape`."""

HERE = "https://example.com"


def is_legible(error: InvalidQuestion) -> bool:
    """Whether the error itself can be logged."""
    return bool(str(error).encode() and error.for_model.encode() and error.advice)


# --- texts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "place"),
    [
        (lambda: Question(HALF, str), "message"),
        (lambda: Visit(HALF, HERE), "message"),
        (lambda: Visit("Go", f"{HERE}/{HALF[-1]}"), "URL"),
        (lambda: Visit("Go", HERE, id=HALF), "id"),
        (lambda: Visit("Go", lambda id: f"{HERE}/{HALF[-1]}").address("1"), "URL"),
        (lambda: AdoptedQuestion({"message": HALF, "requestedSchema": {"type": "object"}}), "message"),
    ],
)
def test_a_question_with_half_a_character_is_refused(make: Any, place: str) -> None:
    with pytest.raises(InvalidQuestion) as refused:
        make()
    assert place in str(refused.value)
    assert "half a character" in str(refused.value)
    assert is_legible(refused.value)


FIELDS: list[tuple[Any, str, str]] = [
    (lambda: Text(HALF), "half \\ud83d", "name"),
    (lambda: Text("a", title=HALF), "a", "title"),
    (lambda: Number("a", description=HALF), "a", "description"),
    (lambda: Flag("a", title=HALF), "a", "title"),
    (lambda: Text("a", default=HALF), "a", "default"),
    (lambda: Text("a", pattern=HALF), "a", "pattern"),
    (lambda: Choice("a", ["b", HALF]), "a", "options"),
    (lambda: Choice("a", {"b": HALF}), "a", "options"),
    (lambda: Choices("a", {"b": "B", HALF: "C"}), "a", "options"),
]


@pytest.mark.parametrize(("make", "path", "place"), FIELDS)
def test_a_field_with_half_a_character_is_refused(make: Any, path: str, place: str) -> None:
    with pytest.raises(InvalidForm) as refused:
        make()
    assert refused.value.path == path
    assert place in refused.value.text
    assert str(refused.value).encode()


def test_in_a_type_it_is_named_as_the_type_names_it() -> None:
    class Trip(BaseModel):
        days: int = Field(description=HALF)

    @dataclass
    class Seat:
        side: Literal["a", "b\udc00"]

    for kind, path in ((Trip, "Trip.days"), (Seat, "Seat.side")):
        with pytest.raises(InvalidForm, match="half a character") as refused:
            Question("?", kind)
        assert refused.value.path == path


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"a": {"type": "string", "title": HALF}}, "properties.a"),
        ({HALF: {"type": "string"}}, "properties.half \\ud83d"),
        ({HALF: {"type": "object"}}, "properties.half \\ud83d.type"),
        ({"a": {"type": "string", "enum": ["x", HALF]}}, "properties.a"),
    ],
)
def test_in_a_raw_schema_it_has_its_path(schema: Any, path: str) -> None:
    with pytest.raises(InvalidForm) as refused:
        Question("?", {"type": "object", "properties": schema})
    assert refused.value.path == path
    assert str(refused.value).encode()


@given(st.text(st.characters(), max_size=8))
def test_a_text_is_asked_or_refused_and_never_fails_later(text: str) -> None:
    """`st.characters()` has the lone surrogates, too."""
    halves = [index for index, character in enumerate(text) if "\ud800" <= character <= "\udfff"]
    assert find_half_character(text) == (halves[0] if halves else None)
    if halves:
        with pytest.raises(InvalidQuestion):
            Question(f"a{text}", str)
    else:
        form = Form(Text(f"a{text}", title=text, description=text), Choice("c", {text: text}))
        assert json.dumps(form.schema(), ensure_ascii=False).encode()
        assert json.dumps(form.schema("2025-06-18"), ensure_ascii=False).encode()
        assert Question(f"a{text}", form, not_secret="these texts are random").digest


@given(st.text(st.characters(), max_size=8))
def test_an_answer_with_half_a_character_does_not_fit(text: str) -> None:
    """No client could have sent it; but one in this process might, and the tool would send it on."""
    problems = check(Form(Text("a", required=True)), {"a": text})
    assert [problem.code for problem in problems] == ([] if find_half_character(text) is None else ["unicode"])


# --- meta ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("meta", "place"),
    [
        ({"x": object()}, "meta.x"),
        ({"x": {"y": [1, {"z": date(2026, 7, 28)}]}}, "meta.x.y[1].z"),
        ({"x": HALF}, "meta.x"),
        ({"x": {HALF: 1}}, "meta.x"),
        ({"x": float("nan")}, "meta.x"),
        ({"x": float("inf")}, "meta.x"),
        ({"x": {1, 2}}, "meta.x"),
        ({"x": b"bytes"}, "meta.x"),
        ({1: "x"}, "meta"),
        ({"x": {None: 1}}, "meta.x"),
        ("x", "meta"),
        ([("a", 1)], "meta"),
    ],
    ids=lambda case: type(case).__name__ if not isinstance(case, str) else case,
)
@pytest.mark.parametrize("kind", ["form", "visit"])
def test_meta_that_json_cannot_hold_is_refused_with_its_place(meta: Any, place: str, kind: str) -> None:
    with pytest.raises(InvalidQuestion) as refused:
        _ = Question("?", str, meta=meta) if kind == "form" else Visit("?", HERE, meta=meta)
    assert f"{place} " in f"{refused.value} "
    assert is_legible(refused.value)


def test_meta_that_holds_itself_is_refused() -> None:
    meta: dict[str, Any] = {}
    meta["again"] = [meta]
    with pytest.raises(InvalidQuestion, match=r"meta\.again\[0\]"):
        Question("?", str, meta=meta)


def test_meta_that_is_nested_too_deep_is_refused() -> None:
    meta: dict[str, Any] = {}
    for _ in range(100_000):
        meta = {"x": meta}
    with pytest.raises(InvalidQuestion, match="meta"):
        Question("?", str, meta=meta)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), JSON, max_size=3))
def test_plain_data_is_taken_as_it_is(meta: dict[str, Any]) -> None:
    assert find_unsendable(meta) is None
    assert Question("?", str, meta=meta).meta == meta


@given(st.dictionaries(st.text(), JSON, max_size=3), st.sampled_from([object(), HALF, float("nan"), b"", {1}]))
def test_one_bad_value_anywhere_is_found(meta: dict[str, Any], bad: Any) -> None:
    place = find_unsendable({"x": [meta, {"y": bad}]})
    assert place is not None
    assert place.path == ".x[1].y"


# --- other things that are not questions ---------------------------------------------------------


@pytest.mark.parametrize("url", [None, 7, b"https://example.com", object()], ids=lambda url: type(url).__name__)
def test_a_visit_leads_to_a_text_or_a_function(url: Any) -> None:
    with pytest.raises(InvalidQuestion, match="URL"):
        Visit("Go", url)


@pytest.mark.parametrize("id", [7, "", " "], ids=repr)
def test_the_id_of_a_visit_is_text(id: Any) -> None:
    with pytest.raises(InvalidQuestion, match="id"):
        Visit("Go", HERE, id=id)


@pytest.mark.parametrize("via", [set(), (), frozenset()], ids=repr)
def test_a_question_that_accepts_no_channel_is_refused(via: Any) -> None:
    for make in (lambda: Question("?", str, via=via), lambda: Visit("Go", HERE, via=via)):
        with pytest.raises(InvalidQuestion, match="via= names no channel, so"):
            make()


@pytest.mark.parametrize("via", [7, [["push"]], object()], ids=lambda via: type(via).__name__)
def test_via_is_a_collection_of_names(via: Any) -> None:
    with pytest.raises(InvalidQuestion, match="via="):
        Question("?", Annotated[int, Field(ge=1)], via=via)


@pytest.mark.parametrize("attempts", [0, "3", 1.5, True, None], ids=repr)
def test_attempts_is_a_whole_number(attempts: Any) -> None:
    with pytest.raises(InvalidQuestion, match="attempts="):
        Question("?", str, attempts=attempts)


@pytest.mark.parametrize("timeout", [0, -1, "3", float("nan"), True], ids=repr)
def test_a_timeout_is_a_number_of_seconds(timeout: Any) -> None:
    with pytest.raises(InvalidQuestion, match="timeout="):
        Question("?", str, timeout=timeout)
