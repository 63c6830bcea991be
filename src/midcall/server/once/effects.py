"""`once`: an effect that runs once, however often the call is replayed."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
from base64 import urlsafe_b64encode
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import UUID

from anyio import CapacityLimiter, to_thread
from pydantic import BaseModel

from midcall.errors import InvalidQuestion, NotRecordable
from midcall.server.call import inside_effect
from midcall.server.once.claims import lost_result, run_claimed
from midcall.server.once.codec import record_of
from midcall.server.running.run import in_thread

if TYPE_CHECKING:
    from midcall.server.call import Call

_KEY: Final = "idempotency_key"
_IN_THREADS: Final = (asyncio.to_thread, to_thread.run_sync)
"""They return what the function returns that they are given."""


async def run_once(
    call: Call, name: str, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], *, retry: bool = False
) -> Any:
    """Return the recorded result of this effect, or run it now."""
    if not name:
        raise InvalidQuestion("once() needs a name for its effect, such as 'charge'.")
    if not callable(fn):
        if inspect.iscoroutine(fn):
            fn.close()
        raise InvalidQuestion(
            f"once() takes a function and its arguments, not {type(fn).__name__}: once('charge', charge, amount)."
        )
    await call.run.check()
    record = record_of(args[0] if fn in _IN_THREADS and args and callable(args[0]) else fn)
    arguments = _digest_of(args, kwargs)
    identity = call.replay.identify_effect(name, arguments)
    entry = call.replay.find_mark(identity)
    if entry is not None and entry.kind == "effect":
        return record.read(entry.value)
    if entry is not None and entry.kind == "lost" and not retry:
        raise lost_result(name)
    line = call.on_line
    if line and entry is None:
        call.replay.depart_with_effect(name)
    if _lacks_idempotency_key(fn, args, kwargs):
        kwargs = {**kwargs, _KEY: call.derive("once", identity, arguments)}

    threaded = in_thread.get() is not None and not inspect.iscoroutinefunction(fn)  # a `def` tool's function may block

    async def run() -> Any:
        result = await _run_in_thread(partial(fn, *args, **kwargs)) if threaded else fn(*args, **kwargs)
        if inspect.isawaitable(result):
            result = await result
        return record.write(name, result)

    async def effect() -> Any:
        try:
            recorded = await (run_claimed(call, identity, name, arguments, retry, run) if call.claims else run())
        except NotRecordable:
            call.replay.lose_effect(identity, name, arguments, line=line)
            raise
        except BaseException:
            call.replay.fail_effect(identity, name, arguments, line=line)
            raise
        call.replay.record_effect(identity, name, arguments, recorded, line=line)
        return record.read(recorded)

    context = copy_context()
    context.run(inside_effect.set, True)
    task = asyncio.create_task(effect(), context=context)
    call.run.begin(task)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        # The caller is gone. The effect continues to its end, and nobody retrieves its error.
        task.add_done_callback(_retrieve)
        raise


async def _run_in_thread(function: Callable[[], Any]) -> Any:
    """Run a function that may block, with its own limiter: the tool's thread holds a token while it waits for this."""
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
    """This argument as data that is the same in every process; anything else by the name of its type."""
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


def _lacks_idempotency_key(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether the function takes a key, and the author did not pass one."""
    try:
        if _KEY in getattr(fn, "keywords", ()):  # of a partial
            return False
        signature = inspect.signature(fn)
        return _KEY in signature.parameters and _KEY not in signature.bind_partial(*args, **kwargs).arguments
    except (TypeError, ValueError):  # no signature, or wrong arguments, which the call itself reports
        return False
