"""Check content against a form: all problems, as data, for any user interface.

It agrees with JSON Schema on `form.schema()`. Server, terminal, page and App all run this same check.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from midcall.core.forms.fields import Choices, Field, Number
from midcall.core.forms.form import Form
from midcall.language.problems import Problem


def check(form: Form, content: object) -> tuple[Problem, ...]:
    """All problems of this content, in the order of the fields."""
    if type(content) is not dict and not isinstance(content, Mapping):
        return (Problem("", "type", {"expected": "object"}),)
    answers = cast("Mapping[str, Any]", content)
    problems: list[Problem] = []
    for name, required, rule in form.rules:
        if name in answers:
            if faults := rule(answers[name]):
                problems += [Problem(name, *fault) for fault in faults]
        elif required:
            problems.append(Problem(name, "required"))
    return tuple(problems)


def tidy(form: Form, content: Mapping[str, Any]) -> dict[str, Any]:
    """Drop values that only mean "left empty", and fields that weren't asked for.

    Clients send null for an empty field, and some send an empty text. That one is dropped if the field is optional and
    doesn't accept it.
    """
    tidied: dict[str, Any] = {}
    for name, required, rule in form.rules:
        value = content.get(name)
        if value is None or (value == "" and not required and rule("")):
            continue
        tidied[name] = value
    return tidied


def _copy(field: Field, value: Any) -> Any:
    """A copy that the caller may change: the journal has its own list, and JSON has one kind of number."""
    if type(value) is list:
        return list(cast("list[Any]", value))
    whole = type(value) is float and value.is_integer() and isinstance(field, Number) and field.integer
    return int(value) if whole else value


def fill(form: Form, content: Mapping[str, Any]) -> dict[str, Any]:
    """The content in the order of the form, with defaults for the fields it omits."""
    filled: dict[str, Any] = {}
    for field in form.fields:
        if field.name in content:
            filled[field.name] = _copy(field, content[field.name])
        elif field.default is not None:
            filled[field.name] = list(field.default) if isinstance(field, Choices) else field.default
    return filled
