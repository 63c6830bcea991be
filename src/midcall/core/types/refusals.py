"""Reject types that no form can ask for, and say what to use instead."""

from __future__ import annotations

import dataclasses
import re
from enum import Enum
from types import NoneType
from typing import Annotated, Any, Final, NoReturn, cast, get_origin

import pydantic
from typing_extensions import is_typeddict

from midcall.core.forms.secrets import secret_error
from midcall.errors import InvalidForm

_SUPPORTED: Final = (
    "Use bool, int, float, str, date, datetime, Literal, Enum, a list of such choices, "
    "or a flat model, dataclass or TypedDict of these."
)
_MODULES = re.compile(r"(?:[A-Za-z_<][\w<>]*\.)+(?=[A-Za-z_])")


def refuse(tp: Any, path: str, advice: str = "") -> NoReturn:
    """Raise `InvalidForm` for this type."""
    bare = get_origin(tp) or tp
    if any(is_a(bare, secret) for secret in (pydantic.SecretStr, pydantic.SecretBytes, pydantic.Secret)):
        raise secret_error(path, advice="Ask with secret() instead.")
    name = "" if name_type(tp) == path else f"{name_type(tp)} "
    raise InvalidForm(f"{name}cannot be asked for in a form", path=path, advice=advice or _advice(tp))


def refuse_value(tp: Any) -> None:
    """Raise if this isn't a type at all. The message doesn't quote the value, which may be private."""
    kind = cast("type[Any]", type(tp))
    if tp is None or tp is NoneType:
        raise InvalidForm("there is nothing to ask for", path="None", advice="For a yes or no, use confirm().")
    if issubclass(kind, (list, tuple, set, frozenset)):
        advice = "To offer these as options, use choose()."
    elif issubclass(kind, (str, int, float, Enum)) or holds_fields(kind):
        advice = "Give the type of the answer, not a value of it."
    else:
        return
    raise InvalidForm("this is a value, and a form is made from a type", path=kind.__name__, advice=advice)


def holds_fields(tp: Any) -> bool:
    """Whether this is a model, a dataclass or a TypedDict."""
    return is_a(tp, pydantic.BaseModel) or is_typeddict(tp) or (isinstance(tp, type) and dataclasses.is_dataclass(tp))


def is_a(tp: Any, kind: type) -> bool:
    return isinstance(tp, type) and get_origin(tp) is None and issubclass(tp, kind)


def name_type(tp: Any) -> str:
    """A type as its author wrote it, without modules and annotations."""
    if get_origin(tp) is Annotated:
        return name_type(tp.__origin__)
    name = getattr(tp, "__name__", None)
    return name if isinstance(name, str) and get_origin(tp) is None else _MODULES.sub("", str(tp))


def _advice(tp: Any) -> str:
    if holds_fields(tp):
        return "A form is flat: move its fields into this type, or ask for it in a separate question."
    return _SUPPORTED
