"""The form: a flat, ordered list of fields, and its shape on the wire."""

from __future__ import annotations

import hashlib
import json
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from midcall.core.forms.fields import Choices, Field
from midcall.core.forms.raw_schema import fields_of
from midcall.core.forms.rules import Rule
from midcall.core.forms.schema import Split, property_of, schema_of, splitter
from midcall.errors import InvalidForm
from midcall.protocol import FULL_FORMS, NEWEST

__all__ = ["Form", "FormRule"]

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

        What MCP does not know raises `InvalidForm`, with the path of the offender. For schemas of
        others, `strict=False` reads past keywords that only refine a field, as clients do.
        """
        return cls(*fields_of(schema, strict=strict))

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields, in order."""
        return self._fields

    def field(self, name: str) -> Field:
        """The field of this name, or `KeyError`."""
        return self._by_name[name]

    def schema(self, version: str = NEWEST) -> dict[str, Any]:
        """The `requestedSchema` for a client of this protocol version.

        It is made once and shared: do not change it.
        """
        if version < FULL_FORMS:
            if self._lowered is None:
                self._lowered = schema_of(self._fields, lowered=True)
            return self._lowered
        if self._full is None:
            self._full = schema_of(self._fields)
        return self._full

    def lift(self, content: Mapping[str, Any], version: str) -> dict[str, Any]:
        """Content that answers `schema(version)`, as content for the form itself."""
        lifted = dict(content)
        if version < FULL_FORMS:
            for name, split in self._all_splits().items():
                if isinstance(line := lifted.get(name), str):
                    self._lift_line(lifted, name, split(line))
        return lifted

    def bare(self, content: dict[str, Any]) -> Any:
        """The content of a form with one field as its value alone, which is never a dict."""
        return next(iter(content.values())) if len(self._fields) == len(content) == 1 else content

    def whole(self, bare: Any) -> dict[str, Any]:
        """The content again."""
        return bare if type(bare) is dict else {self.names[0]: bare}  # pyright: ignore[reportUnknownVariableType]

    @property
    def digest(self) -> str:
        """A short name for what the form asks, the same in every process."""
        if self._digest is None:
            # The order of fields is part of the form, the order of keywords is not.
            parts = [[field.name, field.required, property_of(field)] for field in self._fields]
            text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
            self._digest = urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:9]).decode()
        return self._digest

    def _all_splits(self) -> dict[str, Split]:
        if self._splits is None:
            self._splits = {field.name: splitter(field) for field in self._fields if isinstance(field, Choices)}
        return self._splits

    def _lift_line(self, lifted: dict[str, Any], name: str, items: list[str]) -> None:
        if items or self._by_name[name].required:
            lifted[name] = items
        else:  # an optional field left empty is no choice at all, so that its default can apply
            del lifted[name]

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
