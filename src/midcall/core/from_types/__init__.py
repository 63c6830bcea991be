"""Python types as forms, and answers as values of those types.

A type is compiled once: the annotations of each of its fields become `Facts`, its bare type a `Kind`,
and both together a `Part`, which knows the field on the wire and how to read its value back. What the
wire cannot carry (validators, `multiple_of`, a `gt` on a float) is left to pydantic when the answer is
read, and fails there as `Unfit`. This package is the only place of the core that knows pydantic.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any, TypeVar, cast, overload

from typing_extensions import TypeForm

from midcall.core.check import fill
from midcall.core.form import Form
from midcall.core.from_types.containers import TypedForm, compiled
from midcall.core.from_types.parts import Unfit

__all__ = ["TypedForm", "Unfit", "typed_form"]

T = TypeVar("T")

_cached = lru_cache(maxsize=1024)(compiled)


@overload
def typed_form(tp: Form | Mapping[str, Any]) -> TypedForm[dict[str, Any]]: ...
@overload
def typed_form(tp: TypeForm[T]) -> TypedForm[T]: ...
def typed_form(tp: Any) -> TypedForm[Any]:
    """The form for a type, a `Form` or a raw schema. A bare type becomes one field named `answer`."""
    if not isinstance(tp, type) and isinstance(tp, Mapping):
        tp = Form.from_schema(cast("Mapping[str, Any]", tp))
    if isinstance(tp, Form):
        return TypedForm(tp, partial(fill, tp))
    try:
        return _cached(tp)
    except TypeError:
        if _is_hashable(tp):
            raise
        return compiled(tp)


def _is_hashable(tp: Any) -> bool:
    try:
        hash(tp)
    except TypeError:
        return False
    return True
