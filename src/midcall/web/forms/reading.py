"""Read a posted form as content for `check`.

A value that cannot be read stays text, and `check` says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from midcall.core.forms import line_input
from midcall.core.forms.fields import Choice, Choices, Field, Flag, Number, Text
from midcall.core.forms.form import Form
from midcall.web.forms import moments

_FLAGS: Final[dict[str, bool]] = {"yes": True, "no": False}


def read(form: Form, posted: Iterable[tuple[str, str]], *, prefix: str = "f") -> dict[str, Any]:
    """The content of a form that posted these pairs of name and value. Empty fields are omitted."""
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
        return _choices(field, given)
    line = given[-1] if given else ""
    if isinstance(field, Text):
        return _text(field, line, zone[-1] if zone else "") or None
    if not line.strip():
        return None
    match field:
        case Number():
            return line_input.read(field, line.strip())
        case Flag():
            return _FLAGS.get(line, line)
        case Choice():
            return _option(field, line)


def _text(field: Text, line: str, zone: str) -> str:
    text = line.replace("\r\n", "\n")
    if field.format is None:
        return text
    return moments.join(text.strip(), zone) if field.format == "date-time" and zone else text.strip()


def _choices(field: Choices, given: Sequence[str]) -> list[str] | None:
    """No ticks mean an empty list if the field is required or had ticks by default, otherwise no answer."""
    if not given and not field.required and not field.default:
        return None
    return [_option(field, value) for value in dict.fromkeys(given)]


def _option(field: Choice | Choices, number: str) -> str:
    values = field.values
    if number.isascii() and number.isdigit() and len(number) < 9 and int(number) < len(values):
        return values[int(number)]
    return number
