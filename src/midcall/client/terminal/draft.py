"""What the user has entered into a form so far. Pure: the widgets write it, and `check` reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, cast

from midcall.client.lines.excerpt import find_default
from midcall.core.forms import line_input
from midcall.core.forms.check import check
from midcall.core.forms.fields import Choices, Field, Number, Text
from midcall.core.forms.form import Form
from midcall.core.text import conceal, reveal
from midcall.language.problems import Problem

FieldEntry: TypeAlias = str | bool | Sequence[str] | None
"""What a widget holds: the text of an input, a boolean, the value of an option, several of them, or nothing."""


class Draft:
    """The entries of a form. A field that the user hasn't touched has its default."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self._entries: dict[str, FieldEntry] = {}
        self._alone: dict[str, Form] = {}

    def put(self, field: Field, entry: FieldEntry) -> None:
        """Record what the user entered."""
        self._entries[field.name] = entry

    def has_entry(self, field: Field) -> bool:
        return field.name in self._entries

    def text(self, field: Text | Number) -> str:
        """The text in the input of this field. A default is shown with marks, which stand for what they name."""
        if field.name in self._entries:
            return str(self._entries[field.name])
        default = find_default(field)
        return "" if default is None else reveal(str(default))

    def choice(self, field: Field) -> FieldEntry:
        """What is chosen in a field without an input."""
        return cast("FieldEntry", self._entries.get(field.name, field.default))

    def value(self, field: Field) -> Any:
        """The value to send, or None if the field is left empty."""
        match field:
            case Text() | Number():
                return self._read_text(field)
            case Choices():
                return self._choices(field)
            case _:
                return self.choice(field)

    def _read_text(self, field: Text | Number) -> Any:
        if field.name not in self._entries:
            return find_default(field)
        line, default = self.text(field), find_default(field)
        if isinstance(field, Number) or field.format is not None:
            line = line.strip()
        if default is not None and reveal(str(default)) != str(default):
            line = conceal(line)
        return line_input.read(field, line) if line.strip() else None

    def _choices(self, field: Choices) -> list[str] | None:
        """Choosing no option is an answer if the field is required, or if its default would be used otherwise."""
        items = list(cast("Sequence[str]", self.choice(field) or ()))
        return items if items or field.required or field.default is not None else None

    def content(self) -> dict[str, Any]:
        """The content to send, without fields that are left empty."""
        values = ((field.name, self.value(field)) for field in self.form.fields)
        return {name: value for name, value in values if value is not None}

    def problems(self) -> tuple[Problem, ...]:
        """Everything that makes the form invalid."""
        return check(self.form, self.content())

    def problems_of(self, field: Field) -> tuple[Problem, ...]:
        """The problems of this field alone."""
        alone = self._alone.get(field.name) or self._alone.setdefault(field.name, Form(field))
        value = self.value(field)
        return check(alone, {} if value is None else {field.name: value})
