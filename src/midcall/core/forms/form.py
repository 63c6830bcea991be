"""The form: a flat, ordered list of fields, and how it travels."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from midcall.core.forms.fields import Choice, Choices, Field, Number
from midcall.core.forms.line_input import Split, read, splitter
from midcall.core.forms.raw_schema import parse_fields
from midcall.core.forms.rules import Rule
from midcall.core.forms.schema import build_property, build_schema
from midcall.core.wire import digest
from midcall.errors import InvalidForm
from midcall.protocol import FULL_FORMS, NEWEST

FormRule: TypeAlias = tuple[str, bool, Rule]
"""A field's name, whether it is required, and what its value must be."""


class Form:
    """What a form question asks for: `Form(Text("name"), Number("age", minimum=18))`.

    A form never changes. Two forms are equal when they have equal fields in the same order.
    """

    __slots__ = ("_by_name", "_digest", "_fields", "_full", "_lowered", "_splits", "names", "rules")

    def __init__(self, *fields: Field) -> None:
        if not fields:
            raise InvalidForm(
                "a form needs at least one field", advice="For a yes or no without any field, use confirm()."
            )
        self._fields = fields
        self._by_name: dict[str, Field] = {}
        for field in fields:
            if not isinstance(field, Field):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise InvalidForm(f"a form takes Text, Number, Flag, Choice and Choices, not {type(field).__name__}")
            if field.name in self._by_name:
                raise InvalidForm("two fields have this name", path=field.name)
            self._by_name[field.name] = field
        self.names: tuple[str, ...] = tuple(self._by_name)
        """The names of the fields, in order."""
        self.rules: tuple[FormRule, ...] = tuple((field.name, bool(field.required), field.rule()) for field in fields)
        """What `check` runs, compiled once."""
        self._full: dict[str, Any] | None = None
        self._lowered: dict[str, Any] | None = None
        self._splits: dict[str, Split] | None = None
        self._digest: str | None = None

    @classmethod
    def from_schema(cls, schema: Mapping[str, Any], *, strict: bool = True) -> Form:
        """The form that a raw `requestedSchema` describes.

        A schema that isn't valid in MCP raises `InvalidForm`, with the path of the culprit. For other people's schemas,
        `strict=False` ignores keywords that only refine a field, as clients do.
        """
        return cls(*parse_fields(schema, strict=strict))

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields, in order."""
        return self._fields

    def field(self, name: str) -> Field:
        """The field of this name, or `KeyError`."""
        return self._by_name[name]

    def schema(self, version: str = NEWEST, *, as_text: bool = False) -> dict[str, Any]:
        """The `requestedSchema` for a client of this protocol version. It's shared: don't change it.

        With `as_text`, numbers and lists are lines of text, which `read_lines` reads.
        """
        if as_text:
            return build_schema(self._fields, lowered=version < FULL_FORMS, as_text=True)
        if version < FULL_FORMS:
            if self._lowered is None:
                self._lowered = build_schema(self._fields, lowered=True)
            return self._lowered
        if self._full is None:
            self._full = build_schema(self._fields)
        return self._full

    def lift(self, content: Mapping[str, Any], version: str) -> dict[str, Any]:
        """Content that answers `schema(version)`, as content for the form itself."""
        lifted = dict(content)
        if version >= FULL_FORMS:
            return lifted
        if self._splits is None:
            self._splits = {field.name: splitter(field) for field in self._fields if isinstance(field, Choices)}
        for name, split in self._splits.items():
            if isinstance(line := lifted.get(name), str):
                if (items := split(line)) or self._by_name[name].required:
                    lifted[name] = items
                else:  # left empty: remove it, so that the default applies
                    del lifted[name]
        return lifted

    def read_lines(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Content in which numbers and lists may be lines of text, as content for the form itself."""
        lifted = dict(content)
        for field in self._fields:
            line = lifted.get(field.name)
            if not isinstance(field, (Number, Choices)) or not isinstance(line, str):
                continue
            if line.strip():
                lifted[field.name] = read(field, line.strip())
            else:
                del lifted[field.name]
        return lifted

    def read_titles(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Content in which the titles of options stand for their values: some clients let their user type one."""
        lifted = dict(content)
        for field in self._fields:
            match field, lifted.get(field.name):
                case Choice(), str() as title:
                    lifted[field.name] = field.find(title)
                case Choices(), [*titles] if all(isinstance(title, str) for title in titles):
                    lifted[field.name] = [field.find(title) for title in titles]
                case _:
                    pass
        return lifted

    def texts(self) -> tuple[str, ...]:
        """Every text that a client shows."""
        return tuple(text for field in self._fields for text in _texts(field))

    @property
    def digest(self) -> str:
        """A short name for the form's content, the same in every process."""
        if self._digest is None:
            # The order of fields is part of the form, the order of keywords isn't.
            parts = [[field.name, field.required, build_property(field)] for field in self._fields]
            self._digest = digest(json.dumps(parts, sort_keys=True, separators=(",", ":")))
        return self._digest

    def __iter__(self) -> Iterator[Field]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __eq__(self, other: object) -> bool:
        return self._fields == other._fields if isinstance(other, Form) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._fields)

    def __repr__(self) -> str:
        return f"Form({', '.join(map(repr, self._fields))})"

    def __reduce__(self) -> tuple[type[Form], tuple[Field, ...]]:
        return Form, self._fields


def _texts(field: Field) -> Iterator[str]:
    yield field.label
    if field.description:
        yield field.description
    if isinstance(field, (Choice, Choices)):
        yield from field.labels.values()
