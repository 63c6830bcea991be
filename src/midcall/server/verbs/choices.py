"""The options of `choose`: any objects, and their texts."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, cast, get_origin

from midcall.core.types.options import OptionSet, enum_options
from midcall.errors import InvalidQuestion


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
    by_text, titles = {_text(option): option for option in each}, _titles(options)
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
    texts = [_text(option) for option in picked]
    return texts if many else texts[0]


def _several(options: Any) -> list[Any] | None:
    """The items of this collection; None if it isn't one. A text is one item."""
    try:
        each = iter(options)
    except TypeError:
        return None
    return None if isinstance(options, (str, bytes, bytearray)) else list(each)


def _titles(options: Any) -> tuple[str, ...] | None:
    """What to show for each option, if that isn't the option itself."""
    if isinstance(options, Mapping):
        return tuple(cast("Mapping[Any, str]", options).values())
    if isinstance(options, type) and issubclass(options, Enum):
        return enum_options(options, options.__name__).titles
    return None


def _text(option: object) -> str:
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
