"""The options of a `Literal`, of an `Enum` and of `choose`: the texts that travel, and their values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, cast, get_origin

from midcall.errors import InvalidForm, InvalidQuestion

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


# --- of choose() -------------------------------------------------------------------------------


def read_options(options: Any) -> OptionSet:
    """These options, in their order.

    Raises:
        InvalidQuestion: They aren't options, have no order, or two have the same text.
    """
    if isinstance(options, (set, frozenset)):
        raise InvalidQuestion("The options are a set, which has no order: pass sorted(...) of it, or a list.")
    if get_origin(options) is not None:  # iterating over one gives itself, unpacked
        named = str(options).removeprefix("typing.")
        raise InvalidQuestion(
            f"choose() takes the options themselves, not the type {named}. ask(message, {named}) takes the type."
        )
    each = _several(options)
    if each is None:
        raise InvalidQuestion(
            "choose() takes a list of options, a mapping from option to title, or an Enum, not "
            f"{type(options).__name__}: choose('Which seat?', ['window', 'aisle'])."
        )  # pyright: ignore[reportUnknownArgumentType]
    by_text, titles = {_choice_text(option): option for option in each}, _choice_titles(options)
    if len(by_text) != len(each) or (titles is not None and len(set(titles)) != len(titles)):
        raise InvalidQuestion(
            "Two of these options read the same. Options must differ as text, and so must their titles."
        )
    return OptionSet(titles, by_text)


def default_of(default: Any, offered: OptionSet, many: bool) -> Any:
    """The default as an answer: a text, or a list of texts. A set gets the order of the options."""
    options = list(offered.values.values())
    picked = _several(default) if many else [default]
    if picked is None:
        raise InvalidQuestion(
            f"With many=True, default= is a list of options, not {type(default).__name__}: default=['window']."
        )
    if not all(option in options for option in picked):
        raise InvalidQuestion("default= must be one of the options.")
    if isinstance(default, (set, frozenset)):
        picked = [option for option in options if option in picked]
    texts = [_choice_text(option) for option in picked]
    return texts if many else texts[0]


def _several(options: Any) -> list[Any] | None:
    """The items of this collection; None if it isn't one. A text is one item."""
    try:
        each = iter(options)
    except TypeError:
        return None
    return None if isinstance(options, (str, bytes, bytearray)) else list(each)


def _choice_titles(options: Any) -> tuple[str, ...] | None:
    """What to show for each option, if that isn't the option itself."""
    if isinstance(options, Mapping):
        return tuple(cast("Mapping[Any, str]", options).values())
    if isinstance(options, type) and issubclass(options, Enum):
        return enum_options(options, options.__name__).titles
    return None


def _choice_text(option: object) -> str:
    """The text of this option. If its class has none, Python writes its address, which changes in every run."""
    shown = option.value if isinstance(option, Enum) else option
    text = str(shown)
    if f"{id(shown):x}" not in text.lower():
        return text
    if isinstance(option, Enum):
        return option.name
    raise InvalidQuestion(
        f"An option of the class {type(option).__name__} has no text: Python would show its address, which changes in "
        "every run. Give the class a __str__, or let the user choose among names."
    )
