"""What the user has entered and decided: the draft of each form, and the questions that are answered together. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias, cast

from midcall.client.asked import Asked
from midcall.client.lines.excerpt import find_default
from midcall.core.forms import line_input
from midcall.core.forms.check import check
from midcall.core.forms.fields import Choices, Field, Number, Text
from midcall.core.forms.form import Form
from midcall.core.outcome import Accepted, Cancelled, Declined, Outcome
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


class Step:
    """One question, its draft, and the user's decision."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.draft = Draft(asked.form) if asked.form is not None else None
        self.outcome: Outcome[Any] | None = None

    def accept(self) -> None:
        """Accept with the content of the draft. A form without fields has empty content, a visit has none."""
        without_fields: dict[str, Any] | None = {} if self.asked.mode == "form" else None
        self.outcome = Accepted(self.draft.content() if self.draft is not None else without_fields, self.asked.via)

    def decline(self) -> None:
        self.outcome = Declined(self.asked.via)

    def cancel(self) -> None:
        self.outcome = Cancelled(self.asked.via)


class Behind(NamedTuple):
    """How many more questions are waiting, and how many were refused."""

    waiting: int = 0
    turned_away: int = 0


class QuestionFlow:
    """The questions of one server that are answered together, in order."""

    def __init__(self, steps: Iterable[Step]) -> None:
        self.steps = list(steps)
        self.withdrawn: list[Step] = []
        self.alone: Final = len(self.steps) == 1
        """Whether there is only one question. Its form is the review.

        Questions that are withdrawn change nothing: the others wait for the review that their pages announced.
        """
        self.all_cancelled = False
        """Whether the user cancelled these and all waiting questions."""

    @property
    def needs_review(self) -> bool:
        """Whether there are answers to send that the user hasn't seen together."""
        return not self.alone and any(isinstance(step.outcome, Accepted) for step in self.steps)

    def number(self, step: Step) -> int:
        return self.steps.index(step) + 1

    def after(self, step: Step) -> Step | None:
        """The next undecided question after this one, starting over at the first; None if all are decided."""
        at = self.steps.index(step) + 1 if step in self.steps else 0
        return next((each for each in self.steps[at:] + self.steps[:at] if each.outcome is None), None)

    def before(self, step: Step) -> Step | None:
        at = self.steps.index(step)
        return self.steps[at - 1] if at else None

    def withdraw(self, step: Step) -> None:
        """Remove a question that its server or the caller withdrew."""
        if step in self.steps:
            self.steps.remove(step)
            self.withdrawn.append(step)

    def cancel_all(self) -> None:
        self.all_cancelled = True
        for step in self.steps:
            step.cancel()
