"""A request that brings a resume code: it waits for the call's pages, and then takes its turn."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from midcall.core.journal import decode, read_head
from midcall.core.replay import parse_answer
from midcall.errors import MalformedAnswer, MidcallError
from midcall.protocol import CODE
from midcall.server.call import Call
from midcall.server.channels.apps.channel import is_in_sight
from midcall.server.frameworks.errors import protocol_error
from midcall.server.resuming import codes
from midcall.server.resuming.pages import Page, addresses_of, finds_out, pages_of
from midcall.server.resuming.visits import NotHeld, longest_wait, signs_of_waiting
from midcall.server.running.driver import Driver, decode_state
from midcall.server.running.turn import Given

if TYPE_CHECKING:
    from midcall.server.installation import Installation


async def resume(
    installation: Installation, driver: Driver, ctx: ServerRequestContext[Any, Any], call_next: CallNext, code: str
) -> HandlerResult:
    """A code brings a call back: its live run, here or at another replica, or what was recorded of it.

    If the call waits for pages, the request waits for them too, and takes the turn only then: so the code isn't used up
    meanwhile, and what the user has answered since is passed at once.
    """
    request, answer = Call(installation, ctx), codes.answer_in(ctx)
    try:
        if answer is not None:
            parse_answer(answer)
        taken = await _find(installation, ctx, code)
        if taken is not None and installation.keeping is not None and not codes.fits_request(decode(taken), ctx):
            taken = None
    except MalformedAnswer as exc:
        installation.note(ctx, "code.refused", outcome=type(exc).__name__)
        return codes.refuse_answer(request, exc)
    except MidcallError as exc:
        installation.note(ctx, "code.refused", outcome=type(exc).__name__)
        raise protocol_error(exc, None) from exc
    if taken is None:
        installation.note(ctx, "code.refused")
        return codes.refuse_code(request)
    given = Given({}, answer)
    until, result, tried = time.time() + longest_wait(request), None, False
    pages = _find_pages(installation, code, taken)
    moved = await _have_moved(installation, pages, detach=ctx.request is None)
    while True:
        if pages and not moved and (tried or not finds_out(pages)):
            call = Call(installation, ctx, decode_state(taken) if "\n" in taken else None)
            told = result is None
            if not await _await_pages(call, read_head(taken).call, code, pages, until, told=told):
                return result or codes.still_waits(call, code, pages)
        used = await _use(installation, ctx, code)
        if used == "refused":
            installation.note(ctx, "code.refused")
            return codes.refuse_code(request)
        installation.note(ctx, "code.used", state=taken)
        result = await driver.serve(ctx, call_next, taken, given)
        if installation.keeping is None:
            installation.runs.states.conclude(code)
        tried = tried or used == "first"
        found = await _find_next(installation, ctx, result)
        if found is None or (moved and request.lacks("url")):  # else a visit has told it
            return result
        (code, taken, pages), given, moved = found, Given({}), False


async def _find(installation: Installation, ctx: ServerRequestContext[Any, Any], code: str) -> str | None:
    """The state of the call behind this code, for its holder."""
    keeping, holder = installation.keeping, installation.holder(ctx)
    if keeping is None:
        return installation.runs.states.behind(code, holder)
    return await keeping.behind_code(code, holder)


def _find_pages(installation: Installation, code: str, state: str) -> list[Page]:
    """What the call of this code waits for. Without a store, the state may be too short to say."""
    return pages_of(decode(state)) if "\n" in state else installation.runs.states.pages(code)


async def _find_next(
    installation: Installation, ctx: ServerRequestContext[Any, Any], result: HandlerResult
) -> tuple[str, str, list[Page]] | None:
    """The next code, its state and its pages, if the call has continued and waits for pages again."""
    meta = result.get("_meta") if isinstance(result, dict) else None
    code = cast("Mapping[str, Any]", meta).get(CODE) if isinstance(meta, Mapping) else None
    if not isinstance(code, str):
        return None
    try:
        state = await _find(installation, ctx, code)
    except MidcallError:
        return None
    if state is None or not (pages := _find_pages(installation, code, state)):
        return None
    return code, state, pages


async def _use(
    installation: Installation, ctx: ServerRequestContext[Any, Any], code: str
) -> Literal["first", "again", "refused"]:
    """Note that the call continues with this code.

    `midcall_continue` may come again: it joins the turn, and gets what that came to. A retry works once.
    """
    if installation.keeping is None:
        return "first" if code in installation.runs.states else "again"
    if await installation.keeping.use_code(code, installation.holder(ctx)):
        return "first"
    return "again" if codes.retry_code(ctx) is None else "refused"


async def _await_pages(call: Call, name: str, code: str, pages: Sequence[Page], until: float, *, told: bool) -> bool:
    """Hold this request until the user is done on one of these pages. False if the time is up.

    The model has been `told` of them, or the next result tells it: then they may not be in sight yet.
    """
    installation = call.installation
    address = next(iter(addresses_of(pages)), "")
    try:
        with installation.runs.instead_of(name, code):
            async with signs_of_waiting(call, address):
                if not await is_in_sight(call, pages, until, told=told):
                    return False
                return await installation.visits.wait_for_one(pages, until - time.time())
    except NotHeld:
        return False
    except MidcallError as exc:
        raise protocol_error(exc, None) from exc


async def _have_moved(installation: Installation, pages: Sequence[Page], *, detach: bool) -> bool:
    """Whether one of these pages has another address now: then the call continues, and returns the new address.

    They are served again, if nobody serves them.
    """
    portal = installation.portal
    try:
        for page in pages:
            if page.is_ours and portal is not None:
                address = await portal.serve_again(page.id, page.until, detach=detach)
                if address not in ("", page.address):
                    return True
    except MidcallError as exc:
        raise protocol_error(exc, None) from exc
    return False
