"""`once`: an effect that runs once, however often the call is replayed; with a store, once on all replicas."""

from __future__ import annotations

import asyncio
import inspect
import json
import time
from collections.abc import Awaitable, Callable
from contextvars import copy_context
from dataclasses import fields, is_dataclass
from datetime import date, timedelta
from datetime import time as time_of_day
from decimal import Decimal
from enum import Enum
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import UUID

from anyio import CapacityLimiter, to_thread
from pydantic import BaseModel

from midcall.core.wire import digest
from midcall.errors import InvalidQuestion, NotRecordable, OnceUnknown, ReplayMismatch
from midcall.server.call import inside_effect
from midcall.server.once.codec import record_of
from midcall.server.running.run import in_thread
from midcall.settings.live_runs import CLAIM_FRESH_SECONDS, MAX_EFFECT_FAILURES, OTHER_EFFECT_SECONDS
from midcall.stores.interactions import digest_of

if TYPE_CHECKING:
    from midcall.server.call import Call
    from midcall.stores.base import Completion, Store

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
        raise _lost_result(name)
    line = call.on_line
    if line and entry is None:
        call.replay.depart_with_effect(name)
    if _lacks_idempotency_key(fn, args, kwargs):
        kwargs = {**kwargs, _KEY: call.derive("once", identity, arguments)}

    threaded = in_thread.get() is not None and not inspect.iscoroutinefunction(fn)  # a `def` tool's function may block

    async def run() -> Any:
        if threaded:  # with its own limiter: the tool's thread holds a token while it waits for this
            result = await to_thread.run_sync(partial(fn, *args, **kwargs), limiter=CapacityLimiter(1))
        else:
            result = fn(*args, **kwargs)
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
        task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        raise


def _digest_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    if not args and not kwargs:
        return ""
    return digest(json.dumps((_plain(args), _plain(kwargs)), sort_keys=True, separators=(",", ":")))


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
        case date() | time_of_day() | timedelta() | Decimal() | UUID() | PurePath():
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


# --- claims ------------------------------------------------------------------------------------
#
# With a store, an effect is claimed before it runs, so that it runs at most once on all replicas. The journal alone
# isn't enough: a state may be sent twice, and a process may die between an effect and the round with its result.


async def run_claimed(
    call: Call, identity: str, name: str, arguments: str, retry: bool, run: Callable[[], Awaitable[Any]]
) -> Any:
    """Run this effect, or return the result of the run that was first, as JSON data.

    A claim has the arguments in its data, not in its name: a state that is sent again with other answers must not run
    the effect again with other arguments.

    Raises:
        ReplayMismatch: It was claimed with other arguments.
        OnceUnknown: It was started, and nobody knows whether it finished.
        NotRecordable: It has run, but its result could not be recorded.
    """
    keeping = call.installation.keeping
    assert keeping is not None, "claims need a store"
    claim = {"name": name, "arguments": call.derive("arguments", arguments)}  # the store can't guess them
    for attempt in range(MAX_EFFECT_FAILURES):
        secret = call.derive("claim", identity, str(attempt))
        record, ours = await keeping.create(call, secret, "once", json.dumps(claim))
        store, id = await keeping.store(), digest_of(secret)
        differs = json.loads(record.data) != claim
        if differs and record.pending:
            raise _other_arguments(name)
        if not ours and record.pending:
            record = await store.wait(id, OTHER_EFFECT_SECONDS) or record
        if ours or (record.pending and retry):
            await _check_turn(call, store, id, ours)
            return await _run_claim(store, id, run)
        if record.outcome is None:
            raise OnceUnknown(step=name)
        outcome: dict[str, Any] = json.loads(record.outcome)
        if differs and "failed" not in outcome:
            raise _other_arguments(name)
        if "result" in outcome:
            return outcome["result"]
        if "lost" in outcome and not retry:
            raise _lost_result(name)
    raise OnceUnknown(step=name)


async def _check_turn(call: Call, store: Store, id: str, ours: bool) -> None:
    """Stop if another replica has taken over the call meanwhile: then its run does this effect."""
    while True:
        asked = time.monotonic()
        if not await call.is_ours():
            if ours:  # another run's claim may have run already
                await _conclude(store, id, {"failed": True})
            call.run.stop("continued elsewhere")
            raise asyncio.CancelledError
        if time.monotonic() - asked < CLAIM_FRESH_SECONDS:
            return


async def _run_claim(store: Store, id: str, run: Callable[[], Awaitable[Any]]) -> Any:
    try:
        result = await run()
    except NotRecordable:  # unlike a failed effect, it has run
        await _conclude(store, id, {"lost": True})
        raise
    except (Exception, asyncio.CancelledError) as exc:
        task = asyncio.current_task()
        is_cancelled = task is None or task.cancelling() > 0  # the effect itself, and not something that it awaited
        if isinstance(exc, Exception) or not is_cancelled:
            await _conclude(store, id, {"failed": True})
        raise
    done = await _conclude(store, id, {"result": result})
    if done == "already" and (record := await store.read(id)) is not None and record.outcome is not None:
        return json.loads(record.outcome).get("result", result)
    return result


async def _conclude(store: Store, id: str, outcome: dict[str, Any]) -> Completion:
    return await store.complete(id, json.dumps(outcome), owner=None, now=time.time())


def _other_arguments(name: str) -> ReplayMismatch:
    return ReplayMismatch(f"once({name!r}, ...) was run in this call before, with other arguments.")


def _lost_result(name: str) -> NotRecordable:
    """The error for an effect that ran in an earlier run, and whose result could not be recorded."""
    return NotRecordable(f"once({name!r}) returned a result that could not be recorded.", step=name)
