"""An effect that is claimed before it runs: at most once, whoever replays the call, wherever.

Without a store the journal knows what has run; but a state may be sent twice, and a process may die
between an effect and the round that would carry its result. With a store an effect is claimed first.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

from midcall.errors import NotRecordable, OnceUnknown, ReplayMismatch
from midcall.stores.interactions import digest_of
from midcall.wording import once as wording
from midcall.wording import replay as replay_words

if TYPE_CHECKING:
    from midcall.server.call import Call

__all__ = ["claimed", "not_recorded"]

_OTHER_SECONDS: Final = 30.0
"""How long another run of the same effect is waited for."""
_FAILURES: Final = 100
_FRESH_SECONDS: Final = 1.0
"""How old the word of the store may be that the call is still this process's."""


async def claimed(
    call: Call, identity: str, name: str, arguments: str, retry: bool, run: Callable[[], Awaitable[Any]]
) -> Any:
    """The result of this effect as JSON data: of the run that was first.

    A claim does not depend on the arguments, which are written into it: one state, sent again with other answers, must
    not run the effect again with other arguments.

    Raises:
        ReplayMismatch: It was claimed with other arguments.
        OnceUnknown: It was begun, and nobody knows whether it ended.
        NotRecordable: It has run, and its result could not be recorded.
    """
    keeping = call.installation.keeping
    assert keeping is not None, "effects are claimed where there is a store"
    claim = {"name": name, "arguments": call.derive("arguments", arguments)}  # which the store cannot guess from it
    for attempt in range(_FAILURES):
        id = call.derive("claim", identity, str(attempt))
        record, ours = await keeping.create(call, id, "once", json.dumps(claim))
        differs = json.loads(record.data) != claim
        if differs and record.pending:
            raise _differs(name)
        if not ours and record.pending:
            record = await (await keeping.store()).wait(digest_of(id), _OTHER_SECONDS) or record
        if ours or (record.pending and retry):
            await _check_turn(call, id, ours)
            return await _run(call, id, run)
        if record.outcome is None:
            raise _unknown(name)
        outcome: dict[str, Any] = json.loads(record.outcome)
        if differs and "failed" not in outcome:
            raise _differs(name)
        if "result" in outcome:
            return outcome["result"]
        if "lost" in outcome and not retry:
            raise not_recorded(name, wording.result_lost(name))
    raise _unknown(name)


async def _check_turn(call: Call, id: str, ours: bool) -> None:
    """Another replica may have taken the call over meanwhile: then this effect is for its run to do."""
    while True:
        asked = time.monotonic()
        if not await call.is_ours():
            assert call.installation.keeping is not None
            store = await call.installation.keeping.store()
            if ours:  # somebody else's may have run
                await store.complete(digest_of(id), json.dumps({"failed": True}), owner=None, now=time.time())
            call.run.stop("continued elsewhere")
            raise asyncio.CancelledError
        if time.monotonic() - asked < _FRESH_SECONDS:
            return


async def _run(call: Call, id: str, run: Callable[[], Awaitable[Any]]) -> Any:
    assert call.installation.keeping is not None
    store = await call.installation.keeping.store()
    try:
        result = await run()
    except NotRecordable:  # it has run, which an effect that failed has not
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
    """Whether the effect itself was cut off, and not only something that it waited for."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _differs(name: str) -> ReplayMismatch:
    return ReplayMismatch(
        f"once({name!r}, ...) was run in this call before, with other arguments.",
        advice=replay_words.replay_mismatch_advice(),
        for_model=replay_words.model_start_again(),
    )


def _unknown(name: str) -> OnceUnknown:
    return OnceUnknown(
        f"once({name!r}) was begun before, and nobody knows whether it has ended",
        advice=(
            "The process that ran it may have died. If the function is safe to repeat, use once.retry(...), or let "
            "it take `idempotency_key`."
        ),
        for_model=wording.model_once_unknown(name),
    )


def not_recorded(name: str, why: str) -> NotRecordable:
    """The error for an effect that has run, and whose result is lost."""
    return NotRecordable(
        f"{why} {_has_run()}", advice=wording.not_recordable_advice(), for_model=wording.model_not_recorded(name)
    )


def _has_run() -> str:
    return "The function has run, and its result is lost."
