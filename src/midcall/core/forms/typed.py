"""A field at a line prompt: what to say about it, and what a typed line means for it.

Pure. What cannot be read is left as the text it is, and `check` says what is wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from midcall.core.forms.fields import Choice, Choices, Field, Flag, Number, Text
from midcall.core.forms.schema import splitter
from midcall.core.text import plain_line
from midcall.wording.client import fields as wording

__all__ = ["hints", "numbered", "read", "search", "searched", "shown"]

_FLAGS: Final = {"yes": True, "y": True, "true": True, "no": False, "n": False, "false": False}
_NUMBER: Final = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_LONGEST_NUMBER: Final = 300
_MANY: Final = 20
"""More options than this are not listed, but searched."""


# --- to the user -----------------------------------------------------------------------------
def hints(field: Field) -> list[str]:
    """What the user has to know before typing, in short pieces."""
    pieces = list(_constraints(field))
    if not field.required and field.default is None:
        pieces.append(wording.optional())
    return pieces


def shown(field: Field, value: Any) -> str:
    """A value as the user would say it."""
    if value is None:
        return wording.left_empty()
    match field:
        case Flag():
            return wording.yes_or_no(value)
        case Choice():
            return _title(field.labels, value)
        case Choices():
            labels = field.labels
            return ", ".join(_title(labels, item) for item in value) or wording.nothing_chosen()
        case Text() | Number():
            return plain_line(str(value))


def _title(labels: Mapping[str, str], value: str) -> str:
    return plain_line(labels.get(value, value))


def numbered(field: Choice | Choices) -> bool:
    """Whether options can be chosen by number: not where an option itself is one."""
    return not any(text.strip().isdigit() for text in (*field.values, *field.labels.values()))


def searched(field: Choice | Choices) -> bool:
    """Whether there are so many options that they are searched for by a part of their name."""
    return len(field.options) > _MANY


def _constraints(field: Field) -> Iterable[str]:
    match field:
        case Text():
            if field.format is not None:
                yield wording.a_format(field.format)
            if field.min_length or field.max_length is not None:
                yield wording.characters(field.min_length, field.max_length)
            if field.pattern is not None:
                yield wording.a_pattern(plain_line(field.pattern))
        case Number():
            yield wording.a_number(field.integer, field.minimum, field.maximum)
        case Flag():
            yield wording.says_yes_or_no()
        case Choice():
            yield wording.choose_one()
        case Choices():
            yield wording.choose_some(field.min_items, field.max_items)


# --- from the user ---------------------------------------------------------------------------
def read(field: Field, line: str) -> Any:
    """The value that this line stands for."""
    match field:
        case Text():
            return line
        case Number():
            return _number(line)
        case Flag():
            return _FLAGS.get(line.casefold(), line)
        case Choice():
            return _option(field, line)
        case Choices():
            return list(dict.fromkeys(_option(field, item) for item in splitter(field)(line)))


def search(field: Field, value: Any) -> list[str] | None:
    """The options that this may mean, where there are too many to list; None where there are none such."""
    if not isinstance(field, (Choice, Choices)) or not searched(field):
        return None
    known, words = set(field.values), [value] if isinstance(value, str) else list(value or ())
    parts = [word.casefold() for word in words if word not in known]
    return [
        option
        for option, title in field.labels.items()
        if any(part in option.casefold() or part in plain_line(title).casefold() for part in parts)
    ] or None


def _number(line: str) -> int | float | str:
    """Written with a point wherever the user lives: 2,5 could be two numbers, or two thousand five hundred."""
    if not _NUMBER.fullmatch(line) or len(line) > _LONGEST_NUMBER:
        return line
    try:
        return int(line)
    except ValueError:
        value = float(line)
    return int(value) if value.is_integer() and abs(value) <= 2**53 else value


def _option(field: Choice | Choices, text: str) -> str:
    """The option that is called this: by value, by title, by either in any case, or by number."""
    names = [(value, value) for value in field.values] + [(plain_line(title), v) for v, title in field.labels.items()]
    for same in (str, str.casefold):
        for name, value in names:
            if same(name) == same(text):
                return value
    if numbered(field) and text.isascii() and text.isdigit() and len(text) < 6 and 1 <= int(text) <= len(field.values):
        return field.values[int(text) - 1]
    return text
