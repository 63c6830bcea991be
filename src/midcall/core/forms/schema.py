"""A form as it travels: the `requestedSchema`, and the lowered one for old protocol versions.

Versions before 2025-11-25 have no pattern, no `oneOf`, no multiple choice, and defaults only for booleans. The lowered
schema puts those into the descriptions, and our own check enforces them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast

from midcall.core.forms.fields import Choice, Choices, Field, Flag, Number, Text, name_option
from midcall.core.forms.patterns import is_portable, make_portable
from midcall.settings.calls import PATTERN_CHARACTERS

_LINE_OF_CHOICES: Final = re.compile(r"\bType .+ of these, separated by commas: ")


def build_schema(fields: Iterable[Field], *, lowered: bool = False, as_text: bool = False) -> dict[str, Any]:
    """The `requestedSchema` of these fields.

    Some clients hide a form that has a number or a list in it. With `as_text`, these are lines of text.
    """
    fields = tuple(fields)
    write = _build_lowered if lowered else build_property
    properties = {
        field.name: _build_line(field) if as_text and isinstance(field, (Number, Choices)) else write(field)
        for field in fields
    }
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required := [field.name for field in fields if field.required]:
        schema["required"] = required
    return schema


def build_property(field: Field) -> dict[str, Any]:
    """One field, in full."""
    match field:
        case Text():
            kind = drop_none(
                type="string",
                minLength=field.min_length,
                maxLength=field.max_length,
                pattern=field.pattern,
                format=field.format,
            )
        case Number():
            kind = drop_none(
                type="integer" if field.integer else "number", minimum=field.minimum, maximum=field.maximum
            )
        case Flag():
            kind = {"type": "boolean"}
        case Choice():
            kind = {"type": "string", **_options(field, "oneOf", field.legacy)}
        case Choices():
            items = _options(field, "anyOf", False)
            items = {"type": "string", **items} if field.titles is None else items
            kind = drop_none(type="array", items=items, minItems=field.min_items, maxItems=field.max_items)
    default = list(field.default) if isinstance(field, Choices) and field.default is not None else field.default
    return drop_none(title=field.title, description=field.description) | kind | drop_none(default=default)


def _build_lowered(field: Field) -> dict[str, Any]:
    """One field, as a version before 2025-11-25 can show it."""
    match field:
        case Flag():
            return build_property(field)
        case Choice():
            kind = {"type": "string", **_options(field, "oneOf", legacy=True)}
        case Choices():
            kind = {"type": "string"}
        case Text() | Number():
            kind = build_property(field)
            kind.pop("pattern", None)
            kind.pop("default", None)
    described = " ".join(filter(None, [field.description, *_describe_rest(field)]))
    return drop_none(title=field.title, description=field.description) | kind | drop_none(description=described or None)


# Titles and descriptions of a schema, which the client shows beside the server's own texts. They're English, because
# the server doesn't know the user's language.


def _build_line(field: Number | Choices) -> dict[str, Any]:
    """A number or a list as a line of text, which says in its title what to type."""
    kind = "several, separated by commas" if isinstance(field, Choices) else _describe_number(field)
    described = " ".join(filter(None, [field.description, *_describe_rest(field)]))
    return {"title": f"{field.label} ({kind})", **drop_none(description=described or None), "type": "string"}


def _describe_number(field: Number) -> str:
    kind = "a whole number" if field.integer else "a number"
    least, most = field.minimum, field.maximum
    if least is not None and most is not None:
        return f"{kind} from {least} to {most}"
    if least is not None:
        return f"{kind}, at least {least}"
    return kind if most is None else f"{kind}, at most {most}"


def _describe_rest(field: Text | Number | Choice | Choices) -> Iterator[str]:
    """What the lowered schema can't express, for the field's description."""
    default = "" if field.default is None else str(field.default)
    if isinstance(field, Choices):
        yield _describe_choices(field)
        default = ", ".join(field.default or ())
    elif isinstance(field, Choice) and field.default is not None:
        default = name_option(field.default, field.labels[field.default])
    if default:
        yield f"Suggested: {default}." if field.required else f"If left empty: {default}."


def _describe_choices(field: Choices) -> str:
    least, most = field.min_items, field.max_items
    bounds = [f"at least {least}" if least else "", f"at most {most}" if most is not None else ""]
    how_many = " and ".join(filter(None, bounds)) or "any number"
    return f"Type {how_many} of these, separated by commas: {', '.join(field.option_names)}."


# --- what some hosts can't handle ---------------------------------------------------------------


def find_hazards(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """What some hosts can't show in this schema, each as a part of a sentence for the author."""
    properties: object = schema.get("properties")
    named: Mapping[str, Any] = cast("Mapping[str, Any]", properties) if isinstance(properties, Mapping) else {}
    return tuple(hazard for name, prop in named.items() for hazard in _find_hazards(name, prop))


def _find_hazards(name: str, prop: Any) -> Iterator[str]:
    if not isinstance(prop, Mapping):
        return
    field = cast("Mapping[str, Any]", prop)
    if isinstance(pattern := field.get("pattern"), str) and not is_portable(pattern):
        is_long = len(pattern) > PATTERN_CHARACTERS
        what = f"of more than {PATTERN_CHARACTERS:,} characters" if is_long else "that RE2 cannot compile"
        yield f"a pattern in {name!r} {what}"
    if "" in _list_values(field) or "" in _list_values(field.get("items")):
        yield f"an empty option in {name!r}"


def _list_values(part: Any) -> list[Any]:
    """The values of the options in this part of a schema."""
    match part:
        case {"enum": [*values]}:
            return values
        case {"oneOf": [*options]} | {"anyOf": [*options]}:
            return [cast("Mapping[str, Any]", option).get("const") for option in options if isinstance(option, Mapping)]
        case _:
            return []


def simplify_patterns(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with patterns that every host can compile. The server checks the whole ones."""
    if all(is_portable(prop.get("pattern", "")) for prop in schema["properties"].values()):
        return schema
    return {**schema, "properties": {name: _simplify_pattern(prop) for name, prop in schema["properties"].items()}}


def _simplify_pattern(prop: dict[str, Any]) -> dict[str, Any]:
    if "pattern" not in prop:
        return prop
    others = {name: value for name, value in prop.items() if name != "pattern"}
    return others | drop_none(pattern=make_portable(prop["pattern"]))


def is_line_of_choices(description: str | None) -> bool:
    """Whether a text field with this description is a lowered multiple choice."""
    return _LINE_OF_CHOICES.search(description or "") is not None


def drop_none(**keywords: Any) -> dict[str, Any]:
    """These keywords of a schema, without those that are None."""
    return {name: value for name, value in keywords.items() if value is not None}


def _options(field: Choice | Choices, titled: str, legacy: bool) -> dict[str, Any]:
    if field.titles is None:
        return {"enum": list(field.values)}
    if legacy:
        return {"enum": list(field.values), "enumNames": list(field.titles)}
    return {titled: [{"const": value, "title": title} for value, title in field.labels.items()]}
