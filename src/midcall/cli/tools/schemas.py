"""What a tool's schema says about its arguments, and how to put it into words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from midcall.settings.cli import REFERENCE_CHARACTERS, SCHEMA_DEPTH, SCHEMA_PARTS


@dataclass(frozen=True, slots=True)
class ArgumentKind:
    """The JSON types that a value may have (none: any), the values that it may be, the kind of its items."""

    types: tuple[str, ...] = ()
    options: tuple[Any, ...] = ()
    items: ArgumentKind | None = None


def kinds_of(schema: Mapping[str, Any]) -> dict[str, ArgumentKind]:
    """The arguments of a tool, by name."""
    properties: Any = schema.get("properties")
    if not isinstance(properties, Mapping):
        return {}
    parts = iter(range(SCHEMA_PARTS))  # one that refers to itself twice would never end
    return {name: _kind_of(value, schema, parts) for name, value in cast("Mapping[str, Any]", properties).items()}


def required_of(schema: Mapping[str, Any]) -> list[str]:
    """The names of the arguments that a tool requires."""
    required: Any = schema.get("required")
    names = cast("list[Any]", required) if isinstance(required, list) else []
    return [name for name in names if isinstance(name, str)]


def _kind_of(schema: Any, root: Mapping[str, Any], parts: Iterator[int], depth: int = 0) -> ArgumentKind:
    """What a value may be. A schema that we don't understand allows anything."""
    if not isinstance(schema, Mapping) or depth > SCHEMA_DEPTH or next(parts, None) is None:
        return ArgumentKind()
    part = cast("Mapping[str, Any]", schema)
    if isinstance(reference := part.get("$ref"), str):
        return _kind_of(_resolve(reference, root), root, parts, depth + 1)
    for way in ("anyOf", "oneOf", "allOf"):
        if isinstance(branches := part.get(way), list):
            return _merge(_kind_of(branch, root, parts, depth + 1) for branch in cast("list[Any]", branches))
    options = _as_tuple(part.get("enum")) or ((part["const"],) if "const" in part else ())
    types = _as_tuple(part.get("type")) or tuple(dict.fromkeys(map(type_of, options)))
    items = _kind_of(part["items"], root, parts, depth + 1) if "items" in part else None
    return ArgumentKind(tuple(each for each in types if isinstance(each, str)), options, items)


def _merge(kinds: Iterable[ArgumentKind]) -> ArgumentKind:
    found = list(kinds)
    types = tuple(dict.fromkeys(each for kind in found for each in kind.types))
    open_ended = any(not kind.options and kind.types != ("null",) for kind in found)
    options = () if open_ended else tuple(option for kind in found for option in kind.options)
    items = next((kind.items for kind in found if kind.items is not None), None)
    return ArgumentKind(types, options, items)


def _resolve(reference: str, root: Mapping[str, Any]) -> Any:
    """The part of the same schema at this place. Other schemas aren't fetched."""
    place: Any = root if reference.startswith("#") and len(reference) <= REFERENCE_CHARACTERS else {}
    for step in reference[:REFERENCE_CHARACTERS].lstrip("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        place = cast("Mapping[str, Any]", place).get(name) if isinstance(place, Mapping) else None
    return place


def _as_tuple(value: Any) -> tuple[Any, ...]:
    if isinstance(value, list):
        return tuple(cast("list[Any]", value))
    return () if value is None else (value,)


def type_of(value: Any) -> str:
    """The JSON type of a value."""
    match value:
        case bool():
            return "boolean"
        case None:
            return "null"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def describe(kind: ArgumentKind) -> str:
    """The kind in a few words."""
    if kind.options:
        shown = [option if isinstance(option, str) else json.dumps(option) for option in kind.options[:12]]
        more = f" … ({len(kind.options)} in all)" if len(kind.options) > len(shown) else ""
        return f"one of {', '.join(shown)}{more}"
    if kind.items is not None and "array" in kind.types:
        return f"a list of {describe(kind.items).removeprefix('a ')}"
    return " or ".join(_TYPES.get(each, each) for each in kind.types if each != "null") or "anything"


_TYPES: Final = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "yes or no",
    "array": "a list",
    "object": "an object, as JSON",
}
