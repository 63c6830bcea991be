"""How to ask for each bare type: the field it makes, and its values from and to the wire."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum
from functools import partial
from typing import Any, Final, Literal, TypeAlias, get_args, get_origin

import pydantic

from midcall.core.forms.fields import Choice, Choices, Field, Flag, Number, Text
from midcall.core.forms.formats import FORMATS
from midcall.core.forms.raw_schema import parse_field
from midcall.core.forms.rules import is_number
from midcall.core.forms.schema import drop_none
from midcall.core.types.facts import Facts, IntOrFloat, unwrap
from midcall.core.types.options import OptionSet, enum_options, literal_options
from midcall.core.types.refusals import is_a, refuse
from midcall.errors import InvalidForm
from midcall.language.problems import Problem

Thaw: TypeAlias = Callable[[Any], Any]

_COLLECTIONS: Final[dict[Any, Callable[[list[Any]], Any]]] = {
    list: list,
    Sequence: list,
    set: set,
    frozenset: frozenset,
    tuple: tuple,
}
_DATES: Final[dict[Any, type[date]]] = {
    date: date,
    pydantic.PastDate: date,
    pydantic.FutureDate: date,
    datetime: datetime,
    pydantic.AwareDatetime: datetime,
    pydantic.PastDatetime: datetime,
    pydantic.FutureDatetime: datetime,
}
_ROUNDING: Final[dict[str, tuple[Callable[[int | float], int], int]]] = {
    "ge": (math.ceil, 0),
    "gt": (math.floor, 1),
    "le": (math.floor, 0),
    "lt": (math.ceil, -1),
}


class Unfit(ValueError):
    """The answer passed the form's check, but its type rejected it. `problems` says why."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = tuple(problems)


def _as_is(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class Kind:
    """`make` takes a name, the texts and a default. `beyond`: the type checks more than the wire carries."""

    make: Callable[..., Field]
    thaw: Thaw | None = None
    freeze: Thaw = _as_is
    beyond: bool = False


def choose_kind(base: Any, facts: Facts) -> Kind:
    """How to ask for this bare type, or `InvalidForm`."""
    if (words := _options_in_extra(base, facts)) is not None:
        return _from_schema(words, facts)
    if base is str or base is pydantic.EmailStr or is_a(base, pydantic.AnyUrl):
        return _text(base, facts)
    if base is bool:
        return Kind(Flag, beyond=facts.beyond or bool(_bounds(facts)))
    if base is int or base is float or base is IntOrFloat:
        return _number(base, facts)
    if any(base is known for known in _DATES):
        return _date(base, facts)
    if (options := _options(base, facts.path)) is not None:
        thaw = None if options.plain else options.values.__getitem__
        return Kind(partial(Choice, options=options.wire), thaw, options.text, facts.beyond)
    if get_origin(base) in _COLLECTIONS:
        return _collection(base, facts)
    return refuse(base, facts.path)


def _number(base: Any, facts: Facts) -> Kind:
    bounds = {name: _plain(bound) for name, bound in _bounds(facts).items()}
    carried = set(_ROUNDING) if base is int else {"ge", "le"}
    # A float's gt and lt travel as inclusive bounds: JSON forms have no others.
    beyond = facts.beyond or not carried.issuperset(bounds) or None in bounds.values()
    known = {name: bound for name, bound in bounds.items() if bound is not None}
    if base is int:
        # The last whole number within each bound.
        known = {name: _ROUNDING[name][0](bound) + _ROUNDING[name][1] for name, bound in known.items()}
    minimum = max((known[name] for name in ("ge", "gt") if name in known), default=None)
    maximum = min((known[name] for name in ("le", "lt") if name in known), default=None)
    thaw = {int: int, float: _float}.get(base)
    return Kind(partial(Number, integer=base is int, minimum=minimum, maximum=maximum), thaw, beyond=beyond)


def _bounds(facts: Facts) -> dict[str, Any]:
    """The bounds of a type that is neither text nor a list."""
    if facts.pattern is not None or facts.bounds.keys() & {"min_length", "max_length"}:
        raise InvalidForm("a length or a pattern has no meaning here: only text and lists have one", path=facts.path)
    return facts.bounds


def _plain(bound: Any) -> int | float | None:
    """A bound as a number that JSON can write, or None if that would change it."""
    try:
        plain = bound if isinstance(bound, (int, float)) else float(bound)
    except (TypeError, ValueError):
        return None
    return plain if is_number(plain) and plain == bound else None


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        raise Unfit([Problem("", "type", {"expected": "number"})]) from None


def _text(base: Any, facts: Facts) -> Kind:
    if base is str:
        asked = facts.extra.get("format")
        format = asked if asked in FORMATS else None
    else:
        format = "email" if base is pydantic.EmailStr else "uri"
    make = partial(Text, format=format, pattern=facts.pattern, **_sizes(facts, "length"))
    return Kind(make, None, _as_is if base is str else str, beyond=base is not str or _beyond_sizes(facts))


def _date(base: Any, facts: Facts) -> Kind:
    beyond = facts.beyond or bool(_bounds(facts)) or base not in (date, datetime)
    if _DATES[base] is datetime:
        return Kind(partial(Text, format="date-time"), _datetime, datetime.isoformat, beyond)
    return Kind(partial(Text, format="date"), date.fromisoformat, date.isoformat, beyond)


def _datetime(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text.upper())
    except ValueError:  # a leap second, which Python doesn't support
        raise Unfit([Problem("", "format", {"format": "date-time"})]) from None


def _collection(base: Any, facts: Facts) -> Kind:
    items, within = get_args(base), Facts(facts.path)
    if get_origin(base) is tuple and items[1:] != (Ellipsis,):
        refuse(base, facts.path, "A tuple of choices is written tuple[X, ...].")
    options = _options(unwrap(items[0], within), facts.path)
    if options is None or within.nullable:
        refuse(base, facts.path, "A list can only hold choices: list[Literal[...]], or a list of an Enum.")
    collect, values = _COLLECTIONS[get_origin(base)], options.values
    make = partial(Choices, options=options.wire, **_sizes(facts, "items"))
    beyond = within.beyond or _beyond_sizes(facts) or (get_origin(base) in (set, frozenset) and bool(facts.bounds))
    return Kind(make, lambda texts: collect([values[text] for text in texts]), partial(_freeze, options), beyond)


def _freeze(options: OptionSet, values: Iterable[Any]) -> list[str]:
    """The texts of a default, in its own order; a set gets the order of the options."""
    texts = [text for text in map(options.text, values) if text is not None]
    if len(texts) < len(list(values)):
        raise ValueError("the default contains a value that is not an option")
    return [text for text in options.values if text in texts] if isinstance(values, Set) else texts


def _sizes(facts: Facts, what: Literal["length", "items"]) -> dict[str, Any]:
    return {f"min_{what}": facts.bounds.get("min_length"), f"max_{what}": facts.bounds.get("max_length")}


def _beyond_sizes(facts: Facts) -> bool:
    return facts.beyond or bool(facts.bounds.keys() - {"min_length", "max_length"})


def _options(base: Any, path: str) -> OptionSet | None:
    if get_origin(base) is Literal:
        return literal_options(get_args(base), path)
    return enum_options(base, path) if is_a(base, Enum) else None


def _options_in_extra(base: Any, facts: Facts) -> dict[str, Any] | None:
    """Options in `json_schema_extra`: the SDK's examples give titles this way."""
    extra = facts.extra
    if base is str and {"enum", "oneOf"} & extra.keys():
        return {"type": "string"} | {word: extra[word] for word in ("enum", "enumNames", "oneOf") if word in extra}
    if get_origin(base) in (list, Sequence) and get_args(base) == (str,) and "items" in extra:
        sizes = {"minItems": facts.bounds.get("min_length"), "maxItems": facts.bounds.get("max_length")}
        sizes |= {word: extra[word] for word in sizes if word in extra}
        return {"type": "array", "items": extra["items"]} | drop_none(**sizes)
    return None


def _from_schema(words: Mapping[str, Any], facts: Facts) -> Kind:
    def make(name: str, *, required: bool, **texts: Any) -> Field:
        return parse_field(name, {**words, **drop_none(**texts)}, required, facts.path)

    return Kind(make, beyond=facts.beyond)
