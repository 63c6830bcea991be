"""The default of a field: sent if it fits, refused if it is plain data that does not, else left to its type.

What is no plain data (an object, a time without an offset, infinity) has no form on the wire. It is not sent, and
applied when the answer is read.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from contextlib import suppress
from math import isfinite
from typing import Any, Final, cast

from midcall.core.forms.fields import Choice, Choices, Field
from midcall.core.types.facts import Facts
from midcall.errors import InvalidForm
from midcall.wording import answers

__all__ = ["sendable"]

_BOUNDS: Final[dict[str, tuple[Callable[[Any, Any], bool], Callable[[Any], str]]]] = {
    "ge": (operator.ge, answers.too_small),
    "le": (operator.le, answers.too_large),
    "gt": (operator.gt, answers.not_above),
    "lt": (operator.lt, answers.not_below),
}


def sendable(field: Field, freeze: Callable[[Any], Any], facts: Facts) -> Any:
    """The default of this field as it travels; None if it has no such form.

    Raises:
        InvalidForm: The field would not take it from a user.
    """
    plain = _is_plain(facts.default)
    value = _on_the_wire(field, freeze, facts.default, plain)
    unfit = [] if value is None else [sentence for _, sentence in field.rule()(value)]
    said = (unfit if plain else []) or _out_of_bounds(facts)
    if said:
        raise InvalidForm(
            f"default {facts.default!r} {' and '.join(said)}",
            path=facts.path,
            advice=(
                "Give a default that an answer could be; where it means that there is none, write `X | None = None`."
            ),
        )
    return None if unfit else value


def _is_plain(default: Any) -> bool:
    if type(default) in (list, tuple, set, frozenset):
        return all(map(_is_plain, cast("Iterable[Any]", default)))
    return type(default) in (str, int, bool) or (type(default) is float and isfinite(default))


def _on_the_wire(field: Field, freeze: Callable[[Any], Any], default: Any, plain: bool) -> Any:
    value: Any = None
    with suppress(TypeError, ValueError, AttributeError):
        value = freeze(default)
    if value is None and plain:  # its type has no such value: then it is judged as it stands
        value = str(default) if isinstance(field, Choice) else default
    if isinstance(field, Choices) and isinstance(value, (tuple, set, frozenset)):
        return list(cast("Iterable[Any]", value))
    return value


def _out_of_bounds(facts: Facts) -> list[str]:
    """The bounds that it breaks, also those that the wire cannot carry: a `gt` on a float, the first of all dates."""
    return [
        say(facts.bounds[name])
        for name, (fits, say) in _BOUNDS.items()
        if name in facts.bounds and not _fits(fits, facts.default, facts.bounds[name])
    ]


def _fits(fits: Callable[[Any, Any], bool], default: Any, bound: Any) -> bool:
    try:
        return bool(fits(default, bound))
    except TypeError:  # the two cannot be compared, so nothing is known of it
        return True
