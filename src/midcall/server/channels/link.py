"""Link: a client that cannot be asked at all gets a result that says what is needed, and where.

The model shows it to the user, and goes on with the code in it when they are done.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from midcall.core.journal import Entry, asking_mark
from midcall.core.outcome import Via
from midcall.core.question import Question, Visit
from midcall.errors import TimedOut
from midcall.server.channels.hosted_form import host, not_hosted, page_id, settled
from midcall.server.channels.push import signs_of_life
from midcall.server.resuming import holding
from midcall.wording import later, reaching, unanswered

if TYPE_CHECKING:
    from midcall.server.call import Call
    from midcall.server.channels.table import Asking

__all__ = ["Link"]


class Link:
    via: ClassVar[Via] = "link"

    def why_not(self, call: Call, question: Question[Any] | Visit) -> str | None:
        if call.installation.portal is None:
            return reaching.no_portal()
        if call.method != "tools/call":
            return "only the call of a tool can go on later"
        return not_hosted(call, question)

    async def carry(self, call: Call, askings: Sequence[Asking]) -> list[Entry]:
        if new := [asking for asking in askings if call.replay.noted(_shown(asking)) is None]:
            pages = [await host(call, asking) for asking in new]
            for asking in new:
                call.replay.mark(_shown(asking), "link", True)
            await call.go_on_later(later.needs_a_page([(page.message, page.address) for page in pages]))
        return [await self._entry(call, asking) for asking in askings]

    async def _entry(self, call: Call, asking: Asking) -> Entry:
        """What came of the page. Whoever went on after they were shown an address has seen it."""
        if isinstance(asking.question, Visit):
            return call.replay.settle(asking.identity, asking.entry, "accept", {}, self.via)
        page = await host(call, asking)
        while True:
            left = max(0.0, page.until - time.time())
            async with signs_of_life(call):
                ending = await call.installation.visits.wait(page_id(call, asking), min(holding.HOLD_SECONDS, left))
            if ending is not None:
                return settled(call, asking, ending, self.via)
            if left <= holding.HOLD_SECONDS:
                raise TimedOut(unanswered.visit_not_done(), for_model=unanswered.model_visit_not_done())
            await call.go_on_later(later.needs_a_page([(page.message, page.address)]))


def _shown(asking: Asking) -> str:
    """The mark in the journal that the user was shown where to go."""
    return asking_mark("link", asking.identity, asking.entry.attempt)
