"""What stands around asking: whether it can be done, whether it ends, and that something is done."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal

from midcall.core.outcome import Via
from midcall.core.question import check_channels, check_id
from midcall.errors import InvalidQuestion, MidcallError
from midcall.server.call import current_call, running_call
from midcall.server.channels import table
from midcall.server.frameworks.errors import surfaced
from midcall.server.running.run import REPLAYED

if TYPE_CHECKING:
    from midcall.server.installation import Installation

__all__ = ["can_ask", "complete", "loop_for", "suspending"]


def can_ask(mode: Literal["form", "url"] | None = None, via: Via | None = None) -> tuple[Via, ...]:
    """The channels by which this client can be asked, in order; empty if there are none.

    Raises:
        NoCall: No MCP call is running here.
        InvalidQuestion: There is no such mode, or no such channel.
    """
    if mode not in (None, "form", "url"):
        raise surfaced(
            InvalidQuestion(f"There is no mode {mode!r}: can_ask() takes 'form', 'url' or none."), current_call.get()
        )
    try:
        if via is not None:
            check_channels((via,))
        return table.channels(running_call("can_ask"), mode, via)
    except MidcallError as exc:
        raise surfaced(exc, current_call.get()) from None


def suspending() -> bool:
    """Whether this run is being ended and the tool will run again, with the answers. For `finally` blocks."""
    call = current_call.get()
    return call is not None and call.run.ending in REPLAYED


async def complete(id: str) -> bool:
    """Say that the out-of-band part of this visit is done. Works anywhere in this process.

    False if that was known already. Where several servers are in one process, those are told that know the visit,
    and the one whose tool says so; if none knows it, it may be done before it has begun, and all are told.
    """
    check_id(id)
    outcomes = await asyncio.gather(*(each.complete(id) for each in await _told(id)), return_exceptions=True)
    failures = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    if failures and len(failures) == len(outcomes):
        raise failures[0]
    return any(outcome is True for outcome in outcomes)


async def _told(id: str) -> list[Installation]:
    """The installations that are to hear of this visit. One whose store is away does not know of it."""
    from midcall.server.installation import installations

    everybody = list(installations)
    if len(everybody) < 2:
        return everybody
    knowing = [each for each in everybody if each.visits.has_met(id)]
    if not knowing:
        known = await asyncio.gather(*(each.visits.knows(id) for each in everybody), return_exceptions=True)
        knowing = [each for each, knows in zip(everybody, known, strict=True) if knows is True]
    call = current_call.get()
    if knowing and call is not None and call.installation not in knowing:
        knowing.append(call.installation)
    return knowing or everybody


def loop_for(id: str) -> asyncio.AbstractEventLoop | None:
    """The loop to complete this visit on: where it is known, else where any server is running."""
    from midcall.server.installation import installations

    by_knowing = sorted(installations, key=lambda each: not each.visits.has_met(id))
    return next((loop for each in by_knowing if (loop := each.visits.loop) is not None), None)
