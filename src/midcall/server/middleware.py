"""What midcall adds to a server: middleware that starts a call's run, continues it, and returns what it comes to."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeGuard, cast

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError
from mcp.shared.jsonrpc_dispatcher import handler_exception_to_error_data
from mcp_types import INTERNAL_ERROR, ErrorData, InputRequiredResult
from mcp_types.methods import INPUT_REQUIRED_METHODS, is_input_required
from opentelemetry import trace

from midcall.core.journal import Foreign, Head, Journal, decode, encode, read_head
from midcall.core.replay import Replay
from midcall.errors import InvalidJournal, JournalTooLarge, MalformedAnswer, MidcallError, StoreError, TooManyRounds
from midcall.protocol import ANSWER, CONTINUE
from midcall.server import model_text
from midcall.server.call import Call, hand_down, with_params
from midcall.server.channels import telemetry
from midcall.server.channels.apps import requests as apps
from midcall.server.channels.apps.channel import is_in_sight
from midcall.server.channels.push import take_back
from midcall.server.channels.required import check_required, goes_by_link, leave_with_visits
from midcall.server.frameworks.errors import Ours, ending, find_ours, protocol_error
from midcall.server.resuming import codes
from midcall.server.resuming.codes import forget_request
from midcall.server.resuming.pages import Page, addresses_of, finds_out
from midcall.server.resuming.storage import Keeping, is_kept
from midcall.server.resuming.visits import NotHeld, longest_wait, signs_of_waiting
from midcall.server.running.handover import Claim, Handover
from midcall.server.running.run import OVER, ROUND, STOPPED
from midcall.server.running.turns import (
    REFUSALS,
    Given,
    Outcome,
    OwnRound,
    OwnState,
    Turn,
    cancel,
    cancel_unless_joined,
    cancellation,
    publish,
)
from midcall.server.running.waiting import caller_of
from midcall.settings import BRANCH_POLL_SECONDS, BRANCH_POLLS, GRACE_SECONDS, STATE_BYTES
from midcall.stores.quotas import caller

if TYPE_CHECKING:
    from midcall.server.install import Installation

logger = logging.getLogger("midcall")


class _Request(NamedTuple):
    """A request that continues a call."""

    ctx: ServerRequestContext[Any, Any]
    call_next: CallNext
    state: str
    head: Head
    given: Given


class Calls:
    """Runs calls, and lets their rounds leave."""

    def __init__(self, installation: Installation) -> None:
        self._installation = installation
        self._runs = installation.runs
        self._runs.drive = self.drive
        self._runs.resume = self.resume

    def serve(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> CoroutineType[Any, Any, HandlerResult]:
        """The middleware."""
        # Not `async`: what it returns is awaited as it is, which saves every request a coroutine.
        if ctx.method not in INPUT_REQUIRED_METHODS or ctx.request_id is None:
            if ctx.method in apps.ABOUT:
                return self._list(ctx, call_next)
            return cast("CoroutineType[Any, Any, HandlerResult]", call_next(ctx))
        if not _on_asyncio():  # a run is a task of asyncio's; elsewhere the server is as it was
            return cast("CoroutineType[Any, Any, HandlerResult]", call_next(ctx))
        if ctx.request is not None:
            self._installation.check_keys(ctx)
        params = ctx.params or {}
        if (
            self._installation.keeping is None
            and "requestState" not in params
            and params.get("name") not in (CONTINUE, ANSWER)
        ):
            return self._start(ctx, call_next)
        return self._route(ctx, call_next)

    async def _list(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """A list, with our own tools in it if a call can be resumed by one."""
        installation = self._installation

        async def listing(ctx: ServerRequestContext[Any, Any]) -> HandlerResult:
            result = await call_next(ctx)
            if ctx.method != "tools/list" or not installation.resumes:
                return result
            if codes.ends_unfinished(installation, ctx.session.client_capabilities):
                result = codes.drop_output_schemas(result)
            return codes.add_tools(result, installation)

        if installation.keeping is None:
            return await listing(ctx)
        return await apps.add_to_list(installation, ctx, listing)

    async def _route(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Route a request that brings a state or a code, or any request to a server with a store."""
        installation = self._installation
        if installation.keeping is not None:
            caller.set(partial(installation.caller, ctx))
            if (ours := await apps.serve(installation, ctx, call_next)) is not None:
                return ours
        state, responses = _input_of(ctx.params or {})
        if isinstance(state, OwnState):
            return await self._continue_or_note(ctx, call_next, state, Given(responses))
        if state is None and (code := codes.code_in(ctx)) is not None:
            return await self._resume_code(ctx, call_next, code)
        return await self._start(ctx, call_next)

    # --- a call begins ------------------------------------------------------------------------

    async def _start(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext, journal: Journal | None = None
    ) -> HandlerResult:
        call = Call(self._installation, ctx, journal)
        params = ctx.params
        if journal is not None:
            ctx = _hand_down(ctx, journal)
        elif params is not None and ("requestState" in params or "inputResponses" in params):
            state, responses = _input_of(params)
            if state is not None or responses:
                call.journal.foreign = Foreign(state, responses)
            if state is None and self._installation.answers_ahead:
                call.ahead = responses
        call.start(ctx, call_next)
        return (await self._come_to(call))[1]

    # --- and is continued ---------------------------------------------------------------------

    def _continue_or_note(
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
        if self._installation.keeping is not None and is_kept(state):
            state = await self._load(self._installation.keeping, state)
        try:
            head = read_head(state)
        except InvalidJournal as exc:
            raise protocol_error(exc, None) from None
        turn = self._runs.join(head, given, partial(self._caller, ctx))
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
                self._runs.settle(turn, claim)
                return None
            return await self._run_claimed(request, handover, claim)
        except MidcallError as exc:
            self._runs.forget(head)
            raise protocol_error(exc, None) from None
        except MCPError:
            self._runs.forget(head)
            raise
        except asyncio.CancelledError:
            if turn.waiting == 1:
                self._runs.forget(head)
            raise

    def _check(self, request: _Request) -> None:
        """Refuse an unreadable answer before it claims the turn."""
        Replay(_decode(request.state)).take_answers(request.given.responses, time.time())

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
        journal = _decode(request.state)
        forget_request(journal)
        call = Call(self._installation, request.ctx, journal)
        ours = self._answer(call, request.given)
        journal.foreign = _foreign(journal.foreign, request.given.responses, ours)
        self._runs.tell_replay(call.called, request.head.call)
        call.audit("call.replayed")
        call.start(_hand_down(request.ctx, journal), request.call_next)
        return call

    async def _load(self, keeping: Keeping, state: str) -> str:
        """The journal that this state names in the store."""
        try:
            text = await keeping.journal(self._installation, state)
            if text is None:
                raise InvalidJournal
            return text
        except MidcallError as exc:
            raise protocol_error(exc, None) from exc

    async def _resume_code(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext, code: str) -> HandlerResult:
        """A code brings a call back: its live run, here or at another replica, or what was recorded of it.

        If the call waits for pages, the request waits for them too, and takes the turn only then: so the code isn't
        used up meanwhile, and what the user has answered since is passed at once.
        """
        try:
            taken = await codes.find(self._installation, ctx, code)
        except MalformedAnswer as exc:
            self._installation.note(ctx, "code.refused", outcome=type(exc).__name__)
            return codes.refuse_answer(Call(self._installation, ctx), exc)
        except MidcallError as exc:
            self._installation.note(ctx, "code.refused", outcome=type(exc).__name__)
            raise protocol_error(exc, None) from exc
        if taken is None:
            self._installation.note(ctx, "code.refused")
            return codes.refuse_code(Call(self._installation, ctx))
        given = Given({}, codes.answer_in(ctx))
        until, result, tried = time.time() + longest_wait(ctx), None, False
        pages = codes.pages_behind(self._installation, code, taken)
        moved = await self._have_moved(pages, detach=ctx.request is None)
        while True:
            waits = pages and not moved and (tried or not finds_out(pages))
            if waits:
                call = Call(self._installation, ctx, _decode(taken) if "\n" in taken else None)
                told = result is None
                if not await self._await_pages(call, read_head(taken).call, code, pages, until, told=told):
                    return result or codes.still_waits(call, code, pages)
            used = await codes.use(self._installation, ctx, code)
            if used == "refused":
                self._installation.note(ctx, "code.refused")
                return codes.refuse_code(Call(self._installation, ctx))
            self._installation.note(ctx, "code.used", state=taken)
            result = await self._continue_or_note(ctx, call_next, taken, given)
            codes.conclude(self._installation, code)
            tried = tried or used == "first"
            found = await codes.after(self._installation, ctx, result)
            if found is None or (moved and Call(self._installation, ctx).lacks("url")):  # else a visit has told it
                return result
            (code, taken), given, moved = found, Given({}), False
            pages = codes.pages_behind(self._installation, code, taken)

    async def _await_pages(
        self, call: Call, name: str, code: str, pages: Sequence[Page], until: float, *, told: bool
    ) -> bool:
        """Hold this request until the user is done on one of these pages. False if the time is up.

        The model has been `told` of them, or the next result tells it: then they may not be in sight yet.
        """
        address = next(iter(addresses_of(pages)), "")
        try:
            with self._runs.instead_of(name, code):
                async with signs_of_waiting(call.ctx, self._installation.heartbeat, address):
                    if not await is_in_sight(call, pages, until, told=told):
                        return False
                    return await self._installation.visits.wait_for_one(pages, until - time.time())
        except NotHeld:
            return False
        except MidcallError as exc:
            raise protocol_error(exc, None) from exc

    async def _have_moved(self, pages: Sequence[Page], *, detach: bool) -> bool:
        """Whether one of these pages has another address now: then the call continues, and returns the new address.

        They are served again, if nobody serves them.
        """
        portal = self._installation.portal
        try:
            for page in pages:
                if page.is_ours and portal is not None:
                    address = await portal.serve_again(page.id, page.until, detach=detach)
                    if address not in ("", page.address):
                        return True
        except MidcallError as exc:
            raise protocol_error(exc, None) from exc
        return False

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
                    deciding = self._runs.begin(self._decide(call, turn))
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

    async def _decide(self, call: Call, turn: Turn) -> HandlerResult:
        """Decide what the call, which has settled, comes to, and settle the turn. None if that isn't its result.

        The request may break off meanwhile, and nothing may be decided twice: so nothing may cancel this.
        """
        try:
            while not call.run.is_settled:  # it was when this task was made, some turns of the loop ago
                await _settle(call)
            result = await _come_of(call)
        except Exception as exc:
            outcome = Outcome(error=cancellation() if turn.cancelled else _error_data(exc))
            await self._abort(call)
            await publish(self._runs, call, outcome, turn)
            if turn.outcome is outcome:
                raise
        else:
            if turn.cancelled:
                await publish(self._runs, call, Outcome(error=cancellation()), turn)
            elif result is _AGAIN:
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

    async def _come_to(self, call: Call) -> tuple[Call, HandlerResult]:
        """What the call comes to: its result, or its next round. It may be run again meanwhile."""
        try:
            while True:
                await _settle(call)
                result = await _come_of(call)
                if result is not _AGAIN:
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
            turn = self._runs.join(head, given, partial(caller_of, call))
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
            self._runs.settle(turn, claim)
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
            call.let_go()
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
    if call.recalls:
        await _catch_up(call)
        call.run.hand_back()


def _come_of(call: Call) -> CoroutineType[Any, Any, HandlerResult]:
    """What a call that has settled comes to."""
    return _finish(call) if call.run.task.done() or call.run.abandoned else _leave(call)


async def _catch_up(call: Call) -> None:
    """Give branches of a replay that are still at their I/O a moment to ask again what was answered.

    Even if the tool has ended: it may not wait for its threads and tasks.
    """
    replay = call.replay
    for _ in range(BRANCH_POLLS):
        if not (replay.leftover_of_branches() if call.run.done else replay.leftover()):
            return
        await asyncio.sleep(BRANCH_POLL_SECONDS)


def _input_of(params: Mapping[str, Any]) -> tuple[str | None, Mapping[str, Any]]:
    """The state and the answers that a retry brings."""
    responses = params.get("inputResponses")
    return params.get("requestState"), cast("Mapping[str, Any]", responses) if isinstance(responses, Mapping) else {}


def _on_asyncio() -> bool:
    try:
        return asyncio.current_task() is not None
    except RuntimeError:
        return False


def _decode(state: str) -> Journal:
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


def _hand_down(ctx: ServerRequestContext[Any, Any], journal: Journal) -> ServerRequestContext[Any, Any]:
    return with_params(ctx, hand_down(ctx.params or {}, journal))


# --- what a request returns ---------------------------------------------------------------------

_AGAIN: Final[dict[str, Any]] = {}
"""Returned instead of a result if the required visits are done: run the tool again."""


async def _finish(call: Call) -> HandlerResult:
    """The tool has ended. Unless it will be run again, pages that it doesn't wait for any more are closed."""
    try:
        result = await _take_result(call)
    except Exception:
        if call.pages and call.run.ending in OVER:
            await call.close_pages()
        raise
    if call.pages and call.run.ending in OVER and result is not _AGAIN and not _is_round(result):
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
            return _AGAIN if requests is None else await _round(call, requests)
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
        call.let_go()
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
    result = OwnRound(requestState=await _state(call, requests), inputRequests=requests)
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
