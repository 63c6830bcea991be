"""Read `key=value` on the command line as the arguments that a tool's schema asks for."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from midcall.cli.tools.schemas import ArgumentKind, describe, kinds_of, required_of, type_of
from midcall.core.forms.patterns import Budget
from midcall.core.text import plain_line
from midcall.settings.cli import REFERENCE_CHARACTERS, SCHEMA_STEPS

_FLAGS: Final = {"yes": True, "y": True, "true": True, "no": False, "n": False, "false": False}
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,300}")
_NUMBER: Final = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_UNCHECKED: Final = frozenset({"$schema", "patternProperties", "unevaluatedProperties", "unevaluatedItems"})
"""The validator would run patterns in Python's engine for these, or start over with another validator."""
_ANNOTATIONS: Final = frozenset({"type", "title", "description", "default", "$schema"})


class BadArgument(ValueError):
    """An argument can't be sent. Names it, and says what is expected."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument as it was typed. If it's `raw`, the text is JSON."""

    name: str
    text: str
    raw: bool = False


def split(texts: Iterable[str]) -> list[Argument]:
    """Split these texts into names and values, before the tool is known."""
    return [_split(text) for text in texts]


def _split(text: str) -> Argument:
    before, equals, value = text.partition("=")
    name = before.removesuffix(":")
    if not equals or not name:
        raise BadArgument(f"{text!r}: an argument is written as key=value, or key:=json")
    if value.startswith("@"):
        value = _contents(name, value[1:])
    return Argument(name, value, raw=before.endswith(":"))


def _contents(name: str, path: str) -> str:
    try:
        return Path(path).read_text("utf-8")
    except (OSError, ValueError) as error:  # not text, or not even a path
        why = error.strerror if isinstance(error, OSError) and error.strerror else "it is not text in UTF-8"
        raise BadArgument(
            f"{name}: the file {path!r} cannot be read ({why}). For a text that starts with @, write {name}:='\"@...\"'"
        ) from None


def read(typed: Sequence[Argument], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, converted by the tool's schema.

    Raises:
        BadArgument: One is unknown, missing or invalid.
    """
    kinds = kinds_of(schema)
    arguments: dict[str, Any] = {}
    for name in dict.fromkeys(each.name for each in typed):
        if name not in kinds and not _takes_more(schema, kinds):
            raise BadArgument(f"{name}: the tool has no such argument. {_suggest(name, sorted(kinds))}")
        values = [each for each in typed if each.name == name]
        arguments[name] = _value(kinds.get(name, ArgumentKind()), values)
    _check(arguments, schema)
    return arguments


def _takes_more(schema: Mapping[str, Any], kinds: Mapping[str, ArgumentKind]) -> bool:
    """Whether the tool allows other names. If it doesn't say, an unknown name is a typo."""
    more = schema.get("additionalProperties")
    return bool(more) or (more is None and not kinds and "properties" not in schema)


def _suggest(name: str, known: list[str]) -> str:
    if near := difflib.get_close_matches(name, known, n=1, cutoff=0.5):
        return f"Did you mean {near[0]!r}?"
    return f"It takes {', '.join(known)}." if known else "It takes none."


# --- one value ---------------------------------------------------------------------------------


def _value(kind: ArgumentKind, values: Sequence[Argument]) -> Any:
    first = values[0]
    if len(values) > 1:
        if "array" not in kind.types:
            raise BadArgument(f"{first.name}: given more than once, but it is not a list")
        return [_json(each) if each.raw else _single(kind.items or ArgumentKind(), each) for each in values]
    return _json(first) if first.raw else _single(kind, first)


def _json(typed: Argument) -> Any:
    try:
        return json.loads(typed.text)
    except (ValueError, RecursionError):
        raise BadArgument(f"{typed.name}: this is not JSON") from None


def _single(kind: ArgumentKind, typed: Argument) -> Any:
    if kind.options:
        return _option(kind, typed)
    for candidate in ("null", "boolean", "integer", "number", "array", "object"):
        if candidate in kind.types and (found := _as(candidate, kind, typed)) is not _NO:
            return found
    if "string" in kind.types:
        return typed.text
    if not kind.types:
        return parse(typed.text)  # the schema has no type
    raise _wrong_type(kind, typed)


_NO: Final = object()


def _as(candidate: str, kind: ArgumentKind, typed: Argument) -> Any:
    """The text as a value of this type, if it is one."""
    text = typed.text.strip()
    match candidate:
        case "null":
            return None if text == "null" or (not text and "string" not in kind.types) else _NO
        case "boolean":
            return _FLAGS.get(text.casefold(), _NO)
        case "integer":
            return int(text) if _INTEGER.fullmatch(text) else _NO
        case "number":
            return (int(text) if _INTEGER.fullmatch(text) else float(text)) if _NUMBER.fullmatch(text) else _NO
        case _:
            return _structure(candidate, kind, typed)


def _structure(candidate: str, kind: ArgumentKind, typed: Argument) -> Any:
    opening, type_ = ("[", list) if candidate == "array" else ("{", dict)
    if typed.text.lstrip().startswith(opening):
        value = _json(typed)
        return cast("Any", value) if isinstance(value, type_) else _NO
    if candidate == "array" and typed.text and "string" not in kind.types:
        return [_single(kind.items or ArgumentKind(), typed)]  # a list of one
    return _NO


def _option(kind: ArgumentKind, typed: Argument) -> Any:
    names = [(option if isinstance(option, str) else json.dumps(option), option) for option in kind.options]
    for same in (str, str.casefold):
        for name, option in names:
            if same(name) == same(typed.text):
                return option
    raise _wrong_type(kind, typed)


def _wrong_type(kind: ArgumentKind, typed: Argument) -> BadArgument:
    return BadArgument(f"{typed.name}: must be {describe(kind)}, not {plain_line(typed.text)!r}")


def parse(text: str) -> Any:
    """JSON if it is, else text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


# --- all of them -------------------------------------------------------------------------------


def _check(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """Check what the schema requires beyond types: required arguments, bounds, patterns."""
    if missing := [name for name in required_of(schema) if name not in arguments]:
        kinds = kinds_of(schema)
        listed = (f"{name} ({describe(kinds.get(name, ArgumentKind()))})" for name in missing)
        raise BadArgument(f"missing: {', '.join(listed)}")
    if not _is_plain(arguments, schema) and (problem := _problem(arguments, schema)) is not None:
        raise BadArgument(plain_line(problem))


def _is_plain(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
    """Whether the schema only has types, and they match. Then the validator, slow to load, isn't needed."""
    properties: Any = schema.get("properties") or {}
    if schema.keys() - _ANNOTATIONS - {"properties", "required"} or not isinstance(properties, Mapping):
        return False
    parts = cast("Mapping[str, Any]", properties)
    return all(_has_plain_type(value, parts.get(name)) for name, value in arguments.items())


def _has_plain_type(value: Any, part: Any) -> bool:
    if not isinstance(part, Mapping) or cast("Mapping[str, Any]", part).keys() - _ANNOTATIONS:
        return False
    return type_of(value) == cast("Mapping[str, Any]", part).get("type")


def _problem(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> str | None:
    """What the validator says, if it can tell within bounds. The server has the last word on its own schema."""
    from jsonschema import exceptions
    from jsonschema.validators import validator_for
    from referencing import Registry

    # Parts for which the validator could take long, each time it comes to them.
    long = (
        _UNCHECKED & part.keys() or len(str(part.get("$ref", ""))) > REFERENCE_CHARACTERS for part in _parts(schema)
    )
    if (_UNCHECKED - {"$schema"}) & schema.keys() or any(long):
        return None
    known = {word: value for word, value in schema.items() if word != "$schema"}
    nothing_fetched: Any = Registry()  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    try:
        validator: Any = _bound(validator_for(dict(schema)))(known, registry=nothing_fetched)
        error = cast("Any", exceptions.best_match(validator.iter_errors(dict(arguments))))  # pyright: ignore[reportUnknownMemberType]
    except Exception:  # a schema may be wrong in any way, or take too many steps
        return None
    if error is None:
        return None
    place, problem = ".".join(map(str, error.absolute_path)), str(error.message)[:300]
    return f"{place}: {problem}" if place else problem


def _parts(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every object in a schema, except for the schema itself."""
    found: list[Any] = list(schema.values())
    while found:
        part = found.pop()
        if isinstance(part, Mapping):
            yield cast("Mapping[str, Any]", part)
            found += cast("Mapping[str, Any]", part).values()
        elif isinstance(part, list):
            found += cast("list[Any]", part)


def _bound(kind: Any) -> Any:
    """This validator, with patterns in linear time, and an end for schemas that refer to themselves many times."""
    from jsonschema.validators import extend  # pyright: ignore[reportUnknownVariableType]

    steps = iter(range(SCHEMA_STEPS))

    def count(check: Any) -> Any:
        def keyword(*about: Any) -> Any:
            if next(steps, None) is None:
                raise OverflowError
            return check(*about)

        return keyword

    checks: dict[str, Any] = {**kind.VALIDATORS, "pattern": partial(_check_pattern, Budget())}
    return extend(kind, {word: count(check) for word, check in checks.items()})  # pyright: ignore[reportUnknownVariableType]


def _check_pattern(budget: Budget, validator: Any, pattern: Any, value: Any, schema: Any) -> Iterator[Exception]:
    from jsonschema import ValidationError

    if not isinstance(value, str) or (compiled := budget.compile(pattern, len(value))) is None:
        return
    if len(value) <= compiled.longest and not compiled.matches(value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")
