"""Random forms, and random content for them: fitting, nearly fitting, and rubbish."""

from __future__ import annotations

from math import ceil, floor
from typing import Any

from hypothesis import strategies as st

from midcall.core.forms.fields import Choice, Choices, Field, Flag, Number, Text
from midcall.core.forms.form import Form

PATTERNS = {
    "^[A-Z]{3}$": ["ABC", "XYZ"],
    "[0-9]": ["7", "a1b"],
    "^$|^a+b?": ["", "aab", "a"],
    "é|ß": ["café", "Straße"],
}
FORMATTED = {
    "email": ["name@example.com", "a.b+c@x.org", '"q r"@[127.0.0.1]'],
    "uri": ["https://example.com/a?b#c", "urn:isbn:1", "mailto:a@b.c"],
    "date": ["2026-07-28", "2024-02-29"],
    "date-time": ["2026-07-28T09:30:00Z", "2024-02-29T23:59:59.25+05:30"],
}
NEARLY_FORMATTED = ["@example.com", "a@b@c", "//x/y", "http://", "2023-02-29", "2026-7-28", "2026-07-28T09:30:00", "é"]

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=4,
)
texts = st.sampled_from(["", "a", "A title", "été, 夏", "x" * 40, "two\nlines"]) | st.text(max_size=4)
names = st.sampled_from(["a", "age", "travel date", "名前", "$ref", "properties"]) | st.text(min_size=1, max_size=4)
numbers = st.integers(-50, 50) | st.floats(-50, 50) | st.integers(-(2**70), 2**70)
options = st.lists(texts, min_size=1, max_size=4, unique=True)


def labels() -> dict[str, st.SearchStrategy[Any]]:
    return {
        "title": st.none() | texts,
        "description": st.none() | texts,
        "required": st.sampled_from([None, True, False]),
    }


@st.composite
def bounds(draw: st.DrawFn, values: st.SearchStrategy[Any], low: str, high: str) -> dict[str, Any]:
    """None, one or both ends, in order."""
    ends = sorted([draw(values), draw(values)])
    return {low: draw(st.sampled_from([None, ends[0]])), high: draw(st.sampled_from([None, ends[1]]))}


@st.composite
def with_default(draw: st.DrawFn, kind: Any, *positional: Any, **keywords: Any) -> Field:
    """The field, often with a default that fits it."""
    field = kind(*positional, **keywords)
    default = draw(st.none() | values_for(field))
    return field if default is None or field.rule()(default) else kind(*positional, default=default, **keywords)


@st.composite
def text_fields(draw: st.DrawFn) -> Field:
    said = draw(st.fixed_dictionaries(labels())) | draw(bounds(st.integers(0, 12), "min_length", "max_length"))
    said["pattern"] = draw(st.none() | st.sampled_from(list(PATTERNS)))
    said["format"] = draw(st.none() | st.sampled_from(list(FORMATTED)))
    return draw(with_default(Text, draw(names), **said))


@st.composite
def number_fields(draw: st.DrawFn) -> Field:
    said = draw(st.fixed_dictionaries(labels())) | draw(bounds(numbers, "minimum", "maximum"))
    least, most = said["minimum"], said["maximum"]
    is_empty = least is not None and most is not None and ceil(least) > floor(most)
    return draw(with_default(Number, draw(names), integer=not is_empty and draw(st.booleans()), **said))


@st.composite
def flag_fields(draw: st.DrawFn) -> Field:
    return draw(with_default(Flag, draw(names), **draw(st.fixed_dictionaries(labels()))))


@st.composite
def some_options(draw: st.DrawFn) -> list[str] | dict[str, str]:
    values = draw(options)
    return values if draw(st.booleans()) else {value: draw(texts) for value in values}


@st.composite
def choice_fields(draw: st.DrawFn) -> Field:
    said = draw(st.fixed_dictionaries(labels()))
    return draw(with_default(Choice, draw(names), draw(some_options()), legacy=draw(st.booleans()), **said))


@st.composite
def choices_fields(draw: st.DrawFn) -> Field:
    offered = draw(some_options())
    said = draw(st.fixed_dictionaries(labels()))
    said |= draw(bounds(st.integers(0, len(offered)), "min_items", "max_items"))
    return draw(with_default(Choices, draw(names), offered, **said))


fields = text_fields() | number_fields() | flag_fields() | choice_fields() | choices_fields()
forms = st.lists(fields, min_size=1, max_size=3, unique_by=lambda field: field.name).map(lambda some: Form(*some))


def values_for(field: Field) -> st.SearchStrategy[Any]:
    """Values that fit the field, or nearly do."""
    match field:
        case Text():
            likely = PATTERNS.get(field.pattern or "", []) + FORMATTED.get(field.format or "", []) + NEARLY_FORMATTED
            return st.sampled_from(likely) | st.text(max_size=14)
        case Number():
            ends = [end for end in (field.minimum, field.maximum) if end is not None]
            near = [end + step for end in ends for step in (-1, 0, 0.5, 1)] or [0]
            return st.sampled_from(near) | numbers | st.integers(-50, 50).map(float)
        case Flag():
            return st.booleans()
        case Choice():
            return st.sampled_from(field.values) | texts
        case Choices():
            return st.lists(st.sampled_from(field.values), max_size=5) | st.lists(texts, max_size=2)


@st.composite
def content_for(draw: st.DrawFn, form: Form) -> dict[str, Any]:
    """An object with some or all of the fields, now and then a wrong type, and keys that nobody asked for."""
    content = {
        field.name: draw(st.one_of(values_for(field), values_for(field), values_for(field), json_values))
        for field in form
        if draw(st.integers(0, 5))
    }
    return draw(st.dictionaries(names, json_values, max_size=1)) | content


@st.composite
def fitting_content(draw: st.DrawFn, form: Form) -> dict[str, Any] | None:
    """Content that passes the form's check, or None where no such value was found."""
    content: dict[str, Any] = {}
    for field in form:
        if not field.required and draw(st.booleans()):
            continue
        fit = [value for value in draw(st.lists(values_for(field), min_size=3, max_size=6)) if not field.rule()(value)]
        if not fit:
            return None
        content[field.name] = fit[0]
    return content
