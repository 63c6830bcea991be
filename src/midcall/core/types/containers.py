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

from midcall.core.forms.check import Problem
from midcall.core.forms.form import Form
from midcall.core.types.facts import Facts, unwrapped
from midcall.core.types.parts import Content, Part, Unfit, part_of, problems_of, thawed, values_of
from midcall.core.types.refusals import holds_fields, is_a, named, refuse, refuse_values
from midcall.errors import InvalidForm
from midcall.wording import answers as wording

__all__ = ["TypedForm", "compiled"]

T_co = TypeVar("T_co", covariant=True)

ANSWER: Final = "answer"
"""The name of the one field that a bare type becomes."""


@dataclass(frozen=True, slots=True)
class TypedForm(Generic[T_co]):
    """A form, and how to read content that passed its check as a value of the type it came from."""

    form: Form
    read: Callable[[Content], T_co]


def compiled(tp: Any) -> TypedForm[Any]:
    """The form for a type, and the way back."""
    refuse_values(tp)
    facts = Facts(named(tp))
    base = unwrapped(tp, facts)
    if not holds_fields(base):
        return _bare(tp)
    if facts.nullable:
        refuse(tp, named(tp), "Ask for the type alone: a user who has no answer declines.")
    if is_a(base, BaseModel):
        return _model(base)
    if is_typeddict(base):
        return _typed_dict(base)
    return _pydantic_dataclass(base) if is_pydantic_dataclass(base) else _dataclass(base)


def _bare(tp: Any) -> TypedForm[Any]:
    """One field named `answer`, read as its bare value."""
    part = part_of(ANSWER, tp, Facts(named(tp)))
    name, thaw, supplied = part.field.name, part.thaw, part.supplied
    if thaw is None and supplied is None:
        return TypedForm(Form(part.field), itemgetter(name))

    def read(content: Content) -> Any:
        if name not in content and supplied is not None:
            return supplied()
        return content[name] if thaw is None else thawed(name, thaw, content[name])

    return TypedForm(Form(part.field), read)


def _model(model: type[BaseModel]) -> TypedForm[Any]:
    if issubclass(model, RootModel):
        refuse(model, model.__name__, "Ask for the type within the RootModel.")
    if not model.__pydantic_complete__:
        _resolved(model, model.model_rebuild)
    parts = _validated_parts(model, model.model_fields)
    return TypedForm(_form_of(model, parts), _validating(parts, partial(model.model_validate, by_alias=True)))


def _pydantic_dataclass(kind: Any) -> TypedForm[Any]:
    parts = _validated_parts(
        kind, {name: info for name, info in kind.__pydantic_fields__.items() if info.init is not False}
    )
    return TypedForm(_form_of(kind, parts), _validating(parts, lambda values: kind(**values)))


def _validated_parts(kind: type, infos: Mapping[str, FieldInfo]) -> list[Part]:
    parts: list[Part] = []
    for name, info in infos.items():
        facts = Facts(f"{kind.__name__}.{name}")
        facts.absorb(info)
        part = part_of(name, info.annotation, facts, validated=True)
        # Defaults are the model's own business; a null that was left out of a required field is not.
        parts.append(part if info.is_required() else dataclasses.replace(part, supplied=None))
    return parts


def _dataclass(kind: Any) -> TypedForm[Any]:
    hints = _hints(kind)
    for name, hint in hints.items():
        if isinstance(hint, dataclasses.InitVar):
            raise InvalidForm("an InitVar cannot be asked for", path=f"{kind.__name__}.{name}", advice="Use a field.")
    parts = [_dataclass_part(kind, slot, hints[slot.name]) for slot in dataclasses.fields(kind) if slot.init]
    return TypedForm(_form_of(kind, parts), _collecting(parts, lambda values: kind(**values)))


def _dataclass_part(kind: type, slot: dataclasses.Field[Any], hint: Any) -> Part:
    facts = Facts(f"{kind.__name__}.{slot.name}")
    if isinstance(slot.default, FieldInfo):  # pydantic's Field(...): the dataclass itself would take it as the value
        return part_of(slot.name, Annotated[hint, slot.default], facts)
    if slot.default is not dataclasses.MISSING:
        facts.default = slot.default
    if slot.default_factory is not dataclasses.MISSING:
        facts.factory = slot.default_factory
    supplies_itself = facts.has_default
    part = part_of(slot.name, hint, facts)
    return dataclasses.replace(part, supplied=None) if supplies_itself else part


def _typed_dict(kind: Any) -> TypedForm[Any]:
    parts = [_typed_dict_part(kind, name, hint) for name, hint in _hints(kind).items()]
    return TypedForm(_form_of(kind, parts), _collecting(parts, lambda values: values))


def _typed_dict_part(kind: Any, name: str, hint: Any) -> Part:
    # What the annotation says is right even where the class could not read it, being a string.
    facts = Facts(f"{kind.__name__}.{name}")
    unwrapped(hint, facts)
    required = name in kind.__required_keys__ if facts.required is None else facts.required
    part = part_of(name, hint, Facts(facts.path, required=required))
    return part if required or facts.has_default else dataclasses.replace(part, supplied=None)


def _form_of(kind: type, parts: Sequence[Part]) -> Form:
    if not parts:
        raise InvalidForm("it has no fields to ask for", path=kind.__name__, advice="For a yes or no, use confirm().")
    try:
        return Form(*(part.field for part in parts))
    except InvalidForm as error:
        path = f"{kind.__name__}.{error.path}"
        raise InvalidForm(error.text.removeprefix(f"{error.path}: "), path=path) from None


def _collecting(parts: Sequence[Part], make: Callable[[dict[str, Any]], Any]) -> Callable[[Content], Any]:
    """Reads every field by its own type, then makes the whole."""

    def read(content: Content) -> Any:
        values = values_of(parts, content, by_wire_name=False)
        try:
            return make(values)
        except ValidationError as error:
            raise Unfit(problems_of(error, lambda place: "")) from None
        except (ValueError, AssertionError) as error:
            raise Unfit((Problem("", "value", wording.not_fitting(str(error))),)) from None

    return read


def _validating(parts: Sequence[Part], validate: Callable[[dict[str, Any]], Any]) -> Callable[[Content], Any]:
    """Hands the fields to pydantic, under the names that it validates by."""
    names = {key: part.field.name for part in parts for key in (part.attribute, part.field.name)}

    def read(content: Content) -> Any:
        values = values_of(parts, content, by_wire_name=True)
        try:
            return validate(values)
        except ValidationError as error:
            raise Unfit(problems_of(error, lambda place: names.get(place, ""))) from None

    return read


def _hints(kind: Any) -> dict[str, Any]:
    return _resolved(kind, partial(get_type_hints, kind, include_extras=True))


def _resolved(kind: Any, resolve: Callable[[], Any]) -> Any:
    try:
        return resolve()
    except (NameError, PydanticUserError) as error:
        raise InvalidForm(
            f"its annotations cannot be resolved: {str(error).splitlines()[0]}",
            path=kind.__name__,
            advice="Define the types it names at the top level of their module.",
        ) from None
