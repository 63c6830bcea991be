"""Drives calls: a request begins its call, continues it, joins another request that does, or is refused."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from types import CoroutineType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import handler_exception_to_error_data
from mcp_types import INTERNAL_ERROR, ErrorData
from opentelemetry import trace

from midcall.core.journal import Foreign, Head, Journal, decode, read_head
from midcall.core.replay import Replay
from midcall.errors import InvalidJournal, MalformedAnswer, MidcallError, StoreError
from midcall.server.call import Call
from midcall.server.channels import telemetry
from midcall.server.frameworks.context import hand_down
from midcall.server.frameworks.errors import protocol_error
from midcall.server.resuming import codes
from midcall.server.resuming.codes import forget_request
from midcall.server.resuming.storage import Keeping, is_kept
from midcall.server.running.handover import Claim, Handover
from midcall.server.running.replies import AGAIN, come_of
from midcall.server.running.turn import (
    REFUSALS,
    Given,
    Outcome,
    Turn,
    cancel,
    cancel_unless_joined,
    cancellation,
    publish,
)
from midcall.server.running.waiting import caller_of
from midcall.settings.calls import BRANCH_POLL_SECONDS, BRANCH_POLLS
from midcall.settings.live_runs import GRACE_SECONDS
from midcall.stores.quotas import caller

if TYPE_CHECKING:
    from midcall.server.installation import Installation

logger = logging.getLogger("midcall")


class _Request(NamedTuple):
    """A request that continues a call."""

    ctx: ServerRequestContext[Any, Any]
    call_next: CallNext
    state: str
    head: Head
    given: Given


class Driver:
    """Begins and continues calls, and settles their turns."""

    def __init__(self, installation: Installation) -> None:
        self._installation = installation
        self._runs = installation.runs
        self._runs.drive = self.drive
        self._runs.resume = self.resume

    def serve(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext, state: str, given: Given
    ) -> CoroutineType[Any, Any, HandlerResult]:
        """Continue the call. If there is an audit trail, a refusal goes there."""
        continuing = self._continue(ctx, call_next, state, given)
        return continuing if self._installation.audit is None else self._note_refusal(ctx, state, continuing)

    async def _note_refusal(
        self, ctx: ServerRequestContext[Any, Any], state: str, continuing: CoroutineType[Any, Any, HandlerResult]
    ) -> HandlerResult:
        try:
            return await continuing
        except MCPError as exc:
            why = REFUSALS.get(exc.message)
            if why is None and isinstance(exc.__context__, (InvalidJournal, MalformedAnswer, StoreError)):
                why = type(exc.__context__).__name__
            if why is not None:
                if self._installation.keeping is not None and is_kept(state):
                    with suppress(MCPError):
                        state = await self._load(self._installation.keeping, state)
                self._installation.note(ctx, "state.refused", state=state, outcome=why)
            raise

    async def _continue(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext, state: str, given: Given
    ) -> HandlerResult:
        """A client's retry. The same one twice joins the first; other answers to the same state are refused."""
        whose = self._caller(ctx)
        if self._installation.keeping is not None and is_kept(state):
            state = await self._load(self._installation.keeping, state)
        try:
            head = read_head(state)
        except InvalidJournal as exc:
            raise protocol_error(exc, None) from None
        turn = self._runs.past.join(head, given, whose)
        turn.waiting += 1
        try:
            async with turn.lock:
                if turn.outcome is not None:
                    return turn.outcome.again()
                if turn.cancelled:  # meanwhile
                    raise MCPError.from_error_data(cancellation())
                return await self._take_turn(_Request(ctx, call_next, state, head, given), turn)
        finally:
            turn.waiting -= 1

    def _caller(self, ctx: ServerRequestContext[Any, Any]) -> str:
        """Who makes this request; empty if there is only one caller."""
        installation = self._installation
        return "" if ctx.request is None and installation.principal is None else installation.caller(ctx)

    async def _take_turn(self, request: _Request, turn: Turn) -> HandlerResult:
        """Continue the call, here or where its run is, until the turn has an outcome."""
        result: HandlerResult = None
        while turn.outcome is None:
            if turn.joined is None:
                turn.joined = await self._claim(request, turn)
            elif turn.deciding is None:  # the request that continued it is gone, and the run is still here
                turn.joined.follow(request.ctx)
            result = await self._attend(turn)
        return turn.outcome.again() if result is None else result

    async def _claim(self, request: _Request, turn: Turn) -> Call | None:
        """The call, which is this process's to continue. None if it was continued elsewhere: then the turn is settled.

        Raises:
            MCPError: It can't be continued. That doesn't use up the turn.
        """
        head, handover = request.head, self._runs.handover
        try:
            if handover is None:
                return self._resume_live(request) or await self._replay(request)
            self._check(request)
            claim = await handover.claim(head, request.given, here=self._runs.at(head) is not None)
            if isinstance(claim, Outcome):
                self._runs.past.settle(turn, claim)
                return None
            return await self._run_claimed(request, handover, claim)
        except MidcallError as exc:
            self._runs.past.forget(head)
            raise protocol_error(exc, None) from None
        except MCPError:
            self._runs.past.forget(head)
            raise
        except asyncio.CancelledError:
            if turn.waiting == 1:
                self._runs.past.forget(head)
            raise

    def _check(self, request: _Request) -> None:
        """Refuse an unreadable answer before it claims the turn."""
        Replay(decode_state(request.state)).take_answers(request.given.responses, time.time())

    async def _run_claimed(self, request: _Request, handover: Handover, claim: Claim) -> Call:
        """The call of a turn that this process has claimed, which runs."""
        try:
            call = (None if claim.replays else self._resume_live(request)) or await self._replay(request)
        except BaseException:
            keep = not claim.replays and self._runs.at(request.head) is not None
            self._runs.aside(handover.give_back(claim, keep=keep))
            raise
        call.claim = claim
        return call

    def _resume_live(self, request: _Request) -> Call | None:
        """The run is here: its questions take their answers, and it continues."""
        call = self._runs.at(request.head)
        if call is None:
            return None
        ours = self._answer(call, request.given)
        self._runs.take(call)
        call.follow(request.ctx)
        call.run.resume(ours)
        return call

    def _answer(self, call: Call, given: Given) -> tuple[str, ...]:
        """Give the open questions of this call their answers."""
        if given.relayed is not None:
            codes.take_answer(call, given.relayed)
        ours = call.replay.take_answers(given.responses, time.time(), self._installation.doubt)
        if trace.get_current_span().is_recording():
            telemetry.record_answers(len(ours), call.journal.rounds)
        return ours

    async def _replay(self, request: _Request) -> Call:
        """The run isn't here any more: run the tool again from what was recorded."""
        self._runs.drop(request.head.call)
        await self._runs.until_ended(request.head.call)
        journal = decode_state(request.state)
        forget_request(journal)
        call = Call(self._installation, request.ctx, journal)
        ours = self._answer(call, request.given)
        journal.foreign = _foreign(journal.foreign, request.given.responses, ours)
        self._runs.tell_replay(call.called, request.head.call)
        call.audit("call.replayed")
        call.start(hand_down(request.ctx, journal), request.call_next)
        return call

    async def _load(self, keeping: Keeping, state: str) -> str:
        """The journal that this state names in the store."""
        try:
            text = await keeping.journal(state)
            if text is None:
                raise InvalidJournal
            return text
        except MidcallError as exc:
            raise protocol_error(exc, None) from exc

    # --- a request waits for its run ----------------------------------------------------------

    async def _attend(self, turn: Turn) -> HandlerResult:
        """Wait until the call of this turn has come to something, settle the turn, and return the result.

        If another replica has taken it over, the turn has no outcome then, and no call.
        """
        result: HandlerResult = None
        while (call := turn.joined) is not None:
            try:
                if turn.deciding is None:
                    await _settle(call)
                    if self._installation.keeping is None and not call.run.sending:
                        result = await self._decide_here(call, turn)
                        continue
                    deciding = self._runs.begin(self._decide_apart(call, turn))
                    turn.deciding = None if deciding.done() else deciding
                else:
                    deciding = turn.deciding
                if not deciding.done():
                    await asyncio.wait((deciding,))
            except asyncio.CancelledError:
                await self._lose(turn.joined or call, turn)
                raise
            result = deciding.result()
        return result

    async def _decide_here(self, call: Call, turn: Turn) -> HandlerResult:
        """Decide in the request's own task, which takes less time than in another, and waits for no store."""
        if self._runs.live and not call.recalls:  # nothing to wait for
            return await self._decide(call, turn)
        with anyio.CancelScope(shield=True):
            return await self._decide(call, turn)

    async def _decide_apart(self, call: Call, turn: Turn) -> HandlerResult:
        """Decide in another task: the request may break off meanwhile, and nothing may be decided twice."""
        while not call.run.is_settled:  # it was when this task was made, some turns of the loop ago
            await _settle(call)
        return await self._decide(call, turn)

    async def _decide(self, call: Call, turn: Turn) -> HandlerResult:
        """Decide what the call, which has settled, comes to, and settle the turn. None if that isn't its result.

        Nothing may cancel this.
        """
        try:
            result = await come_of(call)
        except Exception as exc:
            outcome = Outcome(error=cancellation() if turn.cancelled else _error_data(exc))
            await self._abort(call)
            await publish(self._runs, call, outcome, turn)
            if turn.outcome is outcome:
                raise
        else:
            if turn.cancelled:
                await publish(self._runs, call, Outcome(error=cancellation()), turn)
            elif result is AGAIN:
                turn.joined = call.again()
            else:
                await publish(self._runs, call, Outcome(result), turn)
                return None if turn.outcome is None else result
        finally:
            turn.deciding = None
        return None

    async def _abort(self, call: Call) -> None:
        """Its request gets an error, so nobody will continue it: its run doesn't stay behind."""
        if not call.run.done and not self._runs.has(call):
            await call.end("failed")

    async def begin(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext, foreign: Foreign) -> HandlerResult:
        """A call begins: run the tool, until it has ended or its first round can leave."""
        call = Call(self._installation, ctx)
        if foreign.state is not None or foreign.responses:
            call.journal.foreign = foreign
        if foreign.state is None and self._installation.answers_ahead:
            call.ahead = foreign.responses
        call.start(ctx, call_next)
        return (await self._come_to(call))[1]

    async def _come_to(self, call: Call) -> tuple[Call, HandlerResult]:
        """What the call comes to: its result, or its next round. It may be run again meanwhile."""
        try:
            while True:
                await _settle(call)
                result = await come_of(call)
                if result is not AGAIN:
                    return call, result
                call = call.again()
        except asyncio.CancelledError:
            await self._lose(call, None)
            raise
        except Exception:
            await self._abort(call)
            raise

    async def drive(self, call: Call, claim: Claim) -> None:
        """Continue a run for a request that another replica got."""
        call.claim = claim
        call.is_unattended = call.suspension is not None and call.suspension.later is not None
        call.forget_round()
        try:
            call.run.resume(self._answer(call, claim.given))
            call, result = await self._come_to(call)
            outcome = Outcome(result)
        except MidcallError as exc:
            await self._abort(call)
            outcome = Outcome(error=protocol_error(exc, None).error)
        except Exception as exc:
            await self._abort(call)
            outcome = Outcome(error=_error_data(exc))
        try:
            await publish(self._runs, call, outcome)
        except MCPError as exc:
            logger.warning("Could not write what a call came to: %s", exc)

    async def resume(self, call: Call) -> None:
        """Continue a run without a request: the user is done on a page that it waits for.

        It takes the turn as a request with the code would: a request that brings the code gets its outcome.
        """
        caller.set(lambda: call.caller)  # nobody is signed in here
        head, given = Head(call.name, call.journal.turn, call.journal.owner), Given({})
        try:
            turn = self._runs.past.join(head, given, caller_of(call))
        except MCPError:  # the client has cancelled it
            return
        turn.waiting += 1
        try:
            async with turn.lock:
                if turn.outcome is None and turn.joined is None and self._runs.at(head) is call:
                    await self._resume_alone(call, turn, head, given)
        except Exception as exc:
            if not isinstance(exc, MCPError):
                logger.warning("A call could not continue after its page: %s", type(exc).__name__, exc_info=exc)
        finally:
            turn.waiting -= 1

    async def _resume_alone(self, call: Call, turn: Turn, head: Head, given: Given) -> None:
        handover = self._runs.handover
        claim = None if handover is None else await handover.claim(head, given, here=True)
        if isinstance(claim, Outcome):
            self._runs.past.settle(turn, claim)
            return
        if claim is not None and (claim.replays or self._runs.at(head) is not call):
            await self._runs.until_ended(call.name)
            await cast("Handover", handover).give_back(claim)
            return
        call.claim, turn.joined = claim, call
        self._runs.take(call)
        call.forget_round()
        call.is_unattended = True
        call.run.resume(())
        await self._attend(turn)

    async def _lose(self, call: Call, turn: Turn | None) -> None:
        """The request is gone. Over HTTP, a retry that broke off may be joined; everything else ends the run.

        With a code, a call continues without a request too: only a cancel ends it.
        """
        if call.run.done and call.claim is None and (turn is None or turn.deciding is None):
            return
        over_http = call.over_http and not call.cancel_requested
        if turn is not None and (call.run.done or turn.waiting > 1 or over_http):
            call.is_between_requests = True
            if call.claim is not None and turn.waiting == 1:
                self._runs.aside(self._attend_alone(call, turn))
            if not call.is_held_outside:
                call.run.loop.call_later(GRACE_SECONDS, cancel_unless_joined, self._runs, call, turn)
            return
        with anyio.CancelScope(shield=True):
            await cancel(self._runs, call, turn)

    async def _attend_alone(self, call: Call, turn: Turn) -> None:
        """Keep going without a request: a retry may reach another replica, which needs the outcome."""
        async with turn.lock:
            if turn.joined is call:
                with suppress(Exception):  # it is the outcome of the turn
                    await self._attend(turn)


async def _settle(call: Call) -> None:
    """Wait until the tool has ended, or has asked and gone quiet."""
    await call.run.settle()
    while call.recalls:
        await _catch_up(call)
        call.run.hand_back()
        if call.run.is_settled:
            return
        await call.run.settle()  # a branch has come to its answer meanwhile, withdrawn what was asked, and works on


async def _catch_up(call: Call) -> None:
    """Give branches of a replay that are still at their I/O a moment to ask again what was answered.

    Even if the tool has ended: it may not wait for its threads and tasks.
    """
    replay = call.replay
    for _ in range(BRANCH_POLLS):
        if not (replay.leftover_of_branches() if call.run.done else replay.leftover()):
            return
        await asyncio.sleep(BRANCH_POLL_SECONDS)


def decode_state(state: str) -> Journal:
    if "\n" not in state:  # only the run knows it
        raise InvalidJournal(
            "The state of this call was too large to travel, and its run is not in this process: it has ended, or "
            "another replica has it. Call the tool again to start over."
        )
    return decode(state)


def _error_data(error: Exception) -> ErrorData:
    known = handler_exception_to_error_data(error)
    return known or ErrorData(code=INTERNAL_ERROR, message="Internal server error")


def _foreign(kept: Foreign | None, responses: Mapping[str, Any], ours: Collection[str]) -> Foreign | None:
    """What the handler sees as its own state and answers: those of the round that it made."""
    if kept is None:
        return None
    if kept.responses is not None:
        return kept
    return Foreign(kept.state, {key: value for key, value in responses.items() if key not in ours})
