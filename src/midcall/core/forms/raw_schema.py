"""Parse a raw `requestedSchema`, and reject what MCP doesn't support, with the path of the culprit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NoReturn, TypeAlias, cast

from midcall.core.forms.fields import Choice, Choices, Field, Flag, Number, Text
from midcall.core.forms.formats import FORMATS
from midcall.core.forms.patterns import Budget
from midcall.core.forms.rules import is_number
from midcall.core.wire import escape_halves
from midcall.errors import InvalidForm

Property: TypeAlias = Mapping[str, Any]

_ROOT: Final = frozenset({"$schema", "type", "title", "description", "properties", "required", "additionalProperties"})
_TEXTS: Final = {"title": "title", "description": "description", "default": "default"}
_KEYWORDS: Final[dict[str, dict[str, str]]] = {
    "text": {"minLength": "min_length", "maxLength": "max_length", "pattern": "pattern", "format": "format"},
    "choice": {},
    "number": {"minimum": "minimum", "maximum": "maximum"},
    "integer": {"minimum": "minimum", "maximum": "maximum"},
    "boolean": {},
    "array": {"minItems": "min_items", "maxItems": "max_items"},
}
_SHAPE: Final = {
    "choice": frozenset({"type", "enum", "enumNames", "oneOf"}),
    "array": frozenset({"type", "items"}),
}
_STRUCTURE: Final = ("properties", "$ref", "anyOf", "allOf", "not", "if", "additionalProperties", "patternProperties")
_FLAT: Final = "A form is flat: make each part a field, or ask for it in a separate question."


def parse_fields(schema: Mapping[str, Any], *, strict: bool = True) -> tuple[Field, ...]:
    """The fields of a raw schema. Without `strict`, keywords that only refine a field are ignored."""
    root = _mapping(schema, "")
    if root.get("type") != "object":
        _refuse("type", 'must be "object"')
    properties = _mapping(root.get("properties"), "properties")
    required = _parse_required(root.get("required", []), properties)
    paths = {name: f"properties.{escape_halves(name)}" for name in properties}
    props = {name: _mapping(prop, paths[name]) for name, prop in properties.items()}
    if not strict:
        props = dict(_loosen_all(props))
    fields = tuple(
        parse_field(name, prop, name in required, paths[name], strict=strict) for name, prop in props.items()
    )
    if strict:
        _check_root(root)
    return fields


def parse_field(name: str, prop: Property, required: bool, path: str, *, strict: bool = True) -> Field:
    """The field that one property describes."""
    _check_flat(prop, path)
    kind = _find_kind(prop, path)
    known = {"type", *_TEXTS, *_KEYWORDS[kind], *_SHAPE.get(kind, ())}
    if strict and (unknown := [word for word in prop if word not in known]):
        _refuse(f"{path}.{unknown[0]}", f"MCP forms do not support this keyword on type {prop['type']}")
    options = {"required": required} | {
        argument: _check_keyword(word, prop[word], f"{path}.{word}")
        for word, argument in (_TEXTS | _KEYWORDS[kind]).items()
        if word in prop
    }
    try:
        return _BUILDERS[kind](name, prop, path, options)
    except InvalidForm as error:
        if error.path != escape_halves(name):
            raise
        raise InvalidForm(error.text.removeprefix(f"{error.path}: "), path=path, advice=error.advice) from None


def _find_kind(prop: Property, path: str) -> str:
    kind = prop.get("type")
    if kind is None:
        _refuse(f"{path}.type", "a property needs a type")
    if kind == "string":
        return "choice" if {"enum", "oneOf", "enumNames"} & prop.keys() else "text"
    if not isinstance(kind, str) or kind not in _KEYWORDS:
        _refuse(f"{path}.type", f"{kind!r} is not one of: string, number, integer, boolean, array of choices")
    return kind


def _choice(name: str, prop: Property, path: str, options: dict[str, Any]) -> Field:
    if "oneOf" in prop:
        if "enum" in prop or "enumNames" in prop:
            _refuse(f"{path}.oneOf", "give either enum or oneOf")
        return Choice(name, _parse_titles(prop["oneOf"], f"{path}.oneOf"), **options)
    values = _text_list(prop.get("enum"), f"{path}.enum")
    if "enumNames" not in prop:
        return Choice(name, values, **options)
    titles = _text_list(prop["enumNames"], f"{path}.enumNames")
    if len(titles) != len(values):
        _refuse(f"{path}.enumNames", "needs one name for each option")
    if len(set(values)) < len(values):
        _refuse(f"{path}.enum", "two options have the same value")
    return Choice(name, dict(zip(values, titles, strict=True)), legacy=True, **options)


def _choices(name: str, prop: Property, path: str, options: dict[str, Any]) -> Field:
    where = f"{path}.items"
    items = _mapping(prop.get("items"), where)
    if "anyOf" in items:
        _allow_only(items, {"anyOf"}, where)
        return Choices(name, _parse_titles(items["anyOf"], f"{where}.anyOf"), **options)
    _check_flat(items, where)
    if items.get("type") != "string":
        _refuse(f"{where}.type", "a list can only hold choices of text")
    _allow_only(items, {"type", "enum"}, where)
    return Choices(name, _text_list(items.get("enum"), f"{where}.enum"), **options)


_BUILDERS: Final[dict[str, Callable[[str, Property, str, dict[str, Any]], Field]]] = {
    "text": lambda name, prop, path, options: Text(name, **options),
    "choice": _choice,
    "number": lambda name, prop, path, options: Number(name, **options),
    "integer": lambda name, prop, path, options: Number(name, integer=True, **options),
    "boolean": lambda name, prop, path, options: Flag(name, **options),
    "array": _choices,
}


def _parse_titles(raw: Any, path: str) -> dict[str, str]:
    titles: dict[str, str] = {}
    for index, raw_option in enumerate(_list(raw, path)):
        where = f"{path}[{index}]"
        option = _mapping(raw_option, where)
        _allow_only(option, {"const", "title"}, where)
        value, title = (_text(option.get(word), f"{where}.{word}") for word in ("const", "title"))
        if value in titles:
            _refuse(f"{where}.const", "two options have this value")
        titles[value] = title
    return titles


def _check_keyword(word: str, value: Any, path: str) -> Any:
    """The value of a keyword, if it has the type that the keyword needs in every field."""
    if word in ("minLength", "maxLength", "minItems", "maxItems"):
        if type(value) is not int or value < 0:
            _refuse(path, "must be a whole number from 0 on")
    elif word in ("minimum", "maximum"):
        if not is_number(value):
            _refuse(path, "must be a number")
    elif word == "default":
        if value is None:
            _refuse(path, "null is not a default; leave it out")
    else:
        _text(value, path)
    return value


def _loosen_all(props: Mapping[str, Property]) -> Iterator[tuple[str, Property]]:
    """Drop what a form can't show, and the patterns that we can't run or that would take long in all.

    The server checks every answer anyway.
    """
    budget = Budget()
    for name, prop in props.items():
        known = _loosen(prop)
        pattern, default = known.pop("pattern", None), known.get("default")
        if budget.compile(pattern, len(default) if isinstance(default, str) else 0) is not None:
            known["pattern"] = pattern
        yield name, known


def _loosen(prop: Property) -> dict[str, Any]:
    known = {word: value for word, value in _drop_null(prop).items() if value is not None}
    options = known.get("enum", [known.get("const")])
    if "type" not in known and isinstance(options, list) and {*map(type, cast("list[Any]", options))} == {str}:
        known["type"] = "string"  # a choice of texts, even if the schema doesn't say so
    if known.get("type") == "string" and isinstance(known.get("const"), str):
        known.setdefault("enum", [known["const"]])
    if not isinstance(known.get("format"), str) or known["format"] not in FORMATS:
        known.pop("format", None)
    if isinstance(items := known.get("items"), Mapping):
        items = _loosen(cast("Property", items))
        words = ("anyOf",) if "anyOf" in items else ("type", "enum")
        known["items"] = {word: items[word] for word in words if word in items} or items
    return known


def _drop_null(prop: Property) -> Property:
    """Read `anyOf: [X, null]`, which many generators write for an optional field, as X."""
    either: Any = prop.get("anyOf")
    if not isinstance(either, list) or {"type": "null"} not in either:
        return prop
    others = [one for one in cast("list[Any]", either) if one != {"type": "null"}]
    if len(others) != 1 or not isinstance(others[0], Mapping):
        return prop
    return {**cast("Property", others[0]), **{word: value for word, value in prop.items() if word != "anyOf"}}


def _check_flat(prop: Property, path: str) -> None:
    for word in _STRUCTURE:
        if word in prop:
            raise InvalidForm("MCP forms cannot hold nested or composed schemas", path=f"{path}.{word}", advice=_FLAT)


def _check_root(root: Property) -> None:
    for word, value in root.items():
        if word not in _ROOT or (word == "additionalProperties" and value is not False):
            _refuse(word, "MCP forms do not support this keyword")
        if word in ("$schema", "title", "description"):
            _text(value, word)


def _parse_required(raw: Any, properties: Property) -> frozenset[str]:
    names = _text_list(raw, "required")
    for index, name in enumerate(names):
        if name not in properties:
            _refuse(f"required[{index}]", f"there is no property {name!r}")
    return frozenset(names)


def _allow_only(found: Property, known: set[str], path: str) -> None:
    for word in found:
        if word not in known:
            _refuse(f"{path}.{word}", "MCP forms do not support this keyword here")


def _mapping(raw: Any, path: str) -> Mapping[str, Any]:
    if not isinstance(raw, Mapping) or not all(isinstance(key, str) for key in cast("Mapping[Any, Any]", raw)):
        _refuse(path, "must be an object")
    return cast("Mapping[str, Any]", raw)


def _list(raw: Any, path: str) -> list[Any]:
    if not isinstance(raw, (list, tuple)):
        _refuse(path, "must be a list")
    return list(cast("list[Any]", raw))


def _text_list(raw: Any, path: str) -> list[str]:
    return [_text(item, f"{path}[{index}]") for index, item in enumerate(_list(raw, path))]


def _text(raw: Any, path: str) -> str:
    if not isinstance(raw, str):
        _refuse(path, "must be text")
    return raw


def _refuse(path: str, message: str) -> NoReturn:
    raise InvalidForm(message, path=path)
