"""What midcall adds to a server's middleware, inside the seal of the state."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextvars import Token
from dataclasses import fields, replace
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final, TypeGuard, cast

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.session import ServerSession
from mcp_types import InputRequiredResult
from mcp_types.methods import INPUT_REQUIRED_METHODS, is_input_required
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from midcall.core.journal import Foreign, Journal, decode, encode, is_journal
from midcall.errors import InvalidJournal, JournalTooLarge, MalformedAnswer, MidcallError, TooManyRounds
from midcall.server import audit, later
from midcall.server.apps import serving as apps
from midcall.server.apps.listing import ABOUT
from midcall.server.call import Call, current_call, input_of
from midcall.server.keeping import is_kept
from midcall.server.required import check_required, leave_with_visits
from midcall.server.rounds import Rounds
from midcall.server.sending import take_back
from midcall.server.surface import Ours, ending, find_ours, protocol_error, stamped
from midcall.wording import journal as wording
from midcall.wording import limits, mistakes

if TYPE_CHECKING:
    from midcall.server.installation import Installation

__all__ = ["Calls"]

STATE_LIMIT: Final = 64 * 1024
"""Above this a state is no longer fit to travel: servers and proxies refuse large requests."""


class Calls:
    """Gives a call its journal, and lets its rounds leave."""

    def __init__(self, installation: Installation) -> None:
        self._installation = installation

    def serve(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> CoroutineType[Any, Any, HandlerResult]:
        """The middleware."""
        # Not `async`: what it returns is awaited as it is, which saves every request a coroutine.
        if ctx.method not in INPUT_REQUIRED_METHODS or ctx.request_id is None:
            if ctx.method in ABOUT and self._installation.keeping is not None:
                return apps.listed(self._installation, ctx, self._listing(call_next))
            return cast("CoroutineType[Any, Any, HandlerResult]", call_next(ctx))
        if ctx.request is not None:
            self._installation.look_at_keys(ctx)
        if self._installation.keeping is not None:
            return self._with_store(ctx, call_next)
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return self._in_rounds(ctx, call_next)
        return self._pushed(ctx, call_next, None)

    def _listing(self, call_next: CallNext) -> CallNext:
        async def listing(ctx: ServerRequestContext[Any, Any]) -> HandlerResult:
            result = await call_next(ctx)
            return later.listed(result, relay=self._installation.relay) if ctx.method == "tools/list" else result

        return listing

    async def _with_store(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """First fetch what is kept in the store: the journal that the state or the code names."""
        if (ours := await apps.served(self._installation, ctx, call_next)) is not None:
            return ours
        state, _ = input_of(ctx.params)
        kept: Journal | None = None
        try:
            if isinstance(state, str) and is_kept(state):
                kept = await self._kept(state)
            elif state is None and (code := later.code_in(ctx)) is not None:
                kept = await later.taken(self._installation, ctx, code)
                if kept is None:
                    return later.nothing_under(Call(self._installation, ctx))
        except MalformedAnswer as exc:
            return later.not_understood(Call(self._installation, ctx), exc)
        except MidcallError as exc:
            raise protocol_error(exc, None) from exc
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return await self._in_rounds(ctx, call_next, kept)
        return await self._pushed(ctx, call_next, kept)

    async def _kept(self, state: str) -> Journal:
        assert self._installation.keeping is not None
        text = await self._installation.keeping.journal(self._installation, state)
        if text is None:
            raise InvalidJournal(wording.damaged_journal())
        return decode(text)

    async def _pushed(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext, journal: Journal | None
    ) -> HandlerResult:
        call = Call(self._installation, ctx, journal)
        ctx = _with(ctx, call.asking_session())
        if journal is not None and journal.target is not None:
            ctx.params = _handed_down(ctx.params or {}, journal)
        running = call_next(ctx)
        if self._installation.keeping is not None:  # then it may be unwound, to go on later
            call.unwinding = Rounds(call.task)
            running = call.unwinding.run(running)
        token = current_call.set(call)
        if (around := token.old_value) is not Token.MISSING:
            call.around = around
        try:
            result = await running
            return await later.unfinished(call, call.later) if call.later else result
        except Exception as exc:
            if (ours := find_ours(exc)) is None:
                raise
            return await self._uncaught(call, ours)
        finally:
            call.ended = True
            current_call.reset(token)
            if call.sending:
                await take_back(call)

    async def _in_rounds(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext, kept: Journal | None = None
    ) -> HandlerResult:
        # A call that never asks runs through here and `Rounds.run`: no more of it than is needed.
        params = ctx.params
        if kept is not None or (params is not None and ("requestState" in params or "inputResponses" in params)):
            call, ctx = self._open(ctx, kept)
        else:
            call = Call(self._installation, ctx)
            ctx = _with(ctx, call.asking_session())
        rounds = call.rounds = call.unwinding = Rounds(call.task)
        token = current_call.set(call)
        try:
            result = await rounds.run(call_next(ctx))
            if rounds.leaving:
                return await self._leave(call, rounds.requests)
            return await self._around(call, result) if _is_round(result) else result
        except Exception as exc:
            if (ours := find_ours(exc)) is None:
                raise
            return await self._uncaught(call, ours)
        finally:
            call.ended = not rounds.leaving  # what runs on after a round is stopped, not told off
            current_call.reset(token)

    async def _uncaught(self, call: Call, error: Ours) -> HandlerResult:
        """How an error that the tool let pass ends the call."""
        if isinstance(error, MidcallError):
            return ending(error, call)
        try:
            if call.rounds is not None:
                return await self._leave(call, await leave_with_visits(call, error))
            raise await check_required(call, error)
        except MidcallError as refused:
            return ending(refused, call)

    def _open(
        self, ctx: ServerRequestContext[Any, Any], kept: Journal | None
    ) -> tuple[Call, ServerRequestContext[Any, Any]]:
        """Read the journal out of the request; what is not ours stays in it for the handler."""
        state, responses = input_of(ctx.params)
        if kept is None and (not isinstance(state, str) or not is_journal(state)):
            call = Call(self._installation, ctx)
            call.foreign = Foreign(state, responses) if state is not None or responses else None
            if state is None and self._installation.answers_ahead:
                call.ahead = responses
            return call, _with(ctx, call.asking_session())
        try:
            journal = decode(cast("str", state)) if kept is None else kept
            call = Call(self._installation, ctx, journal)
            ours = call.replay.take_answers(responses, time.time(), self._installation.doubt)
        except MidcallError as exc:
            raise protocol_error(exc, None) from None
        audit.settled(len(ours), journal.rounds)
        call.foreign = journal.foreign = _foreign(journal.foreign, responses, ours)
        call.recalls = bool(journal)
        ctx = _with(ctx, call.asking_session())
        ctx.params = _handed_down(ctx.params or {}, journal)
        return call, ctx

    async def _leave(self, call: Call, requests: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """The result that asks these, or the one that goes on later."""
        if call.later:
            return await later.unfinished(call, call.later)
        call.journal.foreign = call.foreign
        try:
            state = self._state(call)
        except TooManyRounds:
            if not call.can_go_on_later:
                raise
            return await later.unfinished(call, limits.waits_for_more_rounds(), now=True)
        result: dict[str, Any] = {"requestState": await self._fit(call, state) if len(state) > STATE_LIMIT else state}
        if requests:
            result["inputRequests"] = requests
        return stamped(result, call, "input_required")

    async def _around(self, call: Call, result: InputRequiredResult | dict[str, Any]) -> HandlerResult:
        """A round of the handler's own: our journal goes around its state.

        Also where nothing was asked yet: all rounds of a call count, and only the state can count them.
        """
        if isinstance(result, InputRequiredResult):
            result = result.model_dump(by_alias=True, mode="json", exclude_none=True)
        call.journal.foreign = Foreign(result.get("requestState"), None)
        if call.journal:
            return {**result, "requestState": await self._fit(call, self._state(call))}
        call.journal.rounds += 1
        state = encode(call.journal)
        if len(state) > STATE_LIMIT and not _reads_as_ours(result.get("requestState")):
            return result
        return {**result, "requestState": await self._fit(call, state)}

    def _state(self, call: Call) -> str:
        """The journal as it travels."""
        journal = call.journal
        journal.call = call.name
        journal.rounds += 1
        journal.left = time.time() if self._installation.doubt else None
        limit = self._installation.max_rounds
        if limit is not None and journal.rounds > limit:
            raise TooManyRounds(
                limits.too_many_rounds(limit),
                advice=limits.too_many_rounds_advice(),
                for_model=limits.model_too_many_rounds(),
            )
        return encode(journal)

    async def _fit(self, call: Call, state: str) -> str:
        """This state, or what stands for it where it is too large to travel."""
        if len(state) <= STATE_LIMIT:
            return state
        if self._installation.keeping is not None:
            return await self._installation.keeping.put_journal(call, state)
        raise JournalTooLarge(
            limits.journal_too_large(len(state), STATE_LIMIT),
            advice=limits.journal_too_large_advice(),
            for_model=mistakes.model_broken(),
        )


def _with(ctx: ServerRequestContext[Any, Any], session: ServerSession) -> ServerRequestContext[Any, Any]:
    """`dataclasses.replace`, at a quarter of its price: every call pays it, also those that ask nothing."""
    if type(ctx) is not ServerRequestContext or not _ALL_FIELDS:
        return replace(ctx, session=session)
    changed = object.__new__(type(ctx))
    changed.session = session
    changed.lifespan_context = ctx.lifespan_context
    changed.protocol_version = ctx.protocol_version
    changed.method = ctx.method
    changed.params = ctx.params
    changed.request_id = ctx.request_id
    changed.meta = ctx.meta
    changed.request = ctx.request
    changed.close_sse_stream = ctx.close_sse_stream
    changed.close_standalone_sse_stream = ctx.close_standalone_sse_stream
    return changed


_ALL_FIELDS: Final = len(fields(ServerRequestContext)) == 10
"""Whether these are all that a context has: one of a later SDK may have more, and then nothing is left behind."""


def _is_round(result: HandlerResult) -> TypeGuard[InputRequiredResult | dict[str, Any]]:
    """Whether the handler made a round of its own. Nearly every result is a dict: that is looked at first."""
    if isinstance(result, dict):
        return result.get("resultType") == "input_required"
    return is_input_required(result)


def _reads_as_ours(state: object) -> bool:
    """Whether a state that somebody else made would be taken for a journal when it comes back."""
    return isinstance(state, str) and (is_journal(state) or is_kept(state))


def _foreign(kept: Foreign | None, responses: Mapping[str, Any], ours: frozenset[str]) -> Foreign | None:
    """What the handler is to see as its own state and answers: those of the round that it made."""
    if kept is None:
        return None
    if kept.responses is not None:
        return kept
    return Foreign(kept.state, {key: value for key, value in responses.items() if key not in ours})


def _handed_down(params: Mapping[str, Any], journal: Journal) -> dict[str, Any]:
    """What the handler is to see: its own state and answers, and the call that a code stands for."""
    handed = {name: value for name, value in params.items() if name not in ("requestState", "inputResponses")}
    if journal.target is not None:
        handed |= journal.target._asdict()
    if (foreign := journal.foreign) is not None:
        if foreign.state is not None:
            handed["requestState"] = foreign.state
        if foreign.responses:
            handed["inputResponses"] = foreign.responses
    return handed
