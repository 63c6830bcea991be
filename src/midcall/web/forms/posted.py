"""What a browser posted, as content for `check`.

What cannot be read is left as the text it is, and `check` says what is wrong with it, as everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from midcall.core.forms import typed
from midcall.core.forms.fields import Choice, Choices, Field, Flag, Number, Text
from midcall.core.forms.form import Form
from midcall.web.forms import moments

__all__ = ["read"]

_FLAGS: Final[dict[str, bool]] = {"yes": True, "no": False}


def read(form: Form, posted: Iterable[tuple[str, str]], *, prefix: str = "f") -> dict[str, Any]:
    """The content that these pairs of name and value stand for. What was left empty is omitted."""
    given: dict[str, list[str]] = {}
    for name, value in posted:
        given.setdefault(name, []).append(value)
    content: dict[str, Any] = {}
    for index, field in enumerate(form.fields):
        id = f"{prefix}{index}"
        value = _value(field, given.get(id, ()), given.get(f"{id}-zone", ()))
        if value is not None:
            content[field.name] = value
    return content


def _value(field: Field, given: Sequence[str], zone: Sequence[str]) -> Any:
    if isinstance(field, Choices):
        return _chosen(field, given)
    line = given[-1] if given else ""
    if isinstance(field, Text):
        return _text(field, line, zone[-1] if zone else "") or None
    if not line.strip():
        return None
    match field:
        case Number():
            return typed.read(field, line.strip())
        case Flag():
            return _FLAGS.get(line, line)
        case Choice():
            return _option(field, line)


def _text(field: Text, line: str, zone: str) -> str:
    text = line.replace("\r\n", "\n")
    if field.format is None:
        return text
    return moments.join(text.strip(), zone) if field.format == "date-time" and zone else text.strip()


def _chosen(field: Choices, given: Sequence[str]) -> list[str] | None:
    """None ticked is an answer where one is required, and where ticks were taken away. Else it is left empty."""
    if not given and not field.required and not field.default:
        return None
    return [_option(field, value) for value in dict.fromkeys(given)]


def _option(field: Choice | Choices, number: str) -> str:
    values = field.values
    if number.isascii() and number.isdigit() and len(number) < 9 and int(number) < len(values):
        return values[int(number)]
    return number
