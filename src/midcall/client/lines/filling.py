"""A form, filled in field by field at line prompts."""

from __future__ import annotations

from typing import Any, cast

from midcall.client.lines.display import Sheet
from midcall.client.lines.prompt import Prompt
from midcall.core.forms import typed
from midcall.core.forms.check import check
from midcall.core.forms.fields import Choice, Choices, Field, Flag, Text
from midcall.core.forms.form import Form
from midcall.wording.client import lines as wording

__all__ = ["Filling"]


class Filling:
    """Asks for the fields of forms. What is in the content already stands as a field's default."""

    def __init__(self, prompt: Prompt, sheet: Sheet) -> None:
        self._prompt = prompt
        self._sheet = sheet

    async def form(self, form: Form) -> dict[str, Any]:
        """Ask for all of it."""
        content: dict[str, Any] = {}
        for index in range(len(form)):
            self._sheet.write("\n" if index else "")
            await self.field(form, index, content)
        return content

    async def field(self, form: Form, index: int, content: dict[str, Any]) -> None:
        """Ask for one field until what is typed fits."""
        field = form.fields[index]
        current = content.get(field.name, field.default)
        clearable = field.name in content and not field.required and field.default is None
        self._sheet.field(form, index, clearable=clearable)
        value = await self._value(field, current, clearable)
        if value is None:
            content.pop(field.name, None)
        else:
            content[field.name] = value

    async def _value(self, field: Field, current: Any, clearable: bool) -> Any:
        """A value that fits, or None where the field is left empty."""
        while True:
            line = await self._prompt.line("" if current is None else f"[{self._sheet.value(field, current)}] ")
            if line == ":clear" and clearable:
                return None
            value = _meant(field, line, current)
            if value is None and not field.required:
                return None
            problems = check(Form(field), {} if value is None else {field.name: value})
            if not problems:
                return value
            if (found := typed.search(field, value)) is not None:
                self._sheet.found(cast("Choice | Choices", field), found)
                current = _only(field, value, found) or current
            elif line and isinstance(field, Flag):
                self._sheet.complain(wording.answer_yes_or_no())
            else:
                self._sheet.problems(field, problems)
                if value is None and _may_be_empty(field):
                    self._sheet.advise(wording.type_empty())


def _meant(field: Field, line: str, current: Any) -> Any:
    if line == ":empty" and _may_be_empty(field):
        return ""
    if line or _takes_none(field, current):
        return typed.read(field, line)
    return list(cast("tuple[str, ...]", current)) if isinstance(current, tuple) else current


def _takes_none(field: Field, current: Any) -> bool:
    """Whether an empty line is an answer: none of several options, where one has to be given."""
    return isinstance(field, Choices) and bool(field.required) and current is None


def _may_be_empty(field: Field) -> bool:
    """Whether empty text is an answer of its own, as where an old version has only text for a multiple choice."""
    return isinstance(field, Text) and bool(field.required) and not field.rule()("")


def _only(field: Field, value: Any, found: list[str]) -> Any:
    """What was found, to be taken with Enter, if it is the only one that can be meant."""
    if len(found) != 1:
        return None
    if isinstance(field, Choice):
        return found[0]
    known = [item for item in cast("list[str]", value) if item in cast("Choices", field).values]
    return [*known, *(item for item in found if item not in known)]
