"""Judges content against a form: all problems, as data, for any user interface.

The judgement is that of JSON Schema on `form.schema()`. Whoever shows the form (server, terminal,
page, App) runs this same check.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from midcall.core.forms.fields import Choices, Field, Number
from midcall.core.forms.form import Form
from midcall.wording import answers as wording

__all__ = ["Problem", "check", "fill", "tidy"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong. `field` is a field's name, or empty for the answer as a whole."""

    field: str
    code: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message


def check(form: Form, content: object) -> tuple[Problem, ...]:
    """Every problem that this content has, in the order of the fields; none is an empty tuple."""
    if type(content) is not dict and not isinstance(content, Mapping):
        return (Problem("", "type", wording.must_be_an_object()),)
    answers = cast("Mapping[str, Any]", content)
    problems: tuple[Problem, ...] = ()
    for name, required, rule in form.rules:
        if name in answers:
            if faults := rule(answers[name]):
                problems += tuple(Problem(name, code, sentence) for code, sentence in faults)
        elif required:
            problems += (Problem(name, "required", wording.is_required()),)
    return problems


def tidy(form: Form, content: Mapping[str, Any]) -> dict[str, Any]:
    """The content without what only means "left empty", and without what was not asked.

    Clients send null for an empty field, and some an empty text; the latter is dropped where the
    field is optional and could not be empty text.
    """
    tidied: dict[str, Any] = {}
    for name, required, rule in form.rules:
        value = content.get(name)
        if value is None or (value == "" and not required and rule("")):
            continue
        tidied[name] = value
    return tidied


def _own(field: Field, value: Any) -> Any:
    """This value as whoever asked may keep it: the journal has its own list, and JSON has one kind of number."""
    if type(value) is list:
        return list(cast("list[Any]", value))
    return int(value) if type(value) is float and isinstance(field, Number) and field.integer else value


def fill(form: Form, content: Mapping[str, Any]) -> dict[str, Any]:
    """The content in the order of the form, with the defaults of the fields that it omits."""
    filled: dict[str, Any] = {}
    for field in form.fields:
        if field.name in content:
            filled[field.name] = _own(field, content[field.name])
        elif field.default is not None:
            filled[field.name] = list(field.default) if isinstance(field, Choices) else field.default
    return filled
