"""How the result of a `once` is serialized for the journal: as JSON, by the function's return annotation."""

from __future__ import annotations

import inspect
import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from datetime import date
from enum import Enum
from math import isfinite
from types import SimpleNamespace
from typing import Any, Final, Literal, cast, get_type_hints
from uuid import UUID
from weakref import WeakKeyDictionary

from pydantic import PydanticSchemaGenerationError, PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from midcall.errors import NotRecordable


@dataclass(frozen=True, slots=True)
class Record:
    """Writes and reads the results of one function."""

    adapter: TypeAdapter[Any]
    annotated: bool
    """Whether the function has a return annotation."""

    def write(self, name: str, result: Any) -> Any:
        """Serialize the result. The effect has run, so an error must say that its result is lost."""
        try:
            if not self.annotated and not _is_plain(result):  # it would be read back as something else
                raise NotRecordable(
                    f"once({name!r}) returned {type(result).__qualname__}, which isn't plain data, and the function "
                    "has no return annotation.",
                    step=name,
                )
            plain = self._dump(result, "json")
            lost = "null" in json.dumps(plain) and _odd_numbers(self._dump(result, "python")) > _odd_numbers(plain)
            self.read(plain)
        except NotRecordable:
            raise
        except (PydanticSerializationError, ValidationError, TypeError, ValueError, RecursionError):
            # No cause: it quotes the result.
            raise NotRecordable(
                f"once({name!r}) returned {type(result).__qualname__}, which JSON cannot hold as the return annotation "
                "says.",
                step=name,
            ) from None
        if lost:
            raise NotRecordable(
                f"once({name!r}) returned a number that is not finite (NaN or infinity), which JSON cannot hold. "
                "Annotate the function with float to return one.",
                step=name,
            )
        return plain

    def read(self, plain: Any) -> Any:
        """Deserialize a result. A new object each time: the tool may change it."""
        try:
            return self.adapter.validate_python(deepcopy(plain), by_alias=False, by_name=True)
        except ValidationError:  # a strict type, or written by alias by an older midcall
            return self.adapter.validate_json(json.dumps(plain), by_alias=True, by_name=True)

    def _dump(self, result: Any, mode: Literal["json", "python"]) -> Any:
        return self.adapter.dump_python(result, mode=mode, by_alias=False, round_trip=True, warnings="error")


def _is_plain(data: Any) -> bool:
    """Whether JSON can hold this. Tuples count, and come back as lists."""
    match data:
        case Enum():
            return False
        case None | bool() | int() | float() | str():
            return True
        case list() | tuple():
            return all(map(_is_plain, cast("Iterable[Any]", data)))
        case dict():
            items = cast("dict[Any, Any]", data).items()
            return all(isinstance(key, str) and not isinstance(key, Enum) and _is_plain(item) for key, item in items)
        case _:
            return False


def _odd_numbers(data: Any) -> int:
    """How many numbers in this have no JSON form. Without an annotation for them, pydantic writes null."""
    if isinstance(data, float):
        return int(not isfinite(data))
    if isinstance(data, dict):
        return sum(map(_odd_numbers, cast("dict[Any, Any]", data).values()))
    if isinstance(data, (list, tuple, set, frozenset, deque)):
        return sum(map(_odd_numbers, cast("Iterable[Any]", data)))
    return 0


# --- by the annotation -------------------------------------------------------------------------

_records: WeakKeyDictionary[Callable[..., Any], Record] = WeakKeyDictionary()
"""By function, and only as long as the function lives: it may be a closure over a lot of data."""


def record_of(fn: Callable[..., Any]) -> Record:
    """The serializer of this function's results; fails before the function runs if there can't be one."""
    function = getattr(fn, "__func__", fn)
    try:
        record = _records.get(function)
        if record is None:
            record = _records[function] = _create_record(fn)
    except TypeError as exc:
        if isinstance(exc, NotRecordable):
            raise
        return _create_record(fn)  # not hashable
    return record


def _create_record(fn: Callable[..., Any]) -> Record:
    annotation = _return_annotation(fn)
    name = getattr(fn, "__qualname__", repr(fn))
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(annotation)
        schema = adapter.json_schema(mode="serialization")
    except (PydanticSchemaGenerationError, PydanticUserError) as exc:
        raise NotRecordable(
            f"The result of {name} cannot be recorded: its return annotation {annotation!r} has no JSON form."
        ) from exc
    if any(part.get("format") == "password" for part in _parts(schema)):
        raise NotRecordable(
            f"The result of {name} cannot be recorded: it holds a secret, and the journal passes through the client.",
            advice="Keep the secret in the function, and return a name for it. For a user's secret, use secret().",
        )
    if any(part.get("serialization_exclude") is True for part in _parts(adapter.core_schema)):
        raise NotRecordable(f"The result of {name} cannot be recorded: a field is excluded from serialization.")
    return Record(adapter, annotation not in (Any, object))


def _parts(schema: Any) -> Iterator[Mapping[str, Any]]:
    """This schema and every part of it."""
    if isinstance(schema, dict):
        yield cast("dict[str, Any]", schema)
    if isinstance(schema, (dict, list, tuple)):
        inside = cast("dict[str, Any]", schema).values() if isinstance(schema, dict) else cast("list[Any]", schema)
        for part in inside:
            yield from _parts(part)


def _return_annotation(fn: Callable[..., Any]) -> Any:
    if (made := _find_result_type(getattr(fn, "func", fn))) is not None:
        return made
    target = fn if inspect.isroutine(fn) else getattr(fn, "func", None) or type(fn).__call__
    written = getattr(target, "__annotations__", {}).get("return", Any)
    alone = SimpleNamespace(__annotations__={"return": written})  # only the return annotation has to resolve
    around = getattr(inspect.unwrap(target), "__globals__", {})
    try:
        return get_type_hints(alone, around, _enclosing(target), include_extras=True)["return"]
    except NameError:
        name = getattr(fn, "__qualname__", repr(fn))
        raise NotRecordable(
            f"The result of {name} cannot be recorded: its return annotation {written!r} cannot be resolved.",
            advice="Import it outside of `if TYPE_CHECKING:`, or define it at the top of a module.",
        ) from None
    except TypeError:
        return Any


_NEW_ID: Final = re.compile(r"uuid\d")


def _find_result_type(fn: Any) -> type | None:
    """What this returns, if that is known without an annotation: a class, `datetime.now`, `uuid4`."""
    if isinstance(fn, type):
        return fn
    if inspect.isbuiltin(fn) and isinstance(fn.__self__, type) and issubclass(fn.__self__, date):
        return fn.__self__
    return UUID if inspect.isfunction(fn) and fn.__module__ == "uuid" and _NEW_ID.fullmatch(fn.__name__) else None


def _enclosing(function: Any) -> Mapping[str, Any]:
    """The names that this function uses from the enclosing one."""
    try:
        return inspect.getclosurevars(inspect.unwrap(function)).nonlocals
    except TypeError:  # not a Python function
        return {}
