"""Python types as forms, and answers as values of those types.

A type is compiled once: the annotations of a field become `Facts`, its bare type a `Kind`, and both together a `Part`,
which knows the field on the wire and how to read its value back. Pydantic checks what the wire can't carry (validators,
`multiple_of`, a `gt` on a float) when the answer is read, and a failure there is `Unfit`. Only this package of the core
knows pydantic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, TypeVar, cast, overload

from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError
from typing_extensions import TypeForm, is_typeddict

from midcall.core.forms.check import fill
from midcall.core.forms.form import Form
from midcall.core.types.containers import TypedForm, compile_type
from midcall.core.types.facts import strip_qualifiers
from midcall.core.types.kinds import Unfit
from midcall.core.types.options import humanize
from midcall.settings.calls import MAX_CACHED_TYPES

__all__ = ["TypedForm", "Unfit", "is_value", "spell_type", "typed_form"]

T = TypeVar("T")


def spell_type(tp: Any) -> str | None:
    """A text that distinguishes equal types: `Literal["a", "b"]` equals `Literal["b", "a"]`, but is another form.

    A class needs none.
    """
    if isinstance(tp, type):
        return None
    known = _texts.get(id(tp))
    if known is None or known[0] is not tp:
        if len(_texts) >= MAX_CACHED_TYPES:
            _texts.clear()
        known = _texts[id(tp)] = (tp, repr(tp))
    return known[1]


_texts: dict[int, tuple[Any, str]] = {}
"""The texts by the ids of their types, which must stay alive: `repr` of a type is slow."""


@lru_cache(maxsize=MAX_CACHED_TYPES)
def _compile_cached(tp: Any, _: str | None) -> TypedForm[Any]:
    return compile_type(tp)


@overload
def typed_form(tp: Form | Mapping[str, Any]) -> TypedForm[dict[str, Any]]: ...
@overload
def typed_form(tp: TypeForm[T]) -> TypedForm[T]: ...
def typed_form(tp: Any) -> TypedForm[Any]:
    """The form for a type, a `Form` or a raw schema. A bare type becomes one field named `answer`.

    The fields of a `Form` get titles, as those of a type do: many clients show the bare name otherwise. A raw schema
    stays as it is.
    """
    if isinstance(tp, Form):
        form = add_titles(tp)
        return TypedForm(form, partial(fill, form))
    if not isinstance(tp, type) and isinstance(tp, Mapping):
        form = Form.from_schema(cast("Mapping[str, Any]", tp))
        return TypedForm(form, partial(fill, form))
    try:
        return _compile_cached(tp, spell_type(tp))
    except TypeError:
        if _is_hashable(tp):
            raise
        return compile_type(tp)


def add_titles(form: Form) -> Form:
    """The form with a title for each field: its own, else its name as people write it."""
    if all(field.title for field in form):
        return form
    return Form(*(field if field.title else replace(field, title=humanize(field.name)) for field in form))


def is_value(tp: Any, value: Any) -> bool | None:
    """Whether this is already a value of the type; None if that can't be known.

    A form and a schema have no such values, and a mapping isn't a value of a class with fields.
    """
    if isinstance(tp, Form) or (not isinstance(tp, type) and isinstance(tp, Mapping)):
        return False
    if isinstance(value, Mapping) and isinstance(tp, type) and not is_typeddict(tp):
        return False
    try:
        (_adapter if _is_hashable(tp) else _build_adapter)(tp).validate_python(value, strict=True)
    except (PydanticUserError, RuntimeError):
        return None
    except Exception:  # the author's validators may raise anything
        return False
    return True


def _build_adapter(tp: Any) -> TypeAdapter[Any]:
    return TypeAdapter(strip_qualifiers(tp))


_adapter = lru_cache(maxsize=256)(_build_adapter)


def _is_hashable(tp: Any) -> bool:
    try:
        hash(tp)
    except TypeError:
        return False
    return True
