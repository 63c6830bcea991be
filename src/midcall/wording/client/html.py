"""A form as HTML."""

from __future__ import annotations

from midcall.wording.client import fields

a_format = fields.a_format
a_number = fields.a_number
a_pattern = fields.a_pattern
characters = fields.characters
optional = fields.optional
this_field = fields.this_field


def needs_extra(what: str, extra: str) -> str:
    return f'{what} needs a package that is not installed: pip install "midcall[{extra}]"'


def title_yes() -> str:
    return "Yes"


def title_no() -> str:
    return "No"


def left_unanswered() -> str:
    return "No answer"


def choose_here() -> str:
    return "Please choose"


def is_required_mark() -> str:
    return "required"


def time_zone() -> str:
    return "Offset from UTC"


def tick_some(least: int | None, most: int | None) -> str:
    return f"choose {fields.amount(least, most) if least or most is not None else 'any number'}"


def problems_found(count: int) -> str:
    return "Please look at this again" if count == 1 else f"Please look at these {count} things again"


def more_characters(count: int) -> str:
    return f"… ({count:,} more characters are not shown)"


def more_options(count: int) -> str:
    return f"{count:,} more options are not shown."


def form_too_large(count: int) -> str:
    return f"This form has {count:,} fields, more than can be shown. You can decline it or cancel it."
