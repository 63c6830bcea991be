"""What a typed line means for a field.

A line that can't be read stays the text it is, and `check` reports what is wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from midcall.core.forms.fields import Choice, Choices, Field, Flag, Number, Text
from midcall.core.text import plain_line
from midcall.settings.calls import NUMBER_CHARACTERS

_FLAGS: Final = {"yes": True, "y": True, "true": True, "no": False, "n": False, "false": False}
_NUMBER: Final = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_MANY: Final = 20
"""Longer lists of options are searched instead of shown."""

Split: TypeAlias = Callable[[str], list[str]]


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
            return _finder(field)(line)
        case Choices():
            return list(dict.fromkeys(map(_finder(field), splitter(field)(line))))


def search(field: Field, value: Any) -> list[str] | None:
    """The options that this may mean, if there are too many to list; None if there are few, or none match."""
    if not isinstance(field, (Choice, Choices)) or not is_searched(field):
        return None
    known, words = set(field.values), [value] if isinstance(value, str) else list(value or ())
    parts = [word.casefold() for word in words if word not in known]
    names = ((option, option.casefold(), plain_line(title).casefold()) for option, title in field.labels.items())
    return [option for option, value, title in names if any(part in value or part in title for part in parts)] or None


def _number(line: str) -> int | float | str:
    """Numbers need a decimal point in every locale: 2,5 could also be two numbers."""
    if len(line) > NUMBER_CHARACTERS or not _NUMBER.fullmatch(line):
        return line
    try:
        return int(line)
    except ValueError:
        value = float(line)
    return int(value) if value.is_integer() and abs(value) <= 2**53 else value


def _finder(field: Choice | Choices) -> Callable[[str], str]:
    """Finds an option by value, by title, by either in any case, or by number. Other text stays as it is."""
    values = field.values
    find_named = _by_name([(v, v) for v in values] + [(plain_line(title), v) for v, title in field.labels.items()])
    by_number = has_numbers(field)

    def find(text: str) -> str:
        if (value := find_named(text)) is not None:
            return value
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0
        return values[number - 1] if 1 <= number <= len(values) and by_number else text

    return find


def _by_name(names: Sequence[tuple[str, str]]) -> Callable[[str], str | None]:
    """Finds a value by its names, in any case. Of several values with one name, the first counts."""
    exact = dict(reversed(names))
    folded = {name.casefold(): value for name, value in reversed(names)}
    return lambda text: exact.get(text, folded.get(text.casefold()))


def splitter(field: Choices) -> Split:
    """Reads the line of text that answers a lowered multiple choice."""
    names = [(value, value) for value in field.values]
    names += [(text.strip(), value) for value, title in field.labels.items() for text in (value, title)]
    find = _by_name(names)
    # An option may contain commas, so the longest run of pieces that is an option counts as one.
    sizes = sorted({1 + text.count(",") for text, _ in names} | {1}, reverse=True)

    def take(pieces: list[str], at: int) -> tuple[int, str]:
        for size in sizes:
            if size <= len(pieces) - at and (value := find(",".join(pieces[at : at + size]).strip())) is not None:
                return at + size, value
        return at + 1, pieces[at].strip()

    def split(line: str) -> list[str]:
        pieces = [piece for piece in line.split(",") if piece.strip()]
        items: dict[str, None] = {}  # without duplicates
        at = 0
        while at < len(pieces):
            at, item = take(pieces, at)
            items[item] = None
        return list(items)

    return split
