"""Python types as forms, and answers as values of those types.

A type is compiled once: the annotations of each of its fields become `Facts`, its bare type a `Kind`,
and both together a `Part`, which knows the field on the wire and how to read its value back. What the
wire cannot carry (validators, `multiple_of`, a `gt` on a float) is left to pydantic when the answer is
read, and fails there as `Unfit`. This package is the only place of the core that knows pydantic.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any, Final, TypeVar, cast, overload

from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError
from typing_extensions import TypeForm, is_typeddict

from midcall.core.forms.check import fill
from midcall.core.forms.form import Form
from midcall.core.types.containers import TypedForm, compiled
from midcall.core.types.facts import unqualified
from midcall.core.types.parts import Unfit

__all__ = ["TypedForm", "Unfit", "is_value", "typed_form", "written"]

T = TypeVar("T")


def written(tp: Any) -> str | None:
    """What tells two equal types apart: `Literal["a", "b"]` equals `Literal["b", "a"]`, and is another form.

    A class is itself, and needs nothing.
    """
    if isinstance(tp, type):
        return None
    known = _written.get(id(tp))
    if known is None or known[0] is not tp:
        if len(_written) >= _MOST:
            _written.clear()
        known = _written[id(tp)] = (tp, repr(tp))
    return known[1]


_MOST: Final = 1024
_written: dict[int, tuple[Any, str]] = {}
"""The texts of types by what they are in memory, where each stays as long as it is here: to write one takes a while."""


@lru_cache(maxsize=_MOST)
def _cached(tp: Any, _: str | None) -> TypedForm[Any]:
    return compiled(tp)


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
        return _cached(tp, written(tp))
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
