"""What is wrong with an answer: a field, a code and parameters, and the sentence that people read.

Forms and types report problems as data. Only this module puts them into words, for pages, terminals, errors and models.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from midcall.language import _, ngettext
from midcall.settings.calls import SHOWN_OPTIONS


@dataclasses.dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong. `field` is a field's name, or empty for the answer as a whole."""

    field: str
    code: str
    params: Mapping[str, Any] = dataclasses.field(default_factory=dict[str, Any])

    @property
    def message(self) -> str:
        """What is wrong, to be read after the field's name: "must be at least 18"."""
        return describe(self.code, self.params)

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message


def describe(code: str, params: Mapping[str, Any]) -> str:
    """Put a problem into words, as the end of a sentence that begins with the field's name."""
    if "reason" in params:  # a type's own validator rejected it, and its codes may equal ours
        return _describe_reason(params["reason"])
    match code:
        case "required":
            text = _("is required")
        case "type":
            return _describe_type(params["expected"])
        case "unicode":
            text = _("contains half a character (a lone surrogate), which cannot be sent")
        case "too_short" if params["minimum"] == 1:
            text = _("must not be empty")
        case "too_short":
            text = ngettext(
                "must have at least {minimum} character", "must have at least {minimum} characters", params["minimum"]
            )
        case "too_long":
            text = ngettext(
                "must have at most {maximum} character", "must have at most {maximum} characters", params["maximum"]
            )
        case "too_small":
            text = _("must be at least {minimum}")
        case "too_large":
            text = _("must be at most {maximum}")
        case "not_above":
            text = _("must be greater than {bound}")
        case "not_below":
            text = _("must be less than {bound}")
        case "pattern":
            text = _("must match the pattern {pattern}")
        case "format":
            return _describe_format(params["format"])
        case "option" if params.get("several"):
            return _("must contain only these: {options}").format(options=_list_options(params["options"]))
        case "option":
            return _("must be one of: {options}").format(options=_list_options(params["options"]))
        case "too_few":
            text = ngettext("needs at least {minimum} choice", "needs at least {minimum} choices", params["minimum"])
        case _:  # too_many
            text = ngettext("takes at most {maximum} choice", "takes at most {maximum} choices", params["maximum"])
    return text.format(**params)


def _describe_type(expected: str) -> str:
    return {
        "text": _("must be text"),
        "number": _("must be a number"),
        "integer": _("must be a whole number"),
        "flag": _("must be true or false"),
        "list": _("must be a list of choices"),
    }.get(expected, _("the answer must be an object with one value for each field"))


def _describe_format(format: str) -> str:
    return {
        "email": _("must be an email address such as name@example.com"),
        "uri": _("must be a full web address such as https://example.com"),
        "date": _("must be a date such as 2026-07-28"),
    }.get(format, _("must be a date and time with its offset such as 2026-07-28T09:30:00Z"))


def _list_options(options: Sequence[str]) -> str:
    """Name the first options and count the others: nobody reads a list of all countries."""
    names = ", ".join(options[:SHOWN_OPTIONS])
    if (more := len(options) - SHOWN_OPTIONS) <= 0:
        return names
    return ngettext("{names} and {more} more", "{names} and {more} more", more).format(names=names, more=more)


def _describe_reason(reason: str) -> str:
    """Turn what a type's own validator said into a sentence about the field."""
    for prefix in ("Value error, ", "Assertion failed, "):
        reason = reason.removeprefix(prefix)
    for subject in ("Input", "String", "Value", "List", "Set", "Tuple"):
        if reason.startswith(f"{subject} should "):
            return f"must {reason.removeprefix(f'{subject} should ')}"
    return reason or _("is not valid")
