"""What the user has entered into a form so far. Pure: the widgets write it, and the check reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, cast

from midcall.core.forms import typed
from midcall.core.forms.check import Problem, check
from midcall.core.forms.fields import Choices, Field, Number, Text
from midcall.core.forms.form import Form

__all__ = ["Draft", "Entry"]

Entry: TypeAlias = str | bool | Sequence[str] | None
"""What a widget holds: the text of a box, a yes or no, the value of an option, several of them, or nothing."""


class Draft:
    """The entries of a form. What was never touched stands at its default."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self._entries: dict[str, Entry] = {}
        self._alone: dict[str, Form] = {}

    def put(self, field: Field, entry: Entry) -> None:
        """The user has entered this."""
        self._entries[field.name] = entry

    def touched(self, field: Field) -> bool:
        return field.name in self._entries

    def text(self, field: Text | Number) -> str:
        """What the text box of this field holds."""
        if field.name in self._entries:
            return str(self._entries[field.name])
        return "" if field.default is None else typed.shown(field, field.default)

    def chosen(self, field: Field) -> Entry:
        """What is chosen in a field that is not typed."""
        return cast("Entry", self._entries.get(field.name, field.default))

    def value(self, field: Field) -> Any:
        """The value that would be sent, or None if the field is left empty."""
        match field:
            case Text() | Number():
                return self._typed(field)
            case Choices():
                return self._several(field)
            case _:
                return self.chosen(field)

    def _typed(self, field: Text | Number) -> Any:
        if field.name not in self._entries:
            return field.default
        line = self.text(field).strip()
        return typed.read(field, line) if line else None

    def _several(self, field: Choices) -> list[str] | None:
        """None at all is an answer where one has to be given, and where a default would stand in for silence."""
        items = list(cast("Sequence[str]", self.chosen(field) or ()))
        return items if items or field.required or field.default is not None else None

    def content(self) -> dict[str, Any]:
        """What would be sent. Fields that are left empty are not in it."""
        values = ((field.name, self.value(field)) for field in self.form.fields)
        return {name: value for name, value in values if value is not None}

    def problems(self) -> tuple[Problem, ...]:
        """All that keeps the form from being sent."""
        return check(self.form, self.content())

    def problems_of(self, field: Field) -> tuple[Problem, ...]:
        """What is wrong with this field."""
        alone = self._alone.get(field.name) or self._alone.setdefault(field.name, Form(field))
        value = self.value(field)
        return check(alone, {} if value is None else {field.name: value})
