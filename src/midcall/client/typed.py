"""A field at a line prompt: what to say about it, and what a typed line means for it.

Pure. What cannot be read is left as the text it is, and `check` says what is wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from midcall.client.plain import plain_line
from midcall.core.fields import Choice, Choices, Field, Flag, Number, Text
from midcall.core.schema import splitter
from midcall.wording import client as wording

__all__ = ["hints", "numbered", "read", "shown"]

_FLAGS: Final = {"yes": True, "y": True, "true": True, "no": False, "n": False, "false": False}
_NUMBER: Final = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_LONGEST_NUMBER: Final = 300


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
            return _title(field, value)
        case Choices():
            return ", ".join(_title(field, item) for item in value) or wording.nothing_chosen()
        case Text() | Number():
            return plain_line(str(value))


def _title(field: Choice | Choices, value: str) -> str:
    return plain_line(field.labels.get(value, value))


def numbered(field: Choice | Choices) -> bool:
    """Whether options can be chosen by number: not where an option itself is one."""
    return not any(text.strip().isdigit() for text in (*field.values, *field.labels.values()))


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
