"""A question that a tool wrote for the SDK. It's sent as the SDK would send it, and the SDK validates the answer.

If its schema fits one of our forms, there is a `Form` too, for the channels that draw it themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, cast

from midcall.core.forms.fields import Field
from midcall.core.forms.form import Form
from midcall.core.forms.schema import find_hazards
from midcall.core.forms.secrets import secret_properties
from midcall.core.journal import ADOPTED
from midcall.core.question import MISSING, Question, Visit
from midcall.core.wire import digest
from midcall.errors import InvalidForm


class OpaqueForm:
    """A schema that our forms can't show."""

    __slots__ = ("_schema", "digest", "names")

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = dict(schema)
        properties: Any = schema.get("properties")
        self.names: tuple[str, ...] = tuple(properties) if isinstance(properties, Mapping) else ()  # pyright: ignore[reportUnknownArgumentType]
        self.digest = digest(json.dumps(self._schema, sort_keys=True, separators=(",", ":"), default=str))

    def schema(self, version: str = "") -> dict[str, Any]:
        return self._schema

    @property
    def fields(self) -> tuple[Field, ...]:
        return ()

    def texts(self) -> tuple[str, ...]:
        return ()

    def __iter__(self) -> Iterator[Field]:
        return iter(())


class AdoptedQuestion(Question[dict[str, Any]]):
    """A form question whose params came from the SDK. Its value is the client's raw answer."""

    __slots__ = ("secrets",)

    is_adopted: ClassVar[bool] = True
    needs_message: ClassVar[bool] = False

    def __init__(self, params: Mapping[str, Any], *, timeout: float | None = None) -> None:
        schema: Mapping[str, Any] = params["requestedSchema"]
        try:
            form = Form.from_schema(_with_item_types(schema))
        except InvalidForm:
            form = OpaqueForm(schema)
        super(Question, self).__init__(params["message"], None, timeout, 1, MISSING, None, None)
        self._carry_form(cast("Form", form))
        self.params = dict(params)
        """As the SDK would send them."""
        self.hazards = find_hazards(schema)
        self.secrets = secret_properties(schema)
        """The fields whose names mean a secret."""

    @property
    def shape(self) -> str:
        return ADOPTED

    def is_left_empty(self, answer: Mapping[str, Any]) -> bool:
        """Whether this raw answer has no field at all, though the form requires some."""
        required: Any = self.params["requestedSchema"].get("required")
        named = cast("list[Any]", required) if isinstance(required, list) else []
        return not answer.get("content") and any(name not in self.required_defaults for name in named)

    @property
    def required_defaults(self) -> dict[str, Any]:
        """The defaults of fields that are nevertheless required."""
        match self.params["requestedSchema"]:
            case {"properties": {**properties}, "required": [*required]}:
                named = ((name, properties.get(name)) for name in required if isinstance(name, str))
                return {
                    name: prop["default"] for name, prop in named if isinstance(prop, Mapping) and "default" in prop
                }
            case _:
                return {}


class AdoptedVisit(Visit):
    """A visit whose params came from the SDK."""

    __slots__ = ()

    needs_message: ClassVar[bool] = False


def _with_item_types(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Add the type of the items in a list of choices, which FastMCP leaves out."""
    properties: Any = schema.get("properties")
    if not isinstance(properties, Mapping):
        return schema
    return {**schema, "properties": {name: _with_item_type(prop) for name, prop in properties.items()}}  # pyright: ignore[reportUnknownVariableType]


def _with_item_type(prop: Any) -> Any:
    match prop:
        case {"type": "array", "items": {"enum": _} as items} if "type" not in items:
            return {**prop, "items": {"type": "string", **items}}
        case _:
            return prop
