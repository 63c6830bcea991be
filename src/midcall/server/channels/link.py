"""Link: a client without elicitation gets a result that says what the user has to do, and at which address.

The model shows the address to the user, and resumes the call with the code when they are done.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from midcall.core.journal import Entry, asking_mark
from midcall.core.outcome import Via
from midcall.core.question import Question, Visit
from midcall.errors import NoChannel
from midcall.server import model_text
from midcall.server.channels.portal import host, page_id, settle_page, why_not_hosted
from midcall.server.channels.push import signs_of_life
from midcall.server.resuming import holding

if TYPE_CHECKING:
    from midcall.server.call import Call
    from midcall.server.channels.table import Asking


class Link:
    via: ClassVar[Via] = "link"

    def why_not(self, call: Call, question: Question[Any] | Visit) -> str | None:
        if call.installation.portal is None:
            return NoChannel.NO_PORTAL
        if call.method != "tools/call":
            return "only a tool call can resume later"
        return why_not_hosted(call, question)

    async def carry(self, call: Call, askings: Sequence[Asking]) -> list[Entry]:
        if new := [asking for asking in askings if call.replay.find_mark(_link_mark(asking)) is None]:
            pages = [await host(call, asking) for asking in new]
            for asking in new:
                call.replay.mark(_link_mark(asking), "link", True)
            await call.continue_later(model_text.open_pages([(page.message, page.address) for page in pages]))
        return [await self._entry(call, asking) for asking in askings]

    async def _entry(self, call: Call, asking: Asking) -> Entry:
        """Wait for the page. A visit counts as accepted: the call was resumed after its address was shown."""
        if isinstance(asking.question, Visit):
            return call.replay.settle(asking.identity, asking.entry, "accept", {}, self.via)
        page = await host(call, asking)
        while True:
            left = max(0.0, page.expires - time.time())
            async with signs_of_life(call):
                ending = await call.installation.visits.wait(page_id(call, asking), min(holding.HOLD_SECONDS, left))
            if ending is not None:
                return settle_page(call, asking, ending, self.via)
            if left <= holding.HOLD_SECONDS:
                raise holding.page_timed_out()
            await call.continue_later(model_text.open_pages([(page.message, page.address)]))


def _link_mark(asking: Asking) -> str:
    """The mark in the journal that the address was shown."""
    return asking_mark("link", asking.identity, asking.entry.attempt)
