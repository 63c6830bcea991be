"""A form question on a page of the portal: for clients that can show no form, but can send the user somewhere."""

from __future__ import annotations

import time
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from midcall.core.adopted import AdoptedQuestion, OpaqueForm
from midcall.core.journal import Entry, asking_mark
from midcall.core.outcome import Via
from midcall.core.question import Question, Visit
from midcall.server.channels.request import asked_again, refilled, visit_id
from midcall.stores.interactions import Ending, Interaction
from midcall.wording import reaching

if TYPE_CHECKING:
    from midcall.server.call import Call
    from midcall.server.channels.table import Asking
    from midcall.server.portal import Portal

__all__ = ["Hosted", "host", "not_hosted", "page_id", "portal_of", "settled"]


def not_hosted(call: Call, question: Question[Any] | Visit) -> str | None:
    """Why this question cannot stand on a page; None if it can."""
    if call.installation.portal is None:
        return reaching.no_portal()
    if isinstance(question, Visit):
        return None
    if isinstance(question.form, OpaqueForm):  # pyright: ignore[reportUnnecessaryIsInstance]
        return "its schema is none that a page can draw"
    return call.installation.portal.why_not("form", call.owner)


def portal_of(call: Call) -> Portal:
    portal = call.installation.portal
    assert portal is not None, "the channel is chosen only where there is a portal"
    return portal


def page_id(call: Call, asking: Asking) -> str:
    """The id of the page for this asking, or of the visit that it is; it never changes for this call."""
    if isinstance(asking.question, Visit):
        return visit_id(call, asking.identity, asking.question)
    return call.derive("hosted", asking.identity, str(asking.entry.attempt))


class Hosted(NamedTuple):
    """A page that was begun."""

    message: str
    address: str
    until: float
    """When it can no longer be answered."""


async def host(call: Call, asking: Asking) -> Hosted:
    """Begin the page, if that was not done before."""
    question, id = asking.question, page_id(call, asking)
    if isinstance(question, Visit):
        return Hosted(question.message, question.address(id), inf)
    portal = portal_of(call)
    await portal.start()
    mark = asking_mark("page", asking.identity, asking.entry.attempt)
    begun = call.replay.noted(mark)
    until: float = begun.value if begun is not None else min(time.time() + portal.ttl, asking.entry.deadline or inf)
    message = asked_again(question, asking.entry)
    if begun is None:
        title, client = call.installation.server_title, call.client_name
        about = {"schema": refilled(question.form.schema(), asking.entry)}
        interaction = Interaction("form", call.owner, title, client, message, time.time(), until, about)
        await portal.interactions.begin(id, interaction)
        call.replay.mark(mark, "page", until)
    return Hosted(message, portal.address(id), until)


def settled(call: Call, asking: Asking, ending: Ending, via: Via) -> Entry:
    """Write down what came of the page."""
    content = dict(ending.content or {}) if ending.action == "accept" else None
    if content is not None and isinstance(asking.question, AdoptedQuestion):
        content = {"action": "accept", "content": content}
    return call.replay.settle(asking.identity, asking.entry, ending.action, content, via)
