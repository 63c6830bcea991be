"""What is wrong with an answer, as the end of a sentence that begins with its field."""

from __future__ import annotations

from collections.abc import Sequence


def is_required() -> str:
    return "is required"


def must_be_an_object() -> str:
    return "the answer must be an object with one value for each field"


def must_be_text() -> str:
    return "must be text"


def not_unicode() -> str:
    return "must be whole text: it holds half a character, which cannot be sent"


def must_be_a_number() -> str:
    return "must be a number"


def must_be_a_whole_number() -> str:
    return "must be a whole number"


def must_be_true_or_false() -> str:
    return "must be true or false"


def must_be_a_list() -> str:
    return "must be a list of choices"


def too_short(least: int) -> str:
    return "must not be empty" if least == 1 else f"must have at least {least} characters"


def too_long(most: int) -> str:
    return f"must have at most {most} {'character' if most == 1 else 'characters'}"


def too_small(least: float) -> str:
    return f"must be at least {least}"


def too_large(most: float) -> str:
    return f"must be at most {most}"


def not_above(bound: object) -> str:
    return f"must be greater than {bound}"


def not_below(bound: object) -> str:
    return f"must be less than {bound}"


def not_like(pattern: str) -> str:
    return f"must match the pattern {pattern}"


def not_a(format: str) -> str:
    examples = {
        "email": "an email address such as name@example.com",
        "uri": "a full web address such as https://example.com",
        "date": "a date such as 2026-07-28",
        "date-time": "a date and time with its offset such as 2026-07-28T09:30:00Z",
    }
    return f"must be {examples[format]}"


def not_one_of(options: Sequence[str]) -> str:
    return f"must be one of: {listed(options)}"


def not_among(options: Sequence[str]) -> str:
    return f"must hold only these: {listed(options)}"


def too_few(least: int) -> str:
    return f"needs at least {least} {'choice' if least == 1 else 'choices'}"


def too_many(most: int) -> str:
    return f"takes at most {most} {'choice' if most == 1 else 'choices'}"


def listed(options: Sequence[str]) -> str:
    """The first options by name, and how many there are beyond: a country list is no sentence."""
    shown = ", ".join(options[:12])
    return shown if len(options) <= 12 else f"{shown} and {len(options) - 12} more"


def not_fitting(reason: str) -> str:
    """What a type's own validator said, as a sentence about the field."""
    for opening in ("Value error, ", "Assertion failed, "):
        reason = reason.removeprefix(opening)
    for subject in ("Input should ", "String should ", "Value should ", "List should ", "Set should ", "Tuple should "):
        if reason.startswith(subject):
            return f"must {reason.removeprefix(subject)}"
    return reason or "does not fit"
