"""What a request returns once its run has settled: the tool's result, the next round, or a resume code."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from types import CoroutineType
from typing import Any, Final, TypeGuard

from mcp.server.context import HandlerResult
from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError
from mcp_types import INTERNAL_ERROR, InputRequiredResult
from mcp_types.methods import is_input_required

from midcall.core.journal import Foreign, encode
from midcall.errors import JournalTooLarge, MidcallError, TooManyRounds
from midcall.server import model_text
from midcall.server.call import Call
from midcall.server.channels.push import take_back
from midcall.server.channels.required import check_required, goes_by_link, leave_with_visits
from midcall.server.frameworks.errors import Ours, ending, find_ours
from midcall.server.resuming import codes
from midcall.server.running.run import OVER, ROUND, STOPPED
from midcall.server.running.turn import OwnState
from midcall.settings.calls import STATE_BYTES

AGAIN: Final[dict[str, Any]] = {}
"""Returned instead of a result if the required visits are done: run the tool again."""


def come_of(call: Call) -> CoroutineType[Any, Any, HandlerResult]:
    """What a call that has settled comes to."""
    return _finish(call) if call.run.task.done() or call.run.abandoned else _leave(call)


async def _finish(call: Call) -> HandlerResult:
    """The tool has ended. Unless it will be run again, pages that it doesn't wait for any more are closed."""
    try:
        result = await _take_result(call)
    except Exception:
        if call.pages and call.run.ending in OVER:
            await call.close_pages()
        raise
    if call.pages and call.run.ending in OVER and result is not AGAIN and not _is_round(result):
        await call.close_pages()
    return result


async def _take_result(call: Call) -> HandlerResult:
    """What the tool has ended with: a result, its own round, or an error."""
    task = call.run.task
    call.ended = True
    if call.trail is not None:
        await call.trail.end("done" if task.done() and not task.cancelled() else "back")
    if call.run.sending:
        await take_back(call)
    if call.failed is not None:
        return ending(call.failed, call)
    if task.cancelled() or not task.done():
        stopped = call.run.ending == STOPPED
        raise MCPError(INTERNAL_ERROR, "The server is stopping." if stopped else "The tool was cancelled.")
    error = task.exception()
    if error is None:
        if call.recalls and (unused := call.leftover()) is not None:
            return ending(unused, call)
        result = task.result()
        return await _wrap_round(call, result) if _is_round(result) else result
    ours = find_ours(error) if isinstance(error, Exception) else None
    if ours is None:
        raise error
    return await _end_with(call, ours)


async def _end_with(call: Call, error: Ours) -> HandlerResult:
    """End the call with an error that the tool didn't catch."""
    if isinstance(error, MidcallError):
        return ending(error, call)
    try:
        if call.modern or goes_by_link(call, error):
            requests = await leave_with_visits(call, error)
            return AGAIN if requests is None else await _round(call, requests)
        raise await check_required(call, error)
    except MidcallError as refused:
        return ending(refused, call)


async def _leave(call: Call) -> HandlerResult:
    """The tool has asked and gone quiet: the result that asks, or the one with a resume code.

    The run stays and waits, or is ended before the round leaves.
    """
    if call.recalls and (changed := call.drift()) is not None:
        await call.end("failed")
        return ending(changed, call)
    if not call.installation.visits.stopping and await call.installation.runs.can_stay(call):
        try:
            result = await _result(call, {key: each.request for key, each in call.run.open.items()})
            if call.trail is not None and not (call.suspension and call.suspension.pages):
                await call.trail.end("back", others_stay=True)
        except MCPError:  # it sends the client to a page, and may be continued
            _stay(call)
            raise
        _stay(call)
        return result
    requests = call.run.requests()
    await call.end(ROUND)
    if call.failed is not None:
        return ending(call.failed, call)
    return await _result(call, requests)


def _stay(call: Call) -> None:
    """The run waits for the next request, unless it was ended meanwhile."""
    if not call.ended:
        call.is_between_requests = True
        call.installation.runs.wait(call)


async def _result(call: Call, requests: Mapping[str, Mapping[str, Any]]) -> HandlerResult:
    try:
        return await _round(call, requests)
    except UrlElicitationRequiredError as exc:
        raise await check_required(call, exc) from None
    except MidcallError as exc:
        if not call.ended:
            call.failed = call.failed or exc  # the same retry must hear of it too
            await call.end("failed")
        return ending(exc, call)


async def _round(call: Call, requests: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    if call.suspension is not None and call.suspension.later:
        return await codes.finish_later(call, call.suspension.later)
    limit = call.installation.max_rounds
    if limit is not None and call.journal.rounds >= limit:
        return await _too_many(call, limit)
    call.journal.holds += not requests
    # go-sdk takes a round without `inputRequests` for an empty success, and mcp-go refuses a tool's without `content`.
    result: dict[str, Any] = {"requestState": await _state(call, requests), "inputRequests": requests}
    if call.method == "tools/call":
        result["content"] = []
    return call.stamp(result, "input_required")


async def _too_many(call: Call, limit: int) -> dict[str, Any]:
    """Clients give up after this many rounds: end the call with a resume code, if it can have one."""
    if call.can_give_code:
        return await codes.finish_later(call, model_text.MORE_QUESTIONS, now=True)
    raise TooManyRounds(limit)


async def _wrap_round(call: Call, result: InputRequiredResult | dict[str, Any]) -> HandlerResult:
    """Put our journal around the state of the handler's own round, if anything is recorded."""
    if not call.journal:
        return result
    if isinstance(result, InputRequiredResult):
        result = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    call.journal.foreign = Foreign(result.get("requestState"), None)
    return {**result, "requestState": await _state(call, ())}


async def _state(call: Call, asked: Iterable[str]) -> str:
    """The journal of a round that asks these, as it travels: its first line, if it's too large and the run is here."""
    journal = call.journal
    journal.asked = tuple(asked)
    journal.rounds += 1
    journal.turn += 1
    journal.owner = "" if call.installation.runs.handover is None else call.installation.runs.owner_of(call)
    journal.left = time.time() if call.installation.doubt else None
    text = encode(journal)
    call.size = len(text)
    if len(text) <= STATE_BYTES:
        return OwnState(text)
    if call.installation.keeping is not None:
        return OwnState(await call.installation.keeping.put_journal(call, text))
    if not call.ended and call.installation.runs.has_room(call):
        return OwnState(text.partition("\n")[0])
    raise JournalTooLarge(len(text), STATE_BYTES)


def _is_round(result: HandlerResult) -> TypeGuard[InputRequiredResult | dict[str, Any]]:
    """Whether the handler made its own round. Nearly every result is a dict: check that first."""
    if isinstance(result, dict):
        return result.get("resultType") == "input_required"
    return is_input_required(result)
