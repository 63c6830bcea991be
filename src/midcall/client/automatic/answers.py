"""Convert an answer in a script to the outcome of a question.

Pure. Scripts are written by hand, often in YAML, for questions that differ a little between protocol versions. So
a value is converted to what its author obviously meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, Final, TypeAlias, cast

from midcall.client.asked import Asked
from midcall.core.forms import line_input
from midcall.core.forms.check import check, fill
from midcall.core.forms.fields import Choice, Choices, Field, Flag, Number, Text
from midcall.core.forms.form import Form
from midcall.core.forms.schema import is_line_of_choices
from midcall.core.outcome import Accepted, Cancelled, Declined, Outcome

Answer: TypeAlias = Any
"""A value for the only field, a mapping of fields, an outcome, or `{"action": "decline"}`."""

ACTIONS: Final = ("accept", "decline", "cancel")
BAD_ACTION: Final = f"an action is one of {', '.join(ACTIONS)}, with nothing but content beside it"
_WORDS: Final = {True: ("yes", "true", "on", "y"), False: ("no", "false", "off", "n")}


class UnfitAnswer(ValueError):
    """The answer doesn't fit its question. Says why, and never contains the answer."""


def is_series(answer: Answer, form: Form | None) -> bool:
    """Whether this is one answer for each time the question is asked, rather than one answer that is a list."""
    if not isinstance(answer, list):
        return False
    return not takes_list(form) or any(not isinstance(item, str) for item in cast("list[Any]", answer))


def takes_list(form: Form | None) -> bool:
    """Whether this is one multiple choice, or the line of text that replaces it on older versions."""
    if form is None or len(form) != 1:
        return False
    return isinstance(form.fields[0], Choices) or is_line_of_choices(form.fields[0].description)


def read_answer(asked: Asked, answer: Answer) -> Outcome[Any]:
    """The outcome that this answer means for this question, or raise `UnfitAnswer`."""
    match answer:
        case Declined() | Cancelled():
            return answer
        case Accepted():
            return _accept(asked, cast("Accepted[Any]", answer).value)
        case Mapping() if (action := _action(asked, cast("Mapping[str, Any]", answer))) is not None:
            return _act(asked, action, cast("Mapping[str, Any]", answer).get("content"))
        case _:
            return _accept(asked, answer)


def _action(asked: Asked, answer: Mapping[str, Any]) -> str | None:
    """The action in this mapping, unless "action" is one of the form's fields."""
    if "action" not in answer or (asked.form is not None and "action" in asked.form.names and "content" not in answer):
        return None
    action = answer["action"]
    if action not in ACTIONS or not answer.keys() <= {"action", "content"}:
        raise UnfitAnswer(BAD_ACTION)
    return str(action)


def _act(asked: Asked, action: str, content: Answer) -> Outcome[Any]:
    match action:
        case "decline":
            return Declined()
        case "cancel":
            return Cancelled()
        case _ if asked.form is None:
            return Accepted(None if asked.mode == "url" else {})
        case _:
            return _accept(asked, {} if content is None else content)


def _accept(asked: Asked, answer: Answer) -> Outcome[Any]:
    if asked.form is not None:
        return Accepted(_content(asked.form, answer))
    if isinstance(answer, str):
        answer = line_input.read(Flag("agreed"), answer)
    if answer is False:
        return Declined()
    if answer is True or answer is None or answer == {}:
        return Accepted(None if asked.mode == "url" else {})
    raise UnfitAnswer("this question takes only yes or no (true or false)")


def _content(form: Form, answer: Answer) -> dict[str, Any]:
    given = _by_field(form, answer)
    if unknown := [name for name in given if name not in form.names]:
        raise UnfitAnswer(f"it names {join_names(unknown)}, and the fields are {join_names(list(form.names))}")
    content = {name: _convert(form.field(name), value) for name, value in given.items() if value is not None}
    content = fill(form, content)
    if problems := check(form, content):
        raise UnfitAnswer("; ".join(f"{problem.field}: {problem.message[:200]}" for problem in problems))
    return content


def _by_field(form: Form, answer: Answer) -> Mapping[str, Any]:
    if isinstance(answer, Mapping):
        return cast("Mapping[str, Any]", answer)
    if len(form) > 1:
        names = list(form.names)
        raise UnfitAnswer(f"this question has {len(names)} fields, so its answer must name them: {join_names(names)}")
    return {form.names[0]: answer}


# --- values --------------------------------------------------------------------------------------
def _convert(field: Field, value: Any) -> Any:
    """Convert the value to this kind of field. Leaves what it can't convert to the check."""
    match field:
        case Text():
            return _as_line(value) if is_line_of_choices(field.description) else _as_text(value)
        case Number():
            return line_input.read(field, value.strip()) if isinstance(value, str) else value
        case Flag():
            return line_input.read(field, value.strip()) if isinstance(value, str) else value
        case Choice():
            return _as_option(field, value)
        case Choices():
            return _as_options(field, value)


def _as_line(value: Any) -> Any:
    """A multiple choice, for a protocol version that asks for it as a line of text."""
    if not isinstance(value, list):
        return _as_text(value)
    texts = [_as_text(item) for item in cast("list[Any]", value)]
    return ", ".join(texts) if all(isinstance(text, str) for text in texts) else cast("Any", value)


def _as_text(value: Any) -> Any:
    """Turn dates and numbers into text, but not booleans: YAML makes those of several words."""
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def _as_option(field: Choice | Choices, value: Any) -> Any:
    """The option with this value or title. YAML may have parsed `yes` or `no` as a boolean."""
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
        return line_input.read(field, value)
    if not isinstance(value, (list, tuple, set, frozenset)):
        return value
    return [_as_option(field, item) for item in cast("Iterable[Any]", value)]


def join_names(names: list[str], most: int = 10) -> str:
    """These names in one line, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
