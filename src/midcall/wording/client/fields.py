"""What a field takes, and what is in it."""

from __future__ import annotations


def optional() -> str:
    return "optional"


def this_field() -> str:
    return "This"


def yes_or_no(value: bool) -> str:
    return "yes" if value else "no"


def left_empty() -> str:
    return "(left empty)"


def nothing_chosen() -> str:
    return "(none)"


def says_yes_or_no() -> str:
    return "yes or no"


def a_format(format: str) -> str:
    return {
        "email": "an email address",
        "uri": "a web address such as https://example.com",
        "date": "a date such as 2026-07-28",
        "date-time": "a date and time such as 2026-07-28T09:30:00Z",
    }[format]


def characters(least: int | None, most: int | None) -> str:
    noun = "character" if (most if most is not None else least) == 1 else "characters"
    return f"{amount(least, most)} {noun}"


def a_number(integer: bool, least: float | None, most: float | None) -> str:
    kind = "a whole number" if integer else "a number"
    if least is None and most is None:
        return kind if integer else f"{kind} such as 2.5"
    if least is not None and most is not None:
        return f"{kind} from {least} to {most}"
    return f"{kind}, {amount(least, most)}"


def a_pattern(pattern: str) -> str:
    return f"must match {pattern}"


def choose_one() -> str:
    return "choose one"


def choose_some(least: int | None, most: int | None) -> str:
    count = amount(least, most) if least or most is not None else "any number"
    return f"choose {count}, separated by commas{'' if least else ', or none'}"


def amount(least: float | None, most: float | None) -> str:
    if least and most is not None:
        return f"{least}" if least == most else f"{least} to {most}"
    return f"at most {most}" if most is not None else f"at least {least}"
