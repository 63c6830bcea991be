"""What `choose` offers: any things at all, and the texts that stand for them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, cast, get_origin

from midcall.core.types.options import Optioned, of_enum
from midcall.errors import InvalidQuestion

__all__ = ["default_of", "offered_by"]


def offered_by(options: Any) -> Optioned:
    """These options, in their order.

    Raises:
        InvalidQuestion: They are no options, have no order, or cannot be told apart as texts.
    """
    if isinstance(options, (set, frozenset)):
        raise InvalidQuestion("The options are a set, which has no order: hand over sorted(...) of it, or a list.")
    if get_origin(options) is not None:  # iterating over one gives itself, unpacked
        raise InvalidQuestion(_type_as_options(str(options).removeprefix("typing.")))
    each = _several(options)
    if each is None:
        raise InvalidQuestion(
            "choose() takes a list of options, a mapping from option to title, or an Enum, and not "
            f"{type(options).__name__}: choose('Which seat?', ['window', 'aisle'])."
        )  # pyright: ignore[reportUnknownArgumentType]
    by_text, titles = {_text(option): option for option in each}, _titles(options)
    if len(by_text) != len(each) or (titles is not None and len(set(titles)) != len(titles)):
        raise InvalidQuestion(
            "Two of these options read the same. Options must differ as text, and so must their titles."
        )
    return Optioned(titles, by_text)


def default_of(default: Any, offered: Optioned, many: bool) -> Any:
    """The default as it would be answered: a text, or a list of texts. What has no order takes that of the options."""
    options = list(offered.values.values())
    picked = _several(default) if many else [default]
    if picked is None:
        raise InvalidQuestion(
            f"With many=True, default= is a list of options, and not {type(default).__name__}: default=['window']."
        )
    if not all(option in options for option in picked):
        raise InvalidQuestion("default= must be one of the options.")
    if isinstance(default, (set, frozenset)):
        picked = [option for option in options if option in picked]
    texts = [_text(option) for option in picked]
    return texts if many else texts[0]


def _several(options: Any) -> list[Any] | None:
    """What is in this collection; None if it is none. A text is one thing, and not its letters."""
    try:
        each = iter(options)
    except TypeError:
        return None
    return None if isinstance(options, (str, bytes, bytearray)) else list(each)


def _titles(options: Any) -> tuple[str, ...] | None:
    """What to show for each option, where that is not the option itself."""
    if isinstance(options, Mapping):
        return tuple(cast("Mapping[Any, str]", options).values())
    if isinstance(options, type) and issubclass(options, Enum):
        return of_enum(options, options.__name__).titles
    return None


def _text(option: object) -> str:
    """What stands for this option. Where a class has no text, Python writes its address, another one in every run."""
    shown = option.value if isinstance(option, Enum) else option
    text = str(shown)
    if f"{id(shown):x}" not in text.lower():
        return text
    if isinstance(option, Enum):
        return option.name
    raise InvalidQuestion(
        f"An option of the class {type(option).__name__} has no text of its own: all that could be shown is its "
        "address, which is another one in every run. Give the class a __str__, or let the user choose among "
        "names."
    )


def _type_as_options(named: str) -> str:
    return f"choose() takes the options themselves, and not the type {named}. ask(message, {named}) takes the type."
