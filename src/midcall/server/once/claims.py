"""Claims: with a store, an effect is claimed before it runs, so that it runs at most once on all replicas.

The journal alone isn't enough: a state may be sent twice, and a process may die between an effect and the round that
carries its result.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from midcall.errors import NotRecordable, OnceUnknown, ReplayMismatch
from midcall.settings.live_runs import CLAIM_FRESH_SECONDS, MAX_EFFECT_FAILURES, OTHER_EFFECT_SECONDS
from midcall.stores.interactions import digest_of

if TYPE_CHECKING:
    from midcall.server.call import Call


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
        id = call.derive("claim", identity, str(attempt))
        record, ours = await keeping.create(call, id, "once", json.dumps(claim))
        differs = json.loads(record.data) != claim
        if differs and record.pending:
            raise _other_arguments(name)
        if not ours and record.pending:
            record = await (await keeping.store()).wait(digest_of(id), OTHER_EFFECT_SECONDS) or record
        if ours or (record.pending and retry):
            await _check_turn(call, id, ours)
            return await _run(call, id, run)
        if record.outcome is None:
            raise OnceUnknown(step=name)
        outcome: dict[str, Any] = json.loads(record.outcome)
        if differs and "failed" not in outcome:
            raise _other_arguments(name)
        if "result" in outcome:
            return outcome["result"]
        if "lost" in outcome and not retry:
            raise lost_result(name)
    raise OnceUnknown(step=name)


async def _check_turn(call: Call, id: str, ours: bool) -> None:
    """Stop if another replica has taken over the call meanwhile: then its run does this effect."""
    while True:
        asked = time.monotonic()
        if not await call.is_ours():
            assert call.installation.keeping is not None
            store = await call.installation.keeping.store()
            if ours:  # another run's claim may have run already
                await store.complete(digest_of(id), json.dumps({"failed": True}), owner=None, now=time.time())
            call.run.stop("continued elsewhere")
            raise asyncio.CancelledError
        if time.monotonic() - asked < CLAIM_FRESH_SECONDS:
            return


async def _run(call: Call, id: str, run: Callable[[], Awaitable[Any]]) -> Any:
    assert call.installation.keeping is not None
    store = await call.installation.keeping.store()
    try:
        result = await run()
    except NotRecordable:  # unlike a failed effect, it has run
        await store.complete(digest_of(id), json.dumps({"lost": True}), owner=None, now=time.time())
        raise
    except (Exception, asyncio.CancelledError) as exc:
        if isinstance(exc, Exception) or not _is_cancelled():
            await store.complete(digest_of(id), json.dumps({"failed": True}), owner=None, now=time.time())
        raise
    done = await store.complete(digest_of(id), json.dumps({"result": result}), owner=None, now=time.time())
    if done == "already" and (record := await store.read(digest_of(id))) is not None and record.outcome is not None:
        return json.loads(record.outcome).get("result", result)
    return result


def _is_cancelled() -> bool:
    """Whether the effect itself was cancelled, and not something that it awaited."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _other_arguments(name: str) -> ReplayMismatch:
    return ReplayMismatch(f"once({name!r}, ...) was run in this call before, with other arguments.")


def lost_result(name: str) -> NotRecordable:
    """The error for an effect that ran in an earlier run, and whose result could not be recorded."""
    return NotRecordable(f"once({name!r}) returned a result that could not be recorded.", step=name)
