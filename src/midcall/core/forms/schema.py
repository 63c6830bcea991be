"""A form as it travels: the `requestedSchema`, and the poorer one that old versions can show.

Versions before 2025-11-25 have no defaults but a Boolean's, no pattern, no `oneOf` and no multiple
choice. What they cannot show is put into words; what they cannot check, our own check still does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from midcall.core.forms.fields import Choice, Choices, Field, Flag, Number, Text
from midcall.wording import forms as wording

__all__ = ["Split", "is_line_of_choices", "property_of", "schema_of", "splitter"]


Split: TypeAlias = Callable[[str], list[str]]


def schema_of(fields: Iterable[Field], *, lowered: bool = False) -> dict[str, Any]:
    """The `requestedSchema` of these fields."""
    fields = tuple(fields)
    write = _lowered_property if lowered else property_of
    schema: dict[str, Any] = {"type": "object", "properties": {field.name: write(field) for field in fields}}
    if required := [field.name for field in fields if field.required]:
        schema["required"] = required
    return schema


def property_of(field: Field) -> dict[str, Any]:
    """One field, in full."""
    match field:
        case Text():
            kind = _kept(
                type="string",
                minLength=field.min_length,
                maxLength=field.max_length,
                pattern=field.pattern,
                format=field.format,
            )
        case Number():
            kind = _kept(type="integer" if field.integer else "number", minimum=field.minimum, maximum=field.maximum)
        case Flag():
            kind = {"type": "boolean"}
        case Choice():
            kind = {"type": "string", **_options(field, "oneOf", field.legacy)}
        case Choices():
            items = _options(field, "anyOf", False)
            items = {"type": "string", **items} if field.titles is None else items
            kind = _kept(type="array", items=items, minItems=field.min_items, maxItems=field.max_items)
    default = list(field.default) if isinstance(field, Choices) and field.default is not None else field.default
    return _texts(field) | kind | _kept(default=default)


def _lowered_property(field: Field) -> dict[str, Any]:
    """One field, as a version before 2025-11-25 can show it."""
    match field:
        case Flag():
            return property_of(field)
        case Choice():
            kind = {"type": "string", **_options(field, "oneOf", legacy=True)}
        case Choices():
            kind = {"type": "string"}
        case Text() | Number():
            kind = property_of(field)
            kind.pop("pattern", None)
            kind.pop("default", None)
    described = " ".join(filter(None, [field.description, *_in_words(field)]))
    return _texts(field) | kind | _kept(description=described or field.description)


def _in_words(field: Text | Number | Choice | Choices) -> Iterator[str]:
    """What the lowered schema cannot say, for the field's description."""
    shown = ""
    if isinstance(field, Choices):
        yield _type_your_choices(field.shown, field.min_items, field.max_items)
        shown = ", ".join(field.default or ())
    elif isinstance(field, Choice) and field.default is not None:
        shown = wording.option(field.default, field.labels[field.default])
    elif field.default is not None:
        shown = str(field.default)
    if shown:
        yield f"Suggested: {shown}." if field.required else f"If left empty: {shown}."


def is_line_of_choices(field: Field) -> bool:
    """Whether this is what a multiple choice was lowered to, by its own words."""
    return isinstance(field, Text) and wording.is_type_your_choices(field.description)


def splitter(field: Choices) -> Split:
    """Reads back the line of text that a multiple choice was lowered to."""
    exact = _first_wins(
        [(value, value) for value in field.values]
        + [(text.strip(), value) for value, title in field.labels.items() for text in (value, title)]
    )
    folded = _first_wins((text.casefold(), value) for text, value in exact.items())
    # An option may itself hold commas, so the longest run of pieces that is an option counts as one.
    longest = 1 + max(text.count(",") for text in exact)

    def known(text: str) -> str | None:
        return exact.get(text, folded.get(text.casefold()))

    def next_of(pieces: list[str], at: int) -> tuple[int, str]:
        for size in range(min(longest, len(pieces) - at), 0, -1):
            if (value := known(",".join(pieces[at : at + size]).strip())) is not None:
                return at + size, value
        return at + 1, pieces[at].strip()

    def split(line: str) -> list[str]:
        pieces = [piece for piece in line.split(",") if piece.strip()]
        items: dict[str, None] = {}  # each once: nobody means an option twice
        at = 0
        while at < len(pieces):
            at, item = next_of(pieces, at)
            items[item] = None
        return list(items)

    return split


def _texts(field: Field) -> dict[str, Any]:
    return _kept(title=field.title, description=field.description)


def _kept(**keywords: Any) -> dict[str, Any]:
    return {name: value for name, value in keywords.items() if value is not None}


def _options(field: Choice | Choices, titled: str, legacy: bool) -> dict[str, Any]:
    if field.titles is None:
        return {"enum": list(field.values)}
    if legacy:
        return {"enum": list(field.values), "enumNames": list(field.titles)}
    return {titled: [{"const": value, "title": title} for value, title in field.labels.items()]}


def _first_wins(pairs: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for text, value in pairs:
        found.setdefault(text, value)
    return found


def _type_your_choices(options: Sequence[str], least: int | None, most: int | None) -> str:
    """For clients that cannot show a multiple choice: it becomes a line of text."""
    bounds = [f"at least {least}" if least else "", f"at most {most}" if most is not None else ""]
    how_many = " and ".join(bound for bound in bounds if bound) or "any number"
    return f"Type {how_many} of these, separated by commas: {', '.join(options)}."
