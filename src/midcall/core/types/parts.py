"""One field of a type: how it's made, its default, and how its value is read."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from typing import Any, Final, TypeAlias, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import CoreSchema, PydanticUndefined, SchemaError, SchemaValidator, core_schema

from midcall.core.forms.fields import Choice, Choices, Field, Flag, Number, Text
from midcall.core.types.facts import Facts, strip_qualifiers, unwrap
from midcall.core.types.kinds import Kind, Thaw, Unfit, choose_kind
from midcall.core.types.options import humanize
from midcall.errors import InvalidForm
from midcall.language.problems import Problem, describe

Content: TypeAlias = Mapping[str, Any]

_BOUNDS: Final[dict[str, tuple[Callable[[Any, Any], bool], str, str]]] = {
    "ge": (operator.ge, "too_small", "minimum"),
    "le": (operator.le, "too_large", "maximum"),
    "gt": (operator.gt, "not_above", "bound"),
    "lt": (operator.lt, "not_below", "bound"),
}


@dataclass(frozen=True, slots=True)
class Part:
    """A field: its name in the type, the field on the wire, and how to read or supply its value."""

    attribute: str
    field: Field
    thaw: Thaw | None
    supplied: Callable[[], Any] | None
    quick: Thaw | None = None
    """Checks and reads a value in one step. It raises for some that fit, too, and then the form's own check decides."""


def build_part(attribute: str, tp: Any, facts: Facts, *, validated: bool = False) -> Part:
    """Compile one field. `validated`: its container runs pydantic over the value anyway."""
    kind = choose_kind(unwrap(tp, facts), facts)
    thaw = kind.thaw
    if kind.beyond and not validated:
        thaw = _through(thaw, _adapter(tp, facts.path))
    field = _field(attribute, kind, facts)
    quick = None if kind.beyond else _compile_quick(field, kind.thaw)
    return Part(attribute, field, thaw, facts.supplier(), quick)


def _compile_quick(field: Field, thaw: Thaw | None) -> Thaw | None:
    match field:
        case Choice():
            return thaw or {value: value for value in field.values}.__getitem__
        case Flag():
            schema: CoreSchema = core_schema.bool_schema(strict=True)
        case Text(pattern=None, format=None) if thaw is None:
            least = field.min_length or 0  # never None: pydantic refuses half a character only if it counts them
            schema = core_schema.str_schema(strict=True, min_length=least, max_length=field.max_length)
        case Number(integer=True, minimum=int() | None as least, maximum=int() | None as most) if thaw is int:
            schema = core_schema.int_schema(strict=True, ge=least, le=most)
        case _:
            return None
    return SchemaValidator(schema).validate_python


def _field(attribute: str, kind: Kind, facts: Facts) -> Field:
    make = partial(
        kind.make,
        facts.alias or attribute,
        title=facts.title or humanize(attribute),
        description=facts.description,
        required=facts.required is not False and not facts.nullable and not facts.has_default,
    )
    bare = _make(make, facts.path)
    if facts.default is PydanticUndefined or facts.default is None:
        return bare
    default = _serialize_default(bare, kind.freeze, facts)
    return bare if default is None else _make(partial(make, default=default), facts.path)


def _make(make: Callable[[], Field], path: str) -> Field:
    try:
        return make()
    except InvalidForm as error:
        raise InvalidForm(error.text.removeprefix(f"{error.path}: "), path=path, advice=error.advice) from None


def _serialize_default(field: Field, freeze: Callable[[Any], Any], facts: Facts) -> Any:
    """The default as it travels, or None if it can't: an object, a time without an offset, infinity.

    A default that isn't sent is applied when the answer is read.

    Raises:
        InvalidForm: The field would not accept it from a user.
    """
    plain = _is_plain(facts.default)
    value = _freeze(field, freeze, facts.default, plain)
    unfit = [] if value is None else [describe(*fault) for fault in field.rule()(value)]
    said = (unfit if plain else []) or _out_of_bounds(facts)
    if said:
        raise InvalidForm(
            f"default {facts.default!r} {' and '.join(said)}",
            path=facts.path,
            advice=("Give a default that a user could answer. For no default, write `X | None = None`."),
        )
    return None if unfit else value


def _is_plain(default: Any) -> bool:
    if type(default) in (list, tuple, set, frozenset):
        return all(map(_is_plain, cast("Iterable[Any]", default)))
    return type(default) in (str, int, bool) or (type(default) is float and isfinite(default))


def _freeze(field: Field, freeze: Callable[[Any], Any], default: Any, plain: bool) -> Any:
    value: Any = None
    with suppress(TypeError, ValueError, AttributeError):
        value = freeze(default)
    if value is None and plain:  # not a value of its type: check it as it is
        value = str(default) if isinstance(field, Choice) else default
    if isinstance(field, Choices) and isinstance(value, (tuple, set, frozenset)):
        return list(cast("Iterable[Any]", value))
    return value


def _out_of_bounds(facts: Facts) -> list[str]:
    """The bounds that the default breaks, including those that the wire can't carry: a `gt` on a float."""
    return [
        describe(code, {param: facts.bounds[name]})
        for name, (fits, code, param) in _BOUNDS.items()
        if name in facts.bounds and not _fits(fits, facts.default, facts.bounds[name])
    ]


def _fits(fits: Callable[[Any, Any], bool], default: Any, bound: Any) -> bool:
    try:
        return bool(fits(default, bound))
    except TypeError:  # not comparable
        return True


def _through(thaw: Thaw | None, adapter: TypeAdapter[Any]) -> Thaw:
    validate = adapter.validate_python
    return validate if thaw is None else lambda value: validate(thaw(value))


def _adapter(tp: Any, path: str) -> TypeAdapter[Any]:
    try:
        return TypeAdapter(strip_qualifiers(tp))
    except ImportError as error:
        raise InvalidForm(str(error), path=path, advice="Install the missing package, or use str.") from None
    except (RuntimeError, TypeError, SchemaError) as error:
        why = " ".join(str(error).split()).removesuffix(".")
        raise InvalidForm(f"pydantic cannot validate this: {why}", path=path) from None


def read_values(parts: Sequence[Part], content: Content, *, by_wire_name: bool) -> dict[str, Any]:
    """The values of all parts, or `Unfit` with all problems."""
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for part in parts:
        name = part.field.name
        key = name if by_wire_name else part.attribute
        try:
            if name in content:
                values[key] = read_value(name, part.thaw, content[name])
            elif part.supplied is not None:
                values[key] = part.supplied()
        except Unfit as unfit:
            problems += unfit.problems
    if problems:
        raise Unfit(problems)
    return values


def read_value(name: str, thaw: Thaw | None, value: Any) -> Any:
    """One value from the wire, as a value of its type."""
    if thaw is None:
        return value
    try:
        return thaw(value)
    except Unfit as unfit:
        raise Unfit([replace(problem, field=name) for problem in unfit.problems]) from None
    except ValidationError as error:
        raise Unfit(list_problems(error, lambda place: name)) from None
    except ValueError as error:
        raise Unfit((Problem(name, "value", {"reason": str(error)}),)) from None


def list_problems(error: ValidationError, field_at: Callable[[Any], str]) -> list[Problem]:
    """Pydantic's errors as problems; `field_at` names the field for the first part of an error's location."""
    return [
        Problem(field_at(next(iter(found["loc"]), None)), found["type"], {"reason": found["msg"]})
        for found in error.errors(include_url=False, include_context=False, include_input=False)
    ]
