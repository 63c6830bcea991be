"""`once`: an effect that runs once, however often the call is replayed."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
from base64 import urlsafe_b64encode
from collections.abc import Callable
from contextvars import copy_context
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, get_type_hints

from anyio import to_thread
from pydantic import PydanticSchemaGenerationError, PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_jsonable_python

from midcall import wording
from midcall.errors import InvalidQuestion, NotRecordable
from midcall.server.call import inside_effect
from midcall.server.rounds import in_thread

if TYPE_CHECKING:
    from midcall.server.call import Call

__all__ = ["run_once"]


async def run_once(call: Call, name: str, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The recorded result of this effect, or that of running it now."""
    if not name:
        raise InvalidQuestion(wording.empty_effect_name())
    if call.rounds is not None and call.rounds.leaving:
        await call.rounds.stop()
    adapter = _adapter_of(fn)
    arguments = _digest_of(args, kwargs)
    identity = call.replay.identify_effect(name, arguments)
    entry = call.replay.effect(identity)
    if entry is not None:
        return adapter.validate_python(entry.value)
    line = call.on_line
    if line:
        call.replay.depart_with_effect(name)
    if _takes_idempotency_key(fn) and "idempotency_key" not in kwargs:
        kwargs = {**kwargs, "idempotency_key": call.derive("once", identity)}

    threaded = in_thread.get() and not inspect.iscoroutinefunction(fn)  # a `def` tool's function may block

    async def effect() -> Any:
        try:
            result = await to_thread.run_sync(partial(fn, *args, **kwargs)) if threaded else fn(*args, **kwargs)
            if inspect.isawaitable(result):
                result = await result
        except BaseException:
            call.replay.forget_effect(name, arguments)
            raise
        recorded = _to_json(adapter, name, result)
        call.replay.record_effect(identity, name, recorded, line=line)
        return adapter.validate_python(recorded)

    context = copy_context()
    context.run(inside_effect.set, True)
    task = asyncio.create_task(effect(), context=context)
    if call.rounds is not None:
        call.rounds.begin(task)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        # The caller is gone; the effect goes on to its end, and a failure of it has nobody to tell.
        task.add_done_callback(_retrieve)
        raise


def _retrieve(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()


def _digest_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    if not args and not kwargs:
        return ""
    plain = to_jsonable_python((args, kwargs), fallback=_type_name, inf_nan_mode="strings")
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"))
    return urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:9]).decode()


def _type_name(value: object) -> str:
    """What stands for an argument that is no data, such as a connection."""
    return type(value).__qualname__


def _to_json(adapter: TypeAdapter[Any], name: str, result: Any) -> Any:
    try:
        plain = adapter.dump_python(result, mode="json", warnings="error")
        json.dumps(plain)
        adapter.validate_python(plain)
    except (PydanticSerializationError, ValidationError, TypeError, ValueError):
        raise NotRecordable(  # without its cause, which quotes the result
            wording.result_not_recordable(name, type(result).__qualname__),
            advice=wording.not_recordable_advice(),
            for_model=wording.model_broken(),
        ) from None
    return plain


def _adapter_of(fn: Callable[..., Any]) -> TypeAdapter[Any]:
    """Writes and reads this function's results; fails before the function has run if that cannot be done."""
    function = getattr(fn, "__func__", fn)
    try:
        return _cached_adapter(function)
    except TypeError as exc:
        if isinstance(exc, NotRecordable):
            raise
        return _make_adapter(fn)  # not hashable


def _make_adapter(fn: Callable[..., Any]) -> TypeAdapter[Any]:
    annotation = _return_annotation(fn)
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(annotation)
        adapter.json_schema(mode="serialization")
    except (PydanticSchemaGenerationError, PydanticUserError) as exc:
        raise NotRecordable(
            wording.annotation_not_recordable(getattr(fn, "__qualname__", repr(fn)), annotation),
            advice=wording.not_recordable_advice(),
            for_model=wording.model_broken(),
        ) from exc
    return adapter


_cached_adapter = lru_cache(maxsize=512)(_make_adapter)


def _return_annotation(fn: Callable[..., Any]) -> Any:
    target = fn if inspect.isroutine(fn) else getattr(fn, "func", None) or type(fn).__call__
    try:
        hints = get_type_hints(target, include_extras=True)
    except (NameError, TypeError):
        return Any
    return hints.get("return", Any)


def _takes_idempotency_key(fn: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(fn).parameters
    except (TypeError, ValueError):
        return False
    return "idempotency_key" in parameters
