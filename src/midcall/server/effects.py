"""`once`: an effect that runs once, however often the call is replayed."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
from base64 import urlsafe_b64encode
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextvars import copy_context
from copy import deepcopy
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import partial
from math import isfinite
from pathlib import PurePath
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast, get_type_hints
from uuid import UUID
from weakref import WeakKeyDictionary

from anyio import CapacityLimiter, to_thread
from pydantic import BaseModel, PydanticSchemaGenerationError, PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from midcall.errors import InvalidQuestion, NotRecordable
from midcall.server.call import inside_effect
from midcall.server.claims import claimed, not_recorded
from midcall.server.rounds import in_thread
from midcall.wording import mistakes
from midcall.wording import once as wording

if TYPE_CHECKING:
    from midcall.server.call import Call

__all__ = ["run_once"]


async def run_once(
    call: Call, name: str, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], *, retry: bool = False
) -> Any:
    """The recorded result of this effect, or that of running it now."""
    if not name:
        raise InvalidQuestion(wording.empty_effect_name())
    if not callable(fn):
        if inspect.iscoroutine(fn):
            fn.close()
        raise InvalidQuestion(wording.not_a_function(type(fn).__name__))
    if call.unwinding is not None and call.unwinding.leaving:
        await call.unwinding.stop()
    adapter = _adapter_of(fn)
    arguments = _digest_of(args, kwargs)
    identity = call.replay.identify_effect(name, arguments)
    entry = call.replay.noted(identity)
    if entry is not None and entry.kind == "effect":
        return adapter.validate_python(deepcopy(entry.value))  # the tool may change what it gets
    if entry is not None and entry.kind == "lost" and not retry:
        raise not_recorded(name, wording.result_lost(name))
    line = call.on_line
    if line and entry is None:
        call.replay.depart_with_effect(name)
    if _takes_idempotency_key(fn) and "idempotency_key" not in kwargs:
        kwargs = {**kwargs, "idempotency_key": call.derive("once", identity)}

    threaded = in_thread.get() is not None and not inspect.iscoroutinefunction(fn)  # a `def` tool's function may block

    async def run() -> Any:
        result = await _in_a_thread(partial(fn, *args, **kwargs)) if threaded else fn(*args, **kwargs)
        if inspect.isawaitable(result):
            result = await result
        return _to_json(adapter, name, result)

    async def effect() -> Any:
        try:
            recorded = await (claimed(call, identity, name, retry, run) if call.claims else run())
        except NotRecordable:
            call.replay.lose_effect(identity, name, line=line)
            raise
        except BaseException:
            call.replay.fail_effect(identity, name, arguments, line=line)
            raise
        call.replay.record_effect(identity, name, recorded, line=line)
        return adapter.validate_python(deepcopy(recorded))

    context = copy_context()
    context.run(inside_effect.set, True)
    task = asyncio.create_task(effect(), context=context)
    if call.unwinding is not None:
        call.unwinding.begin(task)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        # The caller is gone; the effect goes on to its end, and a failure of it has nobody to tell.
        task.add_done_callback(_retrieve)
        raise


async def _in_a_thread(function: Callable[[], Any]) -> Any:
    """Run what may block. The tool's own thread holds one of the limited number, and waits for this one:
    so this one is not of that number."""
    return await to_thread.run_sync(function, limiter=CapacityLimiter(1))


def _retrieve(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()


def _digest_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    if not args and not kwargs:
        return ""
    text = json.dumps((_plain(args), _plain(kwargs)), sort_keys=True, separators=(",", ":"))
    return urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:9]).decode()


def _plain(value: Any) -> Any:
    """This argument as data that reads the same in every process; what is no data is named by its type."""
    match value:
        case None | bool() | int() | float() | str():
            return value if type(value) in (bool, int, float, str) or value is None else str(value)
        case bytes() | bytearray():
            return [bytes(value).hex()]
        case dict():
            items = cast("dict[Any, Any]", value).items()
            return sorted(([str(key), _plain(item)] for key, item in items), key=str)
        case set() | frozenset():
            return sorted((_plain(item) for item in cast("set[Any]", value)), key=str)
        case list() | tuple():
            return [_plain(item) for item in cast("list[Any]", value)]
        case BaseModel():
            return [type(value).__qualname__, _plain(dict(value))]
        case Enum():
            return [type(value).__qualname__, value.name]
        case date() | time() | timedelta() | Decimal() | UUID() | PurePath():
            return str(value)
        case _ if is_dataclass(value) and not isinstance(value, type):
            return [type(value).__qualname__, _plain({each.name: getattr(value, each.name) for each in fields(value)})]
        case _:
            return type(value).__qualname__


def _to_json(adapter: TypeAdapter[Any], name: str, result: Any) -> Any:
    """The result as it is recorded. It has run by now: what cannot be recorded of it is lost, and must be told."""
    try:
        plain = adapter.dump_python(result, mode="json", warnings="error")
        text = json.dumps(plain)
        lost = "null" in text and _odd_numbers(adapter.dump_python(result)) > _odd_numbers(plain)
        adapter.validate_python(plain)
    except (PydanticSerializationError, ValidationError, TypeError, ValueError):
        # Without its cause, which quotes the result.
        raise not_recorded(name, wording.result_not_recordable(name, type(result).__qualname__)) from None
    if lost:
        raise not_recorded(name, wording.number_not_recordable(name))
    return plain


def _odd_numbers(data: Any) -> int:
    """How many numbers in this have no JSON form. Where a type does not name them, pydantic writes null for each."""
    if isinstance(data, float):
        return int(not isfinite(data))
    if isinstance(data, dict):
        return sum(map(_odd_numbers, cast("dict[Any, Any]", data).values()))
    if isinstance(data, (list, tuple, set, frozenset, deque)):
        return sum(map(_odd_numbers, cast("Iterable[Any]", data)))
    return 0


_adapters: WeakKeyDictionary[Callable[..., Any], TypeAdapter[Any]] = WeakKeyDictionary()
"""By function, and only as long as the function lives: it may be a closure over a lot of data."""


def _adapter_of(fn: Callable[..., Any]) -> TypeAdapter[Any]:
    """Writes and reads this function's results; fails before the function has run if that cannot be done."""
    function = getattr(fn, "__func__", fn)
    try:
        adapter = _adapters.get(function)
        if adapter is None:
            adapter = _adapters[function] = _make_adapter(fn)
    except TypeError as exc:
        if isinstance(exc, NotRecordable):
            raise
        return _make_adapter(fn)  # it cannot be a key
    return adapter


def _make_adapter(fn: Callable[..., Any]) -> TypeAdapter[Any]:
    annotation = _return_annotation(fn)
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(annotation)
        adapter.json_schema(mode="serialization")
    except (PydanticSchemaGenerationError, PydanticUserError) as exc:
        raise NotRecordable(
            wording.annotation_not_recordable(getattr(fn, "__qualname__", repr(fn)), annotation),
            advice=wording.not_recordable_advice(),
            for_model=mistakes.model_broken(),
        ) from exc
    return adapter


def _return_annotation(fn: Callable[..., Any]) -> Any:
    target = fn if inspect.isroutine(fn) else getattr(fn, "func", None) or type(fn).__call__
    written = getattr(target, "__annotations__", {}).get("return", Any)
    alone = SimpleNamespace(__annotations__={"return": written})  # those of the parameters are none of our business
    around = getattr(inspect.unwrap(target), "__globals__", {})
    try:
        return get_type_hints(alone, around, _enclosing(target), include_extras=True)["return"]
    except NameError:
        raise NotRecordable(
            wording.annotation_not_found(getattr(fn, "__qualname__", repr(fn)), written),
            advice=wording.annotation_not_found_advice(),
            for_model=mistakes.model_broken(),
        ) from None
    except TypeError:
        return Any


def _enclosing(function: Any) -> Mapping[str, Any]:
    """The names that this function uses of the one that it is defined in."""
    try:
        return inspect.getclosurevars(inspect.unwrap(function)).nonlocals
    except TypeError:  # no function of Python's
        return {}


def _takes_idempotency_key(fn: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(fn).parameters
    except (TypeError, ValueError):
        return False
    return "idempotency_key" in parameters
