"""Waiting for a person who is away on a page.

On 2026-07-28 a call is held for a while in each round, and never in the last; pushed, it is held as
long as common clients wait. Then, with a store, it ends with a code to go on with.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from math import inf
from typing import TYPE_CHECKING, Final

from midcall.errors import TimedOut
from midcall.server.channels.push import signs_of_life
from midcall.server.resuming.visits import NotHeld
from midcall.stores.interactions import Ending
from midcall.wording import later, unanswered

if TYPE_CHECKING:
    from midcall.server.call import Call

__all__ = ["HOLD_SECONDS", "wait_for_ending"]

HOLD_SECONDS: Final = 45.0
"""How long a request is held: below the time that common clients and proxies give it."""

_PUSH_SECONDS: Final = 300.0
"""How long a pushed call is held where it could not go on later."""


async def wait_for_ending(call: Call, id: str, timeout: float | None, until: float = inf) -> Ending:
    """Hold the call until the visit has ended, and remember how. `until` is when its page can no longer be answered.

    Raises:
        TimedOut: It did not end in time.
    """
    identity = call.replay.identify_mark("visited", id)
    if (entry := call.replay.noted(identity)) is not None:
        return Ending(**entry.value)
    if until == inf:
        await call.installation.visits.begin(call, id)
    until = min(until, _deadline(call, id, timeout))
    while True:
        left = max(0.0, until - time.time())
        hold = min(left, HOLD_SECONDS if call.modern or call.can_go_on_later else _PUSH_SECONDS)
        try:
            async with signs_of_life(call):
                ending = await call.installation.visits.wait(id, hold)
        except NotHeld:
            ending, left = None, inf
        if ending is not None:
            call.replay.mark(identity, "visited", asdict(ending))
            return ending
        if left <= hold or not await _let_go(call):
            raise TimedOut(unanswered.visit_not_done(), for_model=unanswered.model_visit_not_done())


async def _let_go(call: Call) -> bool:
    """Come back in the next round, if there is one to spare, or later. False if neither is possible."""
    last = call.installation.max_rounds
    if call.modern and call.elicitation is not None and (last is None or call.journal.rounds < last - 1):
        await call.run.pause()
        return True
    if call.can_go_on_later:
        await call.go_on_later(later.waits_for_a_page())
        return True
    return False


def _deadline(call: Call, id: str, timeout: float | None) -> float:
    """The visit's deadline, which is written down when the waiting begins."""
    if timeout is None:
        return inf
    identity = call.replay.identify_mark("visiting", id)
    begun = call.replay.noted(identity)
    if begun is None:
        call.replay.mark(identity, "visiting", deadline := time.time() + timeout)
        return deadline
    return begun.value
