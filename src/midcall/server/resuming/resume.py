"""A request that brings a resume code: it waits for the call's pages, and then takes its turn."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from midcall.core.journal import read_head
from midcall.errors import MalformedAnswer, MidcallError
from midcall.server.call import Call
from midcall.server.channels.apps.channel import is_in_sight
from midcall.server.frameworks.errors import protocol_error
from midcall.server.resuming import codes
from midcall.server.resuming.pages import Page, addresses_of, finds_out
from midcall.server.resuming.visits import NotHeld, longest_wait, signs_of_waiting
from midcall.server.running.turn import Given
from midcall.server.running.turns import Turns, decode_state

if TYPE_CHECKING:
    from midcall.server.installation import Installation


async def resume(
    installation: Installation, turns: Turns, ctx: ServerRequestContext[Any, Any], call_next: CallNext, code: str
) -> HandlerResult:
    """A code brings a call back: its live run, here or at another replica, or what was recorded of it.

    If the call waits for pages, the request waits for them too, and takes the turn only then: so the code isn't used up
    meanwhile, and what the user has answered since is passed at once.
    """
    request = Call(installation, ctx)
    try:
        taken = await codes.find(installation, ctx, code)
    except MalformedAnswer as exc:
        installation.note(ctx, "code.refused", outcome=type(exc).__name__)
        return codes.refuse_answer(request, exc)
    except MidcallError as exc:
        installation.note(ctx, "code.refused", outcome=type(exc).__name__)
        raise protocol_error(exc, None) from exc
    if taken is None:
        installation.note(ctx, "code.refused")
        return codes.refuse_code(request)
    given = Given({}, codes.answer_in(ctx))
    until, result, tried = time.time() + longest_wait(request), None, False
    pages = codes.pages_behind(installation, code, taken)
    moved = await _have_moved(installation, pages, detach=ctx.request is None)
    while True:
        if pages and not moved and (tried or not finds_out(pages)):
            call = Call(installation, ctx, decode_state(taken) if "\n" in taken else None)
            told = result is None
            if not await _await_pages(call, read_head(taken).call, code, pages, until, told=told):
                return result or codes.still_waits(call, code, pages)
        used = await codes.use(installation, ctx, code)
        if used == "refused":
            installation.note(ctx, "code.refused")
            return codes.refuse_code(request)
        installation.note(ctx, "code.used", state=taken)
        result = await turns.serve(ctx, call_next, taken, given)
        codes.conclude(installation, code)
        tried = tried or used == "first"
        found = await codes.after(installation, ctx, result)
        if found is None or (moved and request.lacks("url")):  # else a visit has told it
            return result
        (code, taken), given, moved = found, Given({}), False
        pages = codes.pages_behind(installation, code, taken)


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
