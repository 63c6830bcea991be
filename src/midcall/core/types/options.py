"""The options of a `Literal` or an `Enum`: the texts that travel, and their values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from midcall.errors import InvalidForm

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class OptionSet:
    """The texts in order, their titles (or None), and the value of each text."""

    titles: tuple[str, ...] | None
    values: Mapping[str, Any]

    @property
    def wire(self) -> list[str] | dict[str, str]:
        """As a choice field takes them."""
        texts = list(self.values)
        return texts if self.titles is None else dict(zip(texts, self.titles, strict=True))

    @property
    def plain(self) -> bool:
        """Whether each text is its own value, so that nothing has to be mapped back."""
        return all(type(value) is str for value in self.values.values())

    def text(self, value: Any) -> str | None:
        """The text for a value, or for an enum member given by its value."""
        for text, known in self.values.items():
            if type(known) is type(value) and known == value:
                return text
        for text, known in self.values.items():
            if isinstance(known, Enum) and not isinstance(value, Enum) and known.value == value:
                return text
        return None


def literal_options(values: Iterable[Any], path: str) -> OptionSet:
    """The options of `Literal[...]`, without None."""
    return OptionSet(None, _distinct([(_text(value, path), value) for value in values], path))


def enum_options(kind: type[Enum], path: str) -> OptionSet:
    """The options of an enum: its values as texts, with the members' names as titles if they say more."""
    members = list(kind)
    if not members:
        raise InvalidForm("this Enum has no members to choose from", path=path)
    pairs = [(_member_text(member), member) for member in members]
    same = all(humanize(text).casefold() == humanize(member.name).casefold() for text, member in pairs)
    return OptionSet(None if same else tuple(humanize(member.name) for member in members), _distinct(pairs, path))


def humanize(name: str) -> str:
    """`travel_date` and `travelDate` as a person writes them: Travel date."""
    words = _CAMEL.sub(" ", name).replace("_", " ").replace("-", " ").split()
    lowered = [word if word.isupper() and len(words) > 1 and not name.isupper() else word.lower() for word in words]
    text = " ".join(lowered)
    return text[:1].upper() + text[1:] or name


def _text(value: Any, path: str) -> str:
    if isinstance(value, Enum):
        return _member_text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int)):
        return str(value)
    raise InvalidForm(f"{value!r} cannot be an option: use text or numbers", path=path)


def _member_text(member: Enum) -> str:
    """The member's value if it's text or a number, else its name."""
    value = member.value
    return str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else member.name


def _distinct(pairs: list[tuple[str, Any]], path: str) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise InvalidForm("two options look the same as text", path=path, advice="Give them different values.")
    return values
