"""The annotations of one field, and the bare type under them."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, NewType, NotRequired, Required, cast, get_args, get_origin

import annotated_types as at
import pydantic
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from typing_extensions import ReadOnly, TypeAliasType

from midcall.core.forms.patterns import can_compile
from midcall.core.types.refusals import refuse
from midcall.errors import InvalidForm

_ALIASES: Final = (TypeAliasType, getattr(typing, "TypeAliasType", TypeAliasType))
_QUALIFIERS: Final = (Required, NotRequired, ReadOnly, Final)
_LOWER_BOUNDS: Final = ("ge", "gt", "min_length")


class IntOrFloat:
    """A marker for `int | float`: its values need no conversion."""


@dataclass(slots=True)
class Facts:
    """What the annotations of the field at `path` declare. `beyond`: more than the wire can carry."""

    path: str
    title: str | None = None
    description: str | None = None
    default: Any = PydanticUndefined
    """None would be a default."""
    factory: Callable[[], Any] | None = None
    alias: str | None = None
    bounds: dict[str, Any] = field(default_factory=dict[str, Any])
    pattern: str | None = None
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
    nullable: bool = False
    required: bool | None = None
    beyond: bool = False

    @property
    def has_default(self) -> bool:
        return self.default is not PydanticUndefined or self.factory is not None

    def supplier(self) -> Callable[[], Any] | None:
        """Makes the value of a field that was left out, if anything does."""
        if self.factory is not None:
            return self.factory
        if self.default is not PydanticUndefined:
            return partial(deepcopy, self.default)
        return (lambda: None) if self.nullable else None

    def absorb(self, said: Any) -> None:
        """Take in one piece of `Annotated` metadata. Outer ones win."""
        if isinstance(said, FieldInfo):
            self._absorb_field(said)
        elif isinstance(said, at.GroupedMetadata):
            for part in cast("Iterator[Any]", iter(said)):
                self.absorb(part)
        elif isinstance(said, (at.Ge, at.Gt, at.Le, at.Lt, at.MinLen, at.MaxLen)):
            self._absorb_bound(said)
        elif isinstance(text := getattr(said, "documentation", said), str):
            self.description = self.description or text
        elif not isinstance(said, pydantic.Strict):
            self._absorb_general(said)

    def _absorb_field(self, info: FieldInfo) -> None:
        self.title = self.title or info.title
        self.description = self.description or info.description
        self.alias = self.alias or self._alias(info)
        if not self.has_default:
            self.default = PydanticUndefined if info.default is ... else info.default
            self.factory = cast("Callable[[], Any] | None", info.default_factory)
        if isinstance(extra := cast(Any, info.json_schema_extra), dict):
            self.extra = {**extra, **self.extra}
        for said in info.metadata:
            self.absorb(said)

    def _absorb_bound(self, bound: Any) -> None:
        (slot,) = dataclasses.fields(bound)
        value = getattr(bound, slot.name)
        said = self.bounds.setdefault(slot.name, value)
        self.bounds[slot.name] = max(said, value) if slot.name in _LOWER_BOUNDS else min(said, value)

    def _absorb_general(self, said: Any) -> None:
        """Pydantic keeps a pattern, and everything else it has no class for, in one bag of attributes."""
        settings: dict[str, Any] = dict(getattr(said, "__dict__", {})) if isinstance(said, at.BaseMetadata) else {}
        pattern = settings.get("pattern")
        if isinstance(pattern, str) and self.pattern is None and can_compile(pattern):
            self.pattern = settings.pop("pattern")
        elif not settings:
            self.beyond = True
        if settings.keys() - {"strict"}:
            self.beyond = True

    def _alias(self, info: FieldInfo) -> str | None:
        alias: Any = info.validation_alias if info.validation_alias is not None else info.alias
        if isinstance(alias, pydantic.AliasChoices):
            alias = next((choice for choice in alias.choices if isinstance(choice, str)), alias.choices[0])
        if isinstance(alias, pydantic.AliasPath):
            raise InvalidForm("an AliasPath reaches into nested data, and a form is flat", path=self.path)
        return alias


def unwrap(tp: Any, facts: Facts) -> Any:
    """The bare type. Everything its wrappers declare goes into `facts`."""
    while True:
        origin = get_origin(tp)
        if isinstance(tp, _ALIASES):
            tp = tp.__value__
        elif isinstance(origin, _ALIASES):
            tp = origin.__value__[get_args(tp)]
        elif isinstance(tp, NewType):
            tp = tp.__supertype__
        elif origin is Annotated:
            for said in reversed(tp.__metadata__):
                facts.absorb(said)
            tp = tp.__origin__
        elif origin in _QUALIFIERS:
            facts.required = origin is Required if origin in (Required, NotRequired) else facts.required
            (tp,) = get_args(tp)
        elif origin in (typing.Union, UnionType) or (origin is Literal and None in get_args(tp)):
            tp = _without_none(tp, facts)
        else:
            return tp


def strip_qualifiers(tp: Any) -> Any:
    """Remove `Required`, `ReadOnly` and the like, which only mean something in a TypedDict or dataclass."""
    while get_origin(tp) in _QUALIFIERS:
        (tp,) = get_args(tp)
    return tp


def _without_none(tp: Any, facts: Facts) -> Any:
    literal = get_origin(tp) is Literal
    options = [one for one in get_args(tp) if one is not None and one is not NoneType]
    facts.nullable = facts.nullable or len(options) < len(get_args(tp))
    if options and (literal or all(get_origin(one) is Literal for one in options)):
        return Literal[tuple(options if literal else [value for one in options for value in get_args(one)])]
    if len(options) == 1:
        return options[0]
    if set(options) == {int, float}:
        return IntOrFloat
    return refuse(tp, facts.path, "A field has one type: choose one, or ask two questions.")
