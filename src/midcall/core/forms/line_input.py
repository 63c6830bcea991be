"""What a typed line means for a field.

A line that can't be read stays the text it is, and `check` reports what is wrong with it.
"""

from __future__ import annotations

import re
from typing import Any, Final

from midcall.core.forms.fields import Choice, Choices, Field, Flag, Number, Text
from midcall.core.forms.schema import splitter
from midcall.core.text import plain_line

_FLAGS: Final = {"yes": True, "y": True, "true": True, "no": False, "n": False, "false": False}
_NUMBER: Final = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_LONGEST_NUMBER: Final = 300
_MANY: Final = 20
"""Longer lists of options are searched instead of shown."""


def has_numbers(field: Choice | Choices) -> bool:
    """Whether options can be chosen by number: not if an option itself is a number."""
    return not any(text.strip().isdigit() for text in (*field.values, *field.labels.values()))


def is_searched(field: Choice | Choices) -> bool:
    """Whether there are too many options to list: the user searches them by a part of their name."""
    return len(field.options) > _MANY


def read(field: Field, line: str) -> Any:
    """The value that this line means."""
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
    """The options that this may mean, if there are too many to list; None if there are few, or none match."""
    if not isinstance(field, (Choice, Choices)) or not is_searched(field):
        return None
    known, words = set(field.values), [value] if isinstance(value, str) else list(value or ())
    parts = [word.casefold() for word in words if word not in known]
    return [
        option
        for option, title in field.labels.items()
        if any(part in option.casefold() or part in plain_line(title).casefold() for part in parts)
    ] or None


def _number(line: str) -> int | float | str:
    """Numbers need a decimal point in every locale: 2,5 could also be two numbers."""
    if len(line) > _LONGEST_NUMBER or not _NUMBER.fullmatch(line):
        return line
    try:
        return int(line)
    except ValueError:
        value = float(line)
    return int(value) if value.is_integer() and abs(value) <= 2**53 else value


def _option(field: Choice | Choices, text: str) -> str:
    """Find an option by value, by title, by either in any case, or by number."""
    names = [(value, value) for value in field.values] + [(plain_line(title), v) for v, title in field.labels.items()]
    for same in (str, str.casefold):
        for name, value in names:
            if same(name) == same(text):
                return value
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0
    return field.values[number - 1] if 1 <= number <= len(field.values) and has_numbers(field) else text
