"""The two halves of midcall in a server's middleware: one inside the seal of the state, one outside."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final, cast

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError
from mcp_types import INVALID_PARAMS, InputRequiredResult
from mcp_types.methods import INPUT_REQUIRED_METHODS, is_input_required
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from midcall import wording
from midcall.core.journal import Foreign, Journal, decode, encode, is_journal
from midcall.errors import JournalTooLarge, MidcallError, TooManyRounds
from midcall.server import audit
from midcall.server.call import Call, current_call, input_of
from midcall.server.required import check_required, leave_with_visits
from midcall.server.rounds import Rounds
from midcall.server.surface import ending, protocol_error, stamped

if TYPE_CHECKING:
    from midcall.server.install import Installation

__all__ = ["Advice", "Asking"]

STATE_LIMIT: Final = 64 * 1024
"""Above this a state is no longer fit to travel: servers and proxies refuse large requests."""


class Asking:
    """The inner half: gives a call its journal, and lets its rounds leave."""

    def __init__(self, installation: Installation) -> None:
        self._installation = installation

    def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> CoroutineType[Any, Any, HandlerResult]:
        # Not `async`: what it returns is awaited as it is, which saves every request a coroutine.
        if ctx.method not in INPUT_REQUIRED_METHODS or ctx.request_id is None:
            return cast("CoroutineType[Any, Any, HandlerResult]", call_next(ctx))
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return self._in_rounds(ctx, call_next)
        return self._pushed(ctx, call_next)

    async def _pushed(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        call = Call(self._installation, ctx, Journal(), None)
        token = current_call.set(call)
        try:
            return await call_next(_with(ctx, session=call.session))
        except MidcallError as exc:
            return ending(exc, call)
        except UrlElicitationRequiredError as exc:
            try:
                raise check_required(call, exc)
            except MidcallError as refused:
                return ending(refused, call)
        finally:
            call.ended = True
            current_call.reset(token)

    async def _in_rounds(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        call, ctx = self._open(ctx)
        rounds = call.rounds = Rounds(_this_task())
        token = current_call.set(call)
        try:
            result = await rounds.run(call_next(ctx))
            if rounds.leaving:
                return self._round(call, rounds.requests)
            return self._around(call, result)
        except UrlElicitationRequiredError as exc:
            try:
                return self._round(call, leave_with_visits(call, exc))
            except MidcallError as refused:
                return ending(refused, call)
        except MidcallError as exc:
            return ending(exc, call)
        finally:
            call.ended = not rounds.leaving  # what runs on after a round is stopped, not told off
            current_call.reset(token)

    def _open(self, ctx: ServerRequestContext[Any, Any]) -> tuple[Call, ServerRequestContext[Any, Any]]:
        """Read the journal out of the request; what is not ours stays in it for the handler."""
        state, responses = input_of(ctx.params)
        if not isinstance(state, str) or not is_journal(state):
            foreign = Foreign(state, responses) if state is not None or responses else None
            call = Call(self._installation, ctx, Journal(), foreign)
            if state is None and self._installation.answers_ahead:
                call.ahead = responses
            return call, _with(ctx, session=call.session)
        try:
            journal = decode(state)
            call = Call(self._installation, ctx, journal, journal.foreign)
            ours = call.replay.take_answers(responses, time.time())
        except MidcallError as exc:
            raise protocol_error(exc, None) from None
        audit.settled(len(ours), journal.rounds)
        call.foreign = _foreign(journal.foreign, responses, ours)
        call.recalls = bool(journal.entries)
        return call, _with(ctx, params=_handed_down(ctx.params or {}, call.foreign), session=call.session)

    def _round(self, call: Call, requests: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """The result that asks these."""
        call.journal.foreign = call.foreign
        result: dict[str, Any] = {"requestState": self._state(call)}
        if requests:
            result["inputRequests"] = requests
        return stamped(result, call, "input_required")

    def _around(self, call: Call, result: HandlerResult) -> HandlerResult:
        """The handler's result. If it is a round of its own, our journal goes around its state."""
        if not call.journal.entries or not is_input_required(result):
            return result
        if isinstance(result, InputRequiredResult):
            result = result.model_dump(by_alias=True, mode="json", exclude_none=True)
        call.journal.foreign = Foreign(result.get("requestState"), None)
        return {**result, "requestState": self._state(call)}

    def _state(self, call: Call) -> str:
        journal = call.journal
        journal.call = call.name
        journal.rounds += 1
        limit = self._installation.max_rounds
        if limit is not None and journal.rounds > limit:
            raise TooManyRounds(
                wording.too_many_rounds(limit),
                advice=wording.too_many_rounds_advice(),
                for_model=wording.model_too_many_rounds(),
            )
        state = encode(journal)
        if len(state) > STATE_LIMIT:
            raise JournalTooLarge(
                wording.journal_too_large(len(state), STATE_LIMIT),
                advice=wording.journal_too_large_advice(),
                for_model=wording.model_broken(),
            )
        return state


def _with(ctx: ServerRequestContext[Any, Any], **changes: Any) -> ServerRequestContext[Any, Any]:
    """`dataclasses.replace`, at a quarter of its price: every call pays it, also those that ask nothing."""
    changed = object.__new__(type(ctx))
    changed.__dict__.update(ctx.__dict__, **changes)
    return changed


def _this_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None, "a request is served in a task"
    return task


def _foreign(kept: Foreign | None, responses: Mapping[str, Any], ours: frozenset[str]) -> Foreign | None:
    """What the handler is to see as its own state and answers: those of the round that it made."""
    if kept is None:
        return None
    if kept.responses is not None:
        return kept
    return Foreign(kept.state, {key: value for key, value in responses.items() if key not in ours})


def _handed_down(params: Mapping[str, Any], foreign: Foreign | None) -> dict[str, Any]:
    handed = {name: value for name, value in params.items() if name not in ("requestState", "inputResponses")}
    if foreign is not None:
        if foreign.state is not None:
            handed["requestState"] = foreign.state
        if foreign.responses:
            handed["inputResponses"] = foreign.responses
    return handed


class Advice:
    """The outer half: the SDK refuses a state before we see it; this says what to do then."""

    def __init__(self, installation: Installation) -> None:
        self._installation = installation

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.method not in INPUT_REQUIRED_METHODS:
            return await call_next(ctx)
        if ctx.request is not None:
            self._installation.over_http()
        try:
            return await call_next(ctx)
        except MCPError as exc:
            if exc.code == INVALID_PARAMS and exc.data == {"reason": "invalid_request_state"}:
                message = wording.state_refused(self._installation.state_ttl)
                raise MCPError(code=INVALID_PARAMS, message=message, data=exc.data) from None
            raise
