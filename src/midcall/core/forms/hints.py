"""What a field accepts and what is in it, in a few words: for pages and terminals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from midcall.core.forms.fields import Choice, Choices, Field, Flag, Number, Text
from midcall.core.text import plain_line, reveal
from midcall.language import _, ngettext

_TITLE: Final = 2_000
"""The title of an option names what is sent. Longer ones are cut."""


def list_hints(field: Field) -> list[str]:
    """What the user has to know before typing, in short pieces."""
    pieces = list(_constraints(field))
    if not field.required and field.default is None:
        pieces.append(_("optional"))
    return pieces


def format_value(field: Field, value: Any) -> str:
    """A value as the user would say it, in full: they see every character that is sent."""
    if value is None:
        return _("(left empty)")
    match field:
        case Flag():
            return _("yes") if value else _("no")
        case Choice():
            return _title(field.labels, value)
        case Choices():
            labels = field.labels
            return ", ".join(_title(labels, item) for item in value) or _("(none)")
        case Text() | Number():
            return reveal(str(value)) or _("(empty text)")


def _title(labels: Mapping[str, str], value: str) -> str:
    title = labels.get(value, value)
    return reveal(title) if len(title) <= _TITLE else f"{reveal(title[:_TITLE])}…"


def _constraints(field: Field) -> Iterator[str]:
    match field:
        case Text():
            if field.format is not None:
                yield describe_format(field.format)
            if field.min_length or field.max_length is not None:
                yield describe_length(field.min_length, field.max_length)
            if field.pattern is not None:
                yield describe_pattern(plain_line(field.pattern))
        case Number():
            yield describe_number(field.integer, field.minimum, field.maximum)
        case Flag():
            yield _("yes or no")
        case Choice():
            yield _("choose one")
        case Choices():
            yield _describe_choices(field.min_items, field.max_items)


def describe_format(format: str) -> str:
    match format:
        case "email":
            return _("an email address")
        case "uri":
            return _("a web address such as https://example.com")
        case "date":
            return _("a date such as 2026-07-28")
        case _:
            return _("a date and time such as 2026-07-28T09:30:00Z")


def describe_length(minimum: int | None, maximum: int | None) -> str:
    amount = describe_amount(minimum, maximum)
    count = maximum if maximum is not None else minimum or 0
    return ngettext("{amount} character", "{amount} characters", count).format(amount=amount)


def describe_number(integer: bool, minimum: float | None, maximum: float | None) -> str:
    kind = _("a whole number") if integer else _("a number")
    if minimum is None and maximum is None:
        return kind if integer else _("a number such as 2.5")
    if minimum is not None and maximum is not None:
        return _("{kind} from {minimum} to {maximum}").format(kind=kind, minimum=minimum, maximum=maximum)
    return _("{kind}, {amount}").format(kind=kind, amount=describe_amount(minimum, maximum))


def describe_pattern(pattern: str) -> str:
    return _("must match {pattern}").format(pattern=pattern)


def _describe_choices(minimum: int | None, maximum: int | None) -> str:
    amount = describe_amount(minimum or None, maximum)
    if minimum:
        return _("choose {amount}, separated by commas").format(amount=amount)
    return _("choose {amount}, separated by commas, or none").format(amount=amount)


def describe_amount(minimum: float | None, maximum: float | None) -> str:
    """How many, or how much: "2 to 5", "at most 5", "any number"."""
    if minimum and maximum is not None:
        if minimum == maximum:
            return str(minimum)
        return _("{minimum} to {maximum}").format(minimum=minimum, maximum=maximum)
    if maximum is not None:
        return _("at most {maximum}").format(maximum=maximum)
    if minimum is not None:
        return _("at least {minimum}").format(minimum=minimum)
    return _("any number")
