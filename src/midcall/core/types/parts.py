"""One field of a type, and the reading of answers field by field."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from pydantic import TypeAdapter, ValidationError
from pydantic_core import SchemaError

from midcall.core.forms.check import Problem
from midcall.core.forms.fields import Field
from midcall.core.types.defaults import sendable
from midcall.core.types.facts import NOTHING, Facts, unqualified, unwrapped
from midcall.core.types.kinds import Kind, Thaw, kind_of
from midcall.core.types.options import humanised
from midcall.errors import InvalidForm
from midcall.wording import answers as wording

__all__ = ["Content", "Part", "Unfit", "part_of", "problems_of", "thawed", "values_of"]

Content: TypeAlias = Mapping[str, Any]


class Unfit(ValueError):
    """The answer passed the form's check, but its type refused it. `problems` says why."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class Part:
    """A field: its name in the type, the field on the wire, and how its value is read or supplied."""

    attribute: str
    field: Field
    thaw: Thaw | None
    supplied: Callable[[], Any] | None


def part_of(attribute: str, tp: Any, facts: Facts, *, validated: bool = False) -> Part:
    """Compiles one field. `validated`: its container runs pydantic over the value anyway."""
    kind = kind_of(unwrapped(tp, facts), facts)
    thaw = kind.thaw
    if kind.beyond and not validated:
        thaw = _through(thaw, _adapter(tp, facts.path))
    return Part(attribute, _field(attribute, kind, facts), thaw, facts.supplied())


def _field(attribute: str, kind: Kind, facts: Facts) -> Field:
    make = partial(
        kind.make,
        facts.alias or attribute,
        title=facts.title or humanised(attribute),
        description=facts.description,
        required=facts.required is not False and not facts.nullable and not facts.has_default,
    )
    bare = _made(make, facts.path)
    if facts.default is NOTHING or facts.default is None:
        return bare
    default = sendable(bare, kind.freeze, facts)
    return bare if default is None else _made(partial(make, default=default), facts.path)


def _made(make: Callable[[], Field], path: str) -> Field:
    try:
        return make()
    except InvalidForm as error:
        raise InvalidForm(error.text.removeprefix(f"{error.path}: "), path=path, advice=error.advice) from None


def _through(thaw: Thaw | None, adapter: TypeAdapter[Any]) -> Thaw:
    validate = adapter.validate_python
    return validate if thaw is None else lambda value: validate(thaw(value))


def _adapter(tp: Any, path: str) -> TypeAdapter[Any]:
    try:
        return TypeAdapter(unqualified(tp))
    except ImportError as error:
        raise InvalidForm(str(error), path=path, advice="Install what is missing, or use str.") from None
    except (RuntimeError, TypeError, SchemaError) as error:
        why = " ".join(str(error).split()).removesuffix(".")
        raise InvalidForm(f"pydantic cannot validate this: {why}", path=path) from None


def values_of(parts: Sequence[Part], content: Content, *, by_wire_name: bool) -> dict[str, Any]:
    """The values of all parts, or `Unfit` with the problems of all."""
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for part in parts:
        name = part.field.name
        key = name if by_wire_name else part.attribute
        try:
            if name in content:
                values[key] = thawed(name, part.thaw, content[name])
            elif part.supplied is not None:
                values[key] = part.supplied()
        except Unfit as unfit:
            problems += unfit.problems
    if problems:
        raise Unfit(problems)
    return values


def thawed(name: str, thaw: Thaw | None, value: Any) -> Any:
    """One value from the wire, as the type has it."""
    if thaw is None:
        return value
    try:
        return thaw(value)
    except ValidationError as error:
        raise Unfit(problems_of(error, lambda place: name)) from None
    except ValueError as error:
        raise Unfit((Problem(name, "value", wording.not_fitting(str(error))),)) from None


def problems_of(error: ValidationError, field_at: Callable[[Any], str]) -> list[Problem]:
    """Pydantic's errors as problems; `field_at` names the field for the head of an error's location."""
    return [
        Problem(field_at(next(iter(found["loc"]), None)), found["type"], wording.not_fitting(found["msg"]))
        for found in error.errors(include_url=False, include_context=False, include_input=False)
    ]
