"""Page: a client that can only open URLs gets a form as a page of the portal."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from midcall.core.journal import Entry, mark_name
from midcall.core.outcome import Accepted, Declined, Outcome, Via
from midcall.core.question import Question, Visit
from midcall.server.channels.portal import Hosted, host, page_id, settle_page, why_not_hosted
from midcall.server.channels.push import NO_WAY_BACK
from midcall.server.channels.required import comes_back, why_not_sent_away
from midcall.server.resuming.holding import wait_for_ending
from midcall.stores.interactions import Ending

if TYPE_CHECKING:
    from midcall.server.call import Call
    from midcall.server.channels.table import Asking


class Page:
    via: ClassVar[Via] = "page"

    def why_not(self, call: Call, question: Question[Any] | Visit) -> str | None:
        if isinstance(question, Visit):
            return "it is a visit already"
        return why_not_hosted(call, question) or self._why_not_visited(call)

    @staticmethod
    def _why_not_visited(call: Call) -> str | None:
        """Why the client can't be sent to the page; None if it can."""
        if call.modern or call.session.can_send_request:
            return call.lacks("url")
        return why_not_sent_away(call) if comes_back(call) else NO_WAY_BACK

    async def carry(self, call: Call, askings: Sequence[Asking]) -> list[Entry]:
        from midcall.server.ask import put_all  # it chooses among the channels

        pages = [await host(call, asking) for asking in askings]
        ids = [page_id(call, asking) for asking in askings]
        visits = [_visit(page, id) for page, id in zip(pages, ids, strict=True)]
        outcomes = await put_all(call, visits)
        entries = [
            settle_page(call, asking, await _ending(call, id, asking, page, outcome), self.via)
            for asking, id, page, outcome in zip(askings, ids, pages, outcomes, strict=True)
        ]
        for id in ids:  # the next run has the answers, and never comes here
            call.journal.forget(mark_name("visit", id))
        return entries


def _visit(page: Hosted, id: str) -> Visit:
    """The visit to this page. Its identity is the page's, so that it's never taken for another visit."""
    visit = Visit(page.message, page.address, id=id)
    visit.base = mark_name("visit", id)
    return visit


async def _ending(call: Call, id: str, asking: Asking, page: Hosted, agreed: Outcome[Any]) -> Ending:
    """How the page ended, or that the user did not agree to open it."""
    if isinstance(agreed, Accepted):
        return await wait_for_ending(call, id, asking.question.timeout, page.expires)
    return Ending("decline" if isinstance(agreed, Declined) else "cancel", time.time())
