"""Whole types: models, dataclasses, TypedDicts, and the bare type that is one field."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Annotated, Any, Final, Generic, TypeVar

from pydantic import BaseModel, RootModel, ValidationError
from pydantic.dataclasses import is_pydantic_dataclass
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from typing_extensions import get_type_hints, is_typeddict

from midcall.core.forms.form import Form
from midcall.core.types.facts import Facts, unwrap
from midcall.core.types.kinds import Unfit
from midcall.core.types.parts import Content, Part, build_part, list_problems, read_value, read_values
from midcall.core.types.refusals import holds_fields, is_a, name_type, refuse, refuse_value
from midcall.errors import InvalidForm
from midcall.language.problems import Problem

T_co = TypeVar("T_co", covariant=True)

ANSWER: Final = "answer"
"""The name of the one field that a bare type becomes."""


@dataclass(frozen=True, slots=True)
class TypedForm(Generic[T_co]):
    """A form, and how to turn valid content into a value of the type."""

    form: Form
    read: Callable[[Content], T_co]
    bare: bool = False
    """Whether the type has no named fields, so that only the question's message says what is asked."""
    quick: Callable[[Any], T_co] | None = None
    """Checks and reads the value of a bare type in one step; it raises if that takes more."""


def compile_type(tp: Any) -> TypedForm[Any]:
    """The form for a type, and the way back."""
    refuse_value(tp)
    facts = Facts(name_type(tp))
    base = unwrap(tp, facts)
    if not holds_fields(base):
        return _bare(tp)
    if facts.nullable:
        refuse(tp, name_type(tp), "Ask for the type alone: a user who has no answer declines.")
    if is_a(base, BaseModel):
        return _model(base)
    if is_typeddict(base):
        return _typed_dict(base)
    return _pydantic_dataclass(base) if is_pydantic_dataclass(base) else _dataclass(base)


def _bare(tp: Any) -> TypedForm[Any]:
    """One field named `answer`, read as its bare value."""
    part = build_part(ANSWER, tp, Facts(name_type(tp)))
    name, thaw, supplied = part.field.name, part.thaw, part.supplied
    if thaw is None and supplied is None:
        return TypedForm(Form(part.field), itemgetter(name), bare=True, quick=part.quick)

    def read(content: Content) -> Any:
        if name not in content and supplied is not None:
            return supplied()
        return content[name] if thaw is None else read_value(name, thaw, content[name])

    return TypedForm(Form(part.field), read, bare=True, quick=part.quick)


def _model(model: type[BaseModel]) -> TypedForm[Any]:
    if issubclass(model, RootModel):
        refuse(model, model.__name__, "Ask for the type within the RootModel.")
    if not model.__pydantic_complete__:
        _resolve(model, model.model_rebuild)
    parts = _build_parts(model, model.model_fields)
    return TypedForm(_form_of(model, parts), _read_by_pydantic(parts, partial(model.model_validate, by_alias=True)))


def _pydantic_dataclass(kind: Any) -> TypedForm[Any]:
    parts = _build_parts(
        kind, {name: info for name, info in kind.__pydantic_fields__.items() if info.init is not False}
    )
    return TypedForm(_form_of(kind, parts), _read_by_pydantic(parts, lambda values: kind(**values)))


def _build_parts(kind: type, infos: Mapping[str, FieldInfo]) -> list[Part]:
    parts: list[Part] = []
    for name, info in infos.items():
        facts = Facts(f"{kind.__name__}.{name}")
        facts.absorb(info)
        part = build_part(name, info.annotation, facts, validated=True)
        # The model applies its own defaults, but not the None of a required field that was left out.
        parts.append(part if info.is_required() else dataclasses.replace(part, supplied=None))
    return parts


def _dataclass(kind: Any) -> TypedForm[Any]:
    hints = _hints(kind)
    for name, hint in hints.items():
        if isinstance(hint, dataclasses.InitVar):
            raise InvalidForm("an InitVar cannot be asked for", path=f"{kind.__name__}.{name}", advice="Use a field.")
    parts = [_dataclass_part(kind, slot, hints[slot.name]) for slot in dataclasses.fields(kind) if slot.init]
    return TypedForm(_form_of(kind, parts), _read_by_field(parts, lambda values: kind(**values)))


def _dataclass_part(kind: type, slot: dataclasses.Field[Any], hint: Any) -> Part:
    facts = Facts(f"{kind.__name__}.{slot.name}")
    if isinstance(slot.default, FieldInfo):  # pydantic's Field(...), which a plain dataclass takes as the value
        return build_part(slot.name, Annotated[hint, slot.default], facts)
    if slot.default is not dataclasses.MISSING:
        facts.default = slot.default
    if slot.default_factory is not dataclasses.MISSING:
        facts.factory = slot.default_factory
    supplies_itself = facts.has_default
    part = build_part(slot.name, hint, facts)
    return dataclasses.replace(part, supplied=None) if supplies_itself else part


def _typed_dict(kind: Any) -> TypedForm[Any]:
    parts = [_typed_dict_part(kind, name, hint) for name, hint in _hints(kind).items()]
    return TypedForm(_form_of(kind, parts), _read_by_field(parts, lambda values: values))


def _typed_dict_part(kind: Any, name: str, hint: Any) -> Part:
    # Trust the annotation: the class can't see `Required` inside a string.
    facts = Facts(f"{kind.__name__}.{name}")
    unwrap(hint, facts)
    required = name in kind.__required_keys__ if facts.required is None else facts.required
    part = build_part(name, hint, Facts(facts.path, required=required))
    return part if required or facts.has_default else dataclasses.replace(part, supplied=None)


def _form_of(kind: type, parts: Sequence[Part]) -> Form:
    if not parts:
        raise InvalidForm("it has no fields to ask for", path=kind.__name__, advice="For a yes or no, use confirm().")
    try:
        return Form(*(part.field for part in parts))
    except InvalidForm as error:
        path = f"{kind.__name__}.{error.path}"
        raise InvalidForm(error.text.removeprefix(f"{error.path}: "), path=path) from None


def _read_by_field(parts: Sequence[Part], make: Callable[[dict[str, Any]], Any]) -> Callable[[Content], Any]:
    """Read every field by its own type, then build the whole."""

    def read(content: Content) -> Any:
        values = read_values(parts, content, by_wire_name=False)
        try:
            return make(values)
        except ValidationError as error:
            raise Unfit(list_problems(error, lambda place: "")) from None
        except (ValueError, AssertionError) as error:
            raise Unfit((Problem("", "value", {"reason": str(error)}),)) from None

    return read


def _read_by_pydantic(parts: Sequence[Part], validate: Callable[[dict[str, Any]], Any]) -> Callable[[Content], Any]:
    """Let pydantic validate the fields, under its own names for them."""
    names = {key: part.field.name for part in parts for key in (part.attribute, part.field.name)}

    def read(content: Content) -> Any:
        values = read_values(parts, content, by_wire_name=True)
        try:
            return validate(values)
        except ValidationError as error:
            raise Unfit(list_problems(error, lambda place: names.get(place, ""))) from None

    return read


def _hints(kind: Any) -> dict[str, Any]:
    return _resolve(kind, partial(get_type_hints, kind, include_extras=True))


def _resolve(kind: Any, resolve: Callable[[], Any]) -> Any:
    try:
        return resolve()
    except (NameError, PydanticUserError) as error:
        raise InvalidForm(
            f"its annotations cannot be resolved: {str(error).splitlines()[0]}",
            path=kind.__name__,
            advice="Define the types it names at the top level of their module.",
        ) from None
