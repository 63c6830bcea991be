"""What a script may say to a question, and what it means there.

Pure. A script is written by hand, often in YAML, for questions that differ a little between protocol
versions: so a value counts for what a person would have meant by it, where that is in no doubt.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, Final, TypeAlias, cast

from midcall.client.asked import Asked
from midcall.core.forms import typed
from midcall.core.forms.check import check, fill
from midcall.core.forms.fields import Choice, Choices, Field, Flag, Number, Text
from midcall.core.forms.form import Form
from midcall.core.forms.schema import is_line_of_choices
from midcall.core.outcome import Accepted, Cancelled, Declined, Outcome
from midcall.wording.client import script as wording

__all__ = ["ACTIONS", "Answer", "Unfit", "is_series", "outcome"]

Answer: TypeAlias = Any
"""A value for the only field, a mapping of fields, an outcome, or `{"action": "decline"}`."""

ACTIONS: Final = ("accept", "decline", "cancel")
_WORDS: Final = {True: ("yes", "true", "on", "y"), False: ("no", "false", "off", "n")}


class Unfit(ValueError):
    """The answer does not suit its question. Says why, and never what was answered."""


def is_series(answer: Answer, form: Form | None) -> bool:
    """Whether this is a list of answers for successive askings, and not one answer that is a list."""
    if not isinstance(answer, list):
        return False
    return not takes_list(form) or any(not isinstance(item, str) for item in cast("list[Any]", answer))


def takes_list(form: Form | None) -> bool:
    """Whether this is one multiple choice, or the line of text that older versions make of it."""
    if form is None or len(form) != 1:
        return False
    return isinstance(form.fields[0], Choices) or is_line_of_choices(form.fields[0])


def outcome(asked: Asked, answer: Answer) -> Outcome[Any]:
    """What this answer means for this question, or `Unfit`."""
    match answer:
        case Declined() | Cancelled():
            return answer
        case Accepted():
            return _accepted(asked, cast("Accepted[Any]", answer).value)
        case Mapping() if (action := _action(asked, cast("Mapping[str, Any]", answer))) is not None:
            return _acted(asked, action, cast("Mapping[str, Any]", answer).get("content"))
        case _:
            return _accepted(asked, answer)


def _action(asked: Asked, answer: Mapping[str, Any]) -> str | None:
    """The action that is named, unless it is the value of a field that has this name."""
    if "action" not in answer or (asked.form is not None and "action" in asked.form.names and "content" not in answer):
        return None
    action = answer["action"]
    if action not in ACTIONS or not answer.keys() <= {"action", "content"}:
        raise Unfit(wording.bad_action(list(ACTIONS)))
    return str(action)


def _acted(asked: Asked, action: str, content: Answer) -> Outcome[Any]:
    match action:
        case "decline":
            return Declined()
        case "cancel":
            return Cancelled()
        case _ if asked.form is None:
            return Accepted(None if asked.mode == "url" else {})
        case _:
            return _accepted(asked, {} if content is None else content)


def _accepted(asked: Asked, answer: Answer) -> Outcome[Any]:
    if asked.form is not None:
        return Accepted(_content(asked.form, answer))
    if isinstance(answer, str):
        answer = typed.read(Flag("agreed"), answer)
    if answer is False:
        return Declined()
    if answer is True or answer is None or answer == {}:
        return Accepted(None if asked.mode == "url" else {})
    raise Unfit("this question takes only yes or no (true or false)")


def _content(form: Form, answer: Answer) -> dict[str, Any]:
    given = _by_field(form, answer)
    if unknown := [name for name in given if name not in form.names]:
        raise Unfit(wording.unknown_fields(unknown, list(form.names)))
    content = {name: _suited(form.field(name), value) for name, value in given.items() if value is not None}
    content = fill(form, content)
    if problems := check(form, content):
        raise Unfit("; ".join(f"{problem.field}: {problem.message[:200]}" for problem in problems))
    return content


def _by_field(form: Form, answer: Answer) -> Mapping[str, Any]:
    if isinstance(answer, Mapping):
        return cast("Mapping[str, Any]", answer)
    if len(form) > 1:
        raise Unfit(wording.takes_fields(list(form.names)))
    return {form.names[0]: answer}


# --- what a value means for a field ----------------------------------------------------------
def _suited(field: Field, value: Any) -> Any:
    """The value as this kind of field takes it; what cannot be meant is left for the check."""
    match field:
        case Text():
            return _as_line(value) if is_line_of_choices(field) else _as_text(value)
        case Number():
            return typed.read(field, value.strip()) if isinstance(value, str) else value
        case Flag():
            return typed.read(field, value.strip()) if isinstance(value, str) else value
        case Choice():
            return _as_option(field, value)
        case Choices():
            return _as_options(field, value)


def _as_line(value: Any) -> Any:
    """A multiple choice, for a version that has it as a line of text."""
    if not isinstance(value, list):
        return _as_text(value)
    texts = [_as_text(item) for item in cast("list[Any]", value)]
    return ", ".join(texts) if all(isinstance(text, str) for text in texts) else cast("Any", value)


def _as_text(value: Any) -> Any:
    """Dates and numbers are texts too, once they are asked for as text. A yes or no could have been any word."""
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def _as_option(field: Choice | Choices, value: Any) -> Any:
    """The option that is called so, by its value or its title. YAML may have made true or false of a yes or no."""
    if isinstance(value, bool):
        meant = [option for option in field.values if option.casefold() in _WORDS[value]]
        return meant[0] if len(meant) == 1 else value
    text = _as_text(value)
    if not isinstance(text, str) or text in field.values:
        return text
    named = [
        option for option, title in field.labels.items() if text.casefold() in (option.casefold(), title.casefold())
    ]
    return named[0] if len(named) == 1 else text


def _as_options(field: Choices, value: Any) -> Any:
    if isinstance(value, str):
        return typed.read(field, value)
    if not isinstance(value, (list, tuple, set, frozenset)):
        return value
    return [_as_option(field, item) for item in cast("Iterable[Any]", value)]
