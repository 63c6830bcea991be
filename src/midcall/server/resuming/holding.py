"""Holding a request while the user is on a web page.

On 2026-07-28 a request is held for a while in each round except the last. On older versions it is held as long as
common clients wait. After that, with a store, the call ends with a resume code.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from math import inf
from typing import TYPE_CHECKING

from midcall.errors import TimedOut
from midcall.server import model_text
from midcall.server.channels.push import signs_of_life
from midcall.server.resuming.visits import NotHeld
from midcall.settings import HOLD_SECONDS, PUSH_HOLD_SECONDS
from midcall.stores.interactions import Ending

if TYPE_CHECKING:
    from midcall.server.call import Call


async def wait_for_ending(call: Call, id: str, timeout: float | None, until: float = inf) -> Ending:
    """Hold the request until the visit has ended, and record how. `until` is when its page expires.

    Raises:
        TimedOut: It did not end in time.
    """
    identity = call.replay.identify_mark("visited", id)
    if (entry := call.replay.find_mark(identity)) is not None:
        return Ending(**entry.value)
    if until == inf:
        await call.installation.visits.begin(call, id)
    until = min(until, _deadline(call, id, timeout))
    while True:
        left = max(0.0, until - time.time())
        hold = min(left, HOLD_SECONDS if call.modern or call.can_continue_later else PUSH_HOLD_SECONDS)
        try:
            async with signs_of_life(call):
                ending = await call.installation.visits.wait(id, hold)
        except NotHeld:
            ending, left = None, inf
        if ending is not None:
            call.replay.mark(identity, "visited", asdict(ending))
            return ending
        if left <= hold or not await _let_go(call):
            raise page_timed_out()


def page_timed_out() -> TimedOut:
    """The error for a page that the user did not finish in time."""
    return TimedOut(
        "The visit was not completed in time.",
        for_model=f"{model_text.PAGE_NOT_FINISHED} Call the tool again when they say that they are done.",
    )


async def _let_go(call: Call) -> bool:
    """Let the request return, to continue in the next round or later. False if neither is possible."""
    last = call.installation.max_rounds
    if call.modern and call.elicitation is not None and (last is None or call.journal.rounds < last - 1):
        await call.run.pause()
        return True
    if call.can_continue_later:
        await call.continue_later(model_text.PAGE_NOT_FINISHED)
        return True
    return False


def _deadline(call: Call, id: str, timeout: float | None) -> float:
    """The visit's deadline, which is recorded when the wait begins."""
    if timeout is None:
        return inf
    identity = call.replay.identify_mark("visiting", id)
    begun = call.replay.find_mark(identity)
    if begun is None:
        call.replay.mark(identity, "visiting", deadline := time.time() + timeout)
        return deadline
    return begun.value
