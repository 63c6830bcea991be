"""What a value must be: one rule for each kind of field.

A rule takes a value and returns all of its faults, or an empty tuple. The same rules check a field's own default and a
user's answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any, Final, TypeAlias, cast

from midcall.core.forms.formats import FORMATS, Format
from midcall.core.forms.patterns import compile_pattern
from midcall.core.wire import find_half_character

Fault: TypeAlias = tuple[str, Mapping[str, Any]]
"""A code and its parameters, as in `Problem`."""
Rule: TypeAlias = Callable[[Any], tuple[Fault, ...]]

_NONE: Final[tuple[Fault, ...]] = ()
_NOT_TEXT: Final[tuple[Fault, ...]] = (("type", {"expected": "text"}),)
_NOT_A_NUMBER: Final[tuple[Fault, ...]] = (("type", {"expected": "number"}),)
_NOT_WHOLE: Final[tuple[Fault, ...]] = (("type", {"expected": "integer"}),)
_NOT_A_FLAG: Final[tuple[Fault, ...]] = (("type", {"expected": "flag"}),)
_NOT_A_LIST: Final[tuple[Fault, ...]] = (("type", {"expected": "list"}),)


def text_rule(
    min_length: int | None = None,
    max_length: int | None = None,
    pattern: str | None = None,
    format: Format | None = None,
) -> Rule:
    least, most = min_length or 0, max_length if max_length is not None else inf
    matches = None
    if pattern is not None:
        compiled = compile_pattern(pattern)
        matches, most = compiled.matches, min(most, compiled.longest)
    fits = FORMATS[format] if format is not None else None

    def faults_of(value: str) -> list[Fault]:
        if len(value) > most:  # and nothing else: the other checks take longer on a longer text
            return [("too_long", {"maximum": most})]
        faults: list[Fault] = []
        if find_half_character(value) is not None:
            faults.append(("unicode", {}))
        if len(value) < least:
            faults.append(("too_short", {"minimum": least}))
        if pattern is not None and matches is not None and not matches(value):
            faults.append(("pattern", {"pattern": pattern}))
        if format is not None and fits is not None and not fits(value):
            faults.append(("format", {"format": format}))
        return faults

    def rule(value: Any) -> tuple[Fault, ...]:
        if not isinstance(value, str):
            return _NOT_TEXT
        if least <= len(value) <= most and matches is None and fits is None and value.isascii():
            return _NONE
        return tuple(faults_of(value))

    return rule


def number_rule(integer: bool = False, minimum: int | float | None = None, maximum: int | float | None = None) -> Rule:
    def rule(value: Any) -> tuple[Fault, ...]:
        if not is_number(value):
            return _NOT_WHOLE if integer else _NOT_A_NUMBER
        if integer and isinstance(value, float) and not value.is_integer():
            return _NOT_WHOLE
        if minimum is not None and value < minimum:
            return (("too_small", {"minimum": minimum}),)
        if maximum is not None and value > maximum:
            return (("too_large", {"maximum": maximum}),)
        return _NONE

    return rule


def flag_rule() -> Rule:
    return lambda value: _NONE if isinstance(value, bool) else _NOT_A_FLAG


def choice_rule(values: Sequence[str], names: Sequence[str]) -> Rule:
    allowed = frozenset(values)

    def rule(value: Any) -> tuple[Fault, ...]:
        if not isinstance(value, str):
            return _NOT_TEXT
        return _NONE if value in allowed else (("option", {"options": names}),)

    return rule


def choices_rule(
    values: Sequence[str], names: Sequence[str], min_items: int | None = None, max_items: int | None = None
) -> Rule:
    allowed = frozenset(values)

    def rule(value: Any) -> tuple[Fault, ...]:
        if not isinstance(value, list):
            return _NOT_A_LIST
        items = cast(list[Any], value)
        faults: list[Fault] = []
        if not all(isinstance(item, str) and item in allowed for item in items):
            faults.append(("option", {"options": names, "several": True}))
        if min_items is not None and len(items) < min_items:
            faults.append(("too_few", {"minimum": min_items}))
        if max_items is not None and len(items) > max_items:
            faults.append(("too_many", {"maximum": max_items}))
        return tuple(faults)

    return rule


def is_number(value: Any) -> bool:
    """Whether this is a JSON number: not a bool, and not NaN or infinity."""
    if isinstance(value, float):
        return value - value == 0
    return isinstance(value, int) and not isinstance(value, bool)
