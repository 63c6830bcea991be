"""Verbs about asking: whether it can be done, whether the run is being ended, and that a visit is done."""

from __future__ import annotations

import asyncio
from typing import Literal

from midcall.core.outcome import Via
from midcall.core.question import check_channels, check_id
from midcall.errors import InvalidQuestion, MidcallError
from midcall.server.call import current_call, running_call
from midcall.server.channels import table
from midcall.server.frameworks.errors import surface
from midcall.server.installation import Installation, installations
from midcall.server.running.run import REPLAYED


def can_ask(mode: Literal["form", "url"] | None = None, via: Via | None = None) -> tuple[Via, ...]:
    """The channels that can reach the user of this call, in order; empty if none can.

    Raises:
        NoCall: No MCP call is running here.
        InvalidQuestion: The mode or the channel is unknown.
    """
    try:
        if mode not in (None, "form", "url"):
            raise InvalidQuestion(f"There is no mode {mode!r}: can_ask() takes 'form', 'url' or none.")
        if via is not None:
            check_channels((via,))
        return table.channels(running_call("can_ask"), mode, via)
    except MidcallError as exc:
        raise surface(exc, current_call.get()) from None


def suspending() -> bool:
    """Whether this run is being ended and the tool will run again, with the answers. For `finally` blocks."""
    call = current_call.get()
    return call is not None and call.run.ending in REPLAYED


async def complete(id: str) -> bool:
    """Report that the user has finished this visit. Works anywhere in this process.

    False if that was known already. With several servers in one process, it is reported to those that know the visit,
    and to the one whose tool calls this. If none knows it, the visit may not have begun yet, and all of them are told.
    """
    check_id(id)
    outcomes = await asyncio.gather(
        *(each.complete(id) for each in await _find_installations(id)), return_exceptions=True
    )
    failures = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    if failures and len(failures) == len(outcomes):
        raise failures[0]
    return any(outcome is True for outcome in outcomes)


async def _find_installations(id: str) -> list[Installation]:
    """The installations to report this visit to. One whose store can't be reached doesn't know it."""
    everybody = list(installations)
    if len(everybody) < 2:
        return everybody
    knowing = [each for each in everybody if each.visits.remembers(id)]
    if not knowing:
        known = await asyncio.gather(*(each.visits.knows(id) for each in everybody), return_exceptions=True)
        knowing = [each for each, knows in zip(everybody, known, strict=True) if knows is True]
    call = current_call.get()
    if knowing and call is not None and call.installation not in knowing:
        knowing.append(call.installation)
    return knowing or everybody


def loop_for(id: str) -> asyncio.AbstractEventLoop | None:
    """The loop to complete this visit on: of a server that knows it, else of any running server."""
    by_knowing = sorted(installations, key=lambda each: not each.visits.remembers(id))
    return next((loop for each in by_knowing if (loop := each.visits.loop) is not None), None)
