"""How the result of a `once` is written into the journal, and read from it: as JSON, by the function's annotation."""

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
from midcall.server.once.claims import not_recorded
from midcall.wording import mistakes
from midcall.wording import once as wording

__all__ = ["Record", "record_of"]


@dataclass(frozen=True, slots=True)
class Record:
    """Writes and reads the results of one function."""

    adapter: TypeAdapter[Any]
    says: bool
    """Whether the function says what it returns."""

    def write(self, name: str, result: Any) -> Any:
        """The result as it is recorded. It has run by now: what cannot be recorded of it is lost, and must be told."""
        try:
            if not self.says and not _is_plain(result):  # it would come back as something else
                raise not_recorded(
                    name,
                    (
                        f"once({name!r}) returned {type(result).__qualname__}, which is no plain data, and the "
                        "function has no annotation that says it."
                    ),
                )
            plain = self._dumped(result, "json")
            lost = "null" in json.dumps(plain) and _odd_numbers(self._dumped(result, "python")) > _odd_numbers(plain)
            self.read(plain)
        except NotRecordable:
            raise
        except (PydanticSerializationError, ValidationError, TypeError, ValueError, RecursionError):
            # Without its cause, which quotes the result.
            raise not_recorded(
                name,
                (
                    f"once({name!r}) returned {type(result).__qualname__}, which JSON cannot hold as the function's "
                    "annotation says."
                ),
            ) from None
        if lost:
            raise not_recorded(
                name,
                (
                    f"once({name!r}) returned a number that is not finite (NaN or infinity), and JSON has no other. "
                    "A function whose annotation says float may return one."
                ),
            )
        return plain

    def read(self, plain: Any) -> Any:
        """What was returned. A new one each time: the tool may change what it gets."""
        try:
            return self.adapter.validate_python(deepcopy(plain), by_alias=False, by_name=True)
        except ValidationError:  # of a strict type, or by its aliases, as an older midcall has written it
            return self.adapter.validate_json(json.dumps(plain), by_alias=True, by_name=True)

    def _dumped(self, result: Any, mode: Literal["json", "python"]) -> Any:
        return self.adapter.dump_python(result, mode=mode, by_alias=False, round_trip=True, warnings="error")


def _is_plain(data: Any) -> bool:
    """Whether this is what JSON holds; with tuples, which come back as lists."""
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
    """How many numbers in this have no JSON form. Where a type does not name them, pydantic writes null for each."""
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
    """Writes and reads this function's results; fails before the function has run if that cannot be done."""
    function = getattr(fn, "__func__", fn)
    try:
        record = _records.get(function)
        if record is None:
            record = _records[function] = _made_for(fn)
    except TypeError as exc:
        if isinstance(exc, NotRecordable):
            raise
        return _made_for(fn)  # it cannot be a key
    return record


def _made_for(fn: Callable[..., Any]) -> Record:
    annotation = _return_annotation(fn)
    name = getattr(fn, "__qualname__", repr(fn))
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(annotation)
        schema = adapter.json_schema(mode="serialization")
    except (PydanticSchemaGenerationError, PydanticUserError) as exc:
        raise _refused(
            f"The result of {name} cannot be recorded: its return annotation {annotation!r} has no JSON form."
        ) from exc
    if any(part.get("format") == "password" for part in _parts(schema)):
        raise _refused(
            f"The result of {name} cannot be recorded: it holds a secret, and a journal passes through the client.",
            "Keep the secret where the function has it, and return what names it; secret() is for those of the user.",
        )
    if any(part.get("serialization_exclude") is True for part in _parts(adapter.core_schema)):
        raise _refused(f"The result of {name} cannot be recorded: a field of it is excluded from what is written.")
    return Record(adapter, annotation not in (Any, object))


def _refused(why: str, advice: str | None = None) -> NotRecordable:
    return NotRecordable(why, advice=advice or wording.not_recordable_advice(), for_model=mistakes.model_broken())


def _parts(schema: Any) -> Iterator[Mapping[str, Any]]:
    """This schema and all that is in it."""
    if isinstance(schema, dict):
        yield cast("dict[str, Any]", schema)
    if isinstance(schema, (dict, list, tuple)):
        inside = cast("dict[str, Any]", schema).values() if isinstance(schema, dict) else cast("list[Any]", schema)
        for part in inside:
            yield from _parts(part)


def _return_annotation(fn: Callable[..., Any]) -> Any:
    if (made := _made_by(getattr(fn, "func", fn))) is not None:
        return made
    target = fn if inspect.isroutine(fn) else getattr(fn, "func", None) or type(fn).__call__
    written = getattr(target, "__annotations__", {}).get("return", Any)
    alone = SimpleNamespace(__annotations__={"return": written})  # those of the parameters are none of our business
    around = getattr(inspect.unwrap(target), "__globals__", {})
    try:
        return get_type_hints(alone, around, _enclosing(target), include_extras=True)["return"]
    except NameError:
        name = getattr(fn, "__qualname__", repr(fn))
        raise _refused(
            f"The result of {name} cannot be recorded: its return annotation {written!r} names what is not there.",
            "Import it outside of `if TYPE_CHECKING:`, or define it at the top of a module.",
        ) from None
    except TypeError:
        return Any


_NEW_ID: Final = re.compile(r"uuid\d")


def _made_by(fn: Any) -> type | None:
    """What this makes, where that is known without an annotation: a class, `datetime.now`, `uuid4`."""
    if isinstance(fn, type):
        return fn
    if inspect.isbuiltin(fn) and isinstance(fn.__self__, type) and issubclass(fn.__self__, date):
        return fn.__self__
    return UUID if inspect.isfunction(fn) and fn.__module__ == "uuid" and _NEW_ID.fullmatch(fn.__name__) else None


def _enclosing(function: Any) -> Mapping[str, Any]:
    """The names that this function uses of the one that it is defined in."""
    try:
        return inspect.getclosurevars(inspect.unwrap(function)).nonlocals
    except TypeError:  # no function of Python's
        return {}
