"""Page: a client that can only send the user to URLs gets a form as a page of the portal."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from midcall.core.journal import Entry, mark_name
from midcall.core.outcome import Accepted, Declined, Outcome, Via
from midcall.core.question import Question, Visit
from midcall.server.channels.capability import lacks
from midcall.server.channels.hosted_form import Hosted, host, not_hosted, page_id, settled
from midcall.server.channels.required import not_sent_away
from midcall.server.resuming.holding import wait_for_ending
from midcall.server.resuming.retry import comes_back
from midcall.stores.interactions import Ending
from midcall.wording import reaching as wording

if TYPE_CHECKING:
    from midcall.server.call import Call
    from midcall.server.channels.table import Asking

__all__ = ["Page"]


class Page:
    via: ClassVar[Via] = "page"

    def why_not(self, call: Call, question: Question[Any] | Visit) -> str | None:
        if isinstance(question, Visit):
            return "it is a visit already"
        return not_hosted(call, question) or self._not_visited(call)

    @staticmethod
    def _not_visited(call: Call) -> str | None:
        """Why the client cannot be sent to it; None if it can."""
        if call.modern or call.session.can_send_request:
            return lacks(call, "url")
        if not comes_back(call):
            return wording.no_way_back()
        return not_sent_away(call)

    async def carry(self, call: Call, askings: Sequence[Asking]) -> list[Entry]:
        from midcall.server.ask import put_all  # which chooses among the channels

        pages = [await host(call, asking) for asking in askings]
        ids = [page_id(call, asking) for asking in askings]
        visits = [_visit(page, id) for page, id in zip(pages, ids, strict=True)]
        outcomes = await put_all(call, visits)
        entries = [
            settled(call, asking, await _ending(call, id, asking, page, outcome), self.via)
            for asking, id, page, outcome in zip(askings, ids, pages, outcomes, strict=True)
        ]
        for id in ids:  # the next run has the answers, and never comes here
            call.journal.forget(mark_name("visit", id))
        return entries


def _visit(page: Hosted, id: str) -> Visit:
    """The visit to this page, known as that and as no other: not even one that asks the same."""
    visit = Visit(page.message, page.address, id=id)
    visit.base = mark_name("visit", id)
    return visit


async def _ending(call: Call, id: str, asking: Asking, page: Hosted, agreed: Outcome[Any]) -> Ending:
    """How it ended: on the page, or before it, where the user did not want to go there."""
    if isinstance(agreed, Accepted):
        return await wait_for_ending(call, id, asking.question.timeout, page.until)
    return Ending("decline" if isinstance(agreed, Declined) else "cancel", time.time())
