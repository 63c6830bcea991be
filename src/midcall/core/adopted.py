"""A question that a tool wrote for the SDK, as the SDK would have sent it.

Its schema may hold keywords that a `Form` of ours refuses. Then it leaves as it is, and its answer
goes back unread: the SDK checks it against the tool's own model.
"""

from __future__ import annotations

import hashlib
import json
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping
from typing import Any, cast

from midcall.core.check import Problem, check, fill
from midcall.core.fields import Field, Flag, Text
from midcall.core.form import Form
from midcall.core.questions import ATTEMPTS, MISSING, Question
from midcall.core.schema import FULL_SINCE
from midcall.core.secrets import refuse_secrets
from midcall.errors import InvalidForm

__all__ = ["AdoptedQuestion", "OpaqueForm"]


class OpaqueForm:
    """A schema that is sent as it is."""

    __slots__ = ("_schema", "digest", "names")

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = dict(schema)
        self.names: tuple[str, ...] = tuple(schema.get("properties") or ())
        text = json.dumps(self._schema, sort_keys=True, separators=(",", ":"), default=str)
        self.digest = urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:9]).decode()

    def schema(self, version: str = "") -> dict[str, Any]:
        return self._schema

    def lift(self, content: Mapping[str, Any], version: str) -> dict[str, Any]:
        return dict(content)

    @property
    def fields(self) -> tuple[Field, ...]:
        return ()

    def __iter__(self) -> Iterator[Field]:
        return iter(())


class AdoptedQuestion(Question[dict[str, Any]]):
    """A form question whose schema came from the SDK."""

    __slots__ = ()

    def __init__(
        self,
        message: str,
        schema: Mapping[str, Any],
        *,
        timeout: float | None = None,
        meta: Mapping[str, Any] | None = None,
        not_secret: str | None = None,
    ) -> None:
        try:
            form = Form.from_schema(_with_item_types(schema))
        except InvalidForm:
            form = OpaqueForm(schema)
            if form.names:
                refuse_secrets(Form(*map(Text, form.names)), not_secret)
        options = (message, None, timeout, ATTEMPTS, MISSING, None, meta)
        super(Question, self).__init__(*options)  # its form is made already
        self._carry_form(cast("Form", form), not_secret)

    def lift(self, content: Mapping[str, Any], version: str) -> dict[str, Any]:
        """With the defaults that an old version does not have: the user was told of them in words."""
        given = {name: value for name, value in super().lift(content, version).items() if value is not None}
        if version >= FULL_SINCE:
            return given
        told = {field.name for field in self.form.fields if not isinstance(field, Flag)}
        return {name: value for name, value in fill(self.form, given).items() if name in told} | given

    def read(self, content: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Problem, ...]]:
        given = {name: value for name, value in content.items() if value is not None}
        if isinstance(self.form, OpaqueForm):  # pyright: ignore[reportUnnecessaryIsInstance]
            return given, ()
        return given, check(self.form, given)


def _with_item_types(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema, with the type of the texts in a list of choices, which FastMCP leaves out."""
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
