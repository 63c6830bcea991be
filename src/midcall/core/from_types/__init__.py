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

from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError
from typing_extensions import TypeForm, is_typeddict

from midcall.core.check import fill
from midcall.core.form import Form
from midcall.core.from_types.containers import TypedForm, compiled
from midcall.core.from_types.facts import unqualified
from midcall.core.from_types.parts import Unfit

__all__ = ["TypedForm", "Unfit", "is_value", "typed_form"]

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


def is_value(tp: Any, value: Any) -> bool | None:
    """Whether this is a value of the type as it is, and needs no reading; None where nobody knows.

    Of a form and a schema nothing is, and a mapping is none of a class with fields.
    """
    if isinstance(tp, Form) or (not isinstance(tp, type) and isinstance(tp, Mapping)):
        return False
    if isinstance(value, Mapping) and isinstance(tp, type) and not is_typeddict(tp):
        return False
    try:
        (_adapter if _is_hashable(tp) else _adapted)(tp).validate_python(value, strict=True)
    except (PydanticUserError, RuntimeError):
        return None
    except Exception:  # also what a validator of the author's raises
        return False
    return True


def _adapted(tp: Any) -> TypeAdapter[Any]:
    return TypeAdapter(unqualified(tp))


_adapter = lru_cache(maxsize=256)(_adapted)


def _is_hashable(tp: Any) -> bool:
    try:
        hash(tp)
    except TypeError:
        return False
    return True
