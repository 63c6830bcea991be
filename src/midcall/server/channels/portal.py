"""Questions on pages of the portal: what the server needs of a portal, and the two channels that lead to its pages.

`midcall.portal.Portal` has all of it; neither imports the other.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Protocol

from midcall.core.adopted import AdoptedQuestion, OpaqueForm
from midcall.core.journal import Entry, asking_mark, mark_name
from midcall.core.outcome import Accepted, Declined, Outcome, Via
from midcall.core.question import Question, Visit
from midcall.errors import NoChannel
from midcall.server import model_text
from midcall.server.channels.push import NO_WAY_BACK, signs_of_life
from midcall.server.channels.request import Asking, message_for, refill, visit_id
from midcall.server.resuming import visits
from midcall.server.resuming.codes import comes_back, why_not_sent_away
from midcall.stores.interactions import Ending, Interaction

if TYPE_CHECKING:
    from midcall.audit import Audit
    from midcall.core.caller import Caller, ServerIdentity
    from midcall.server.call import Call
    from midcall.stores.base import Store
    from midcall.stores.interactions import Interactions, Kind
    from midcall.web.secret_checks import Check


class Vault(Protocol):
    """Secrets, per owner and name."""

    async def get(self, owner: str, name: str) -> dict[str, str] | None: ...


class Entered(Protocol):
    """What a user entered on a page, until it is in the vault."""

    async def read(self, id: str, owner: str) -> dict[str, str] | None: ...
    async def keep(self, id: str, owner: str, name: str, *, now: float) -> None: ...
    async def drop(self, id: str) -> None: ...


class Accounts(Protocol):
    """Connected accounts at other services."""

    async def token(self, provider_name: str, owner: str) -> str | None: ...


class Provider(Protocol):
    """A service that has accounts to connect."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def scopes(self) -> Sequence[str]: ...


class Portal(Protocol):
    """The web pages that users are sent to."""

    @property
    def url(self) -> str: ...
    @property
    def ttl(self) -> float: ...

    audit: Audit | None

    @property
    def local(self) -> bool: ...
    @property
    def interactions(self) -> Interactions: ...
    @property
    def vault(self) -> Vault: ...
    @property
    def entered(self) -> Entered: ...
    @property
    def oauth(self) -> Accounts: ...
    @property
    def providers(self) -> Sequence[Provider]: ...

    def bind(
        self, *, store: Store, identity: ServerIdentity, server_name: str, keys: Sequence[str | bytes]
    ) -> None: ...
    async def start(self) -> None: ...
    async def close(self) -> None: ...
    def address(self, id: str) -> str: ...
    def why_not(self, kind: Kind, owner: str) -> str | None: ...
    def owner_of(self, caller: Caller) -> str: ...
    def add_check(self, name: str, check: Check) -> None: ...
    def provider(self, name: str) -> Provider | None: ...


# --- questions on its pages --------------------------------------------------------------------


class Page:
    """A client that can only open URLs gets a form as a page."""

    via: ClassVar[Via] = "page"

    def why_not(self, call: Call, question: Question[Any] | Visit) -> str | None:
        if isinstance(question, Visit):
            return "it is a visit already"
        return _why_not_hosted(call, question) or self._why_not_visited(call)

    @staticmethod
    def _why_not_visited(call: Call) -> str | None:
        """Why the client can't be sent to the page; None if it can."""
        if call.modern or call.session.can_send_request:
            return call.lacks("url")
        return why_not_sent_away(call) if comes_back(call) else NO_WAY_BACK

    async def carry(self, call: Call, askings: Sequence[Asking]) -> list[Entry]:
        from midcall.server.ask import put_all  # it chooses among the channels

        pages = [await _host(call, asking) for asking in askings]
        outcomes = await put_all(call, [_visit(page) for page in pages])
        entries = [
            settle_page(call, asking, await _ending(call, asking, page, outcome), self.via)
            for asking, page, outcome in zip(askings, pages, outcomes, strict=True)
        ]
        for page in pages:  # the next run has the answers, and never comes here
            call.journal.forget(mark_name("visit", page.id))
        return entries


class Link:
    """A client without elicitation gets a result that says what the user has to do, and at which address.

    The model shows the address to the user, and resumes the call with the code when they are done.
    """

    via: ClassVar[Via] = "link"

    def why_not(self, call: Call, question: Question[Any] | Visit) -> str | None:
        if call.installation.portal is None:
            return NoChannel.NO_PORTAL
        if call.method != "tools/call":
            return "only a tool call can resume later"
        return _why_not_hosted(call, question)

    def can_replace(self, call: Call, askings: Sequence[Asking]) -> bool:
        """Whether links can ask all of these instead of another channel."""
        return all(
            (question.via is None or self.via in question.via) and self.why_not(call, question) is None
            for question in (asking.question for asking in askings)
        )

    async def carry(self, call: Call, askings: Sequence[Asking]) -> list[Entry]:
        if new := [asking for asking in askings if call.replay.find_mark(_link_mark(asking)) is None]:
            pages = [await _host(call, asking) for asking in new]
            for asking in new:
                call.replay.mark(_link_mark(asking), "link", True)
            await call.continue_later(model_text.open_pages([(page.message, page.address) for page in pages]))
        return [await self._entry(call, asking) for asking in askings]

    async def _entry(self, call: Call, asking: Asking) -> Entry:
        """Wait for the page. A visit counts as accepted: the call was resumed after its address was shown."""
        if isinstance(asking.question, Visit):
            return call.replay.settle(asking.identity, asking.entry, "accept", {}, self.via)
        page = await _host(call, asking)
        while True:
            left = max(0.0, page.expires - time.time())
            async with signs_of_life(call):
                ending = await call.installation.visits.wait(page.id, min(visits.HOLD_SECONDS, left))
            if ending is not None:
                return settle_page(call, asking, ending, self.via)
            if left <= visits.HOLD_SECONDS:
                raise visits.page_timed_out(call, page.id)
            await call.continue_later(model_text.open_pages([(page.message, page.address)]))


LINK: Final = Link()


def _why_not_hosted(call: Call, question: Question[Any] | Visit) -> str | None:
    """Why no page can show this question; None if one can."""
    if call.installation.portal is None:
        return NoChannel.NO_PORTAL
    if isinstance(question, Visit):
        return None
    if isinstance(question.form, OpaqueForm):  # pyright: ignore[reportUnnecessaryIsInstance]
        return "a page cannot show its schema"
    return call.installation.portal.why_not("form", call.owner)


class _Hosted(NamedTuple):
    """A question on a page."""

    id: str
    """It never changes for this call."""
    message: str
    address: str
    expires: float


async def _host(call: Call, asking: Asking) -> _Hosted:
    """Put the question onto a page, unless an earlier run has. A visit has its own."""
    question = asking.question
    if isinstance(question, Visit):
        id = visit_id(call, asking.identity, question)
        return _Hosted(id, question.message, question.address(id), inf)
    portal = call.installation.portal
    assert portal is not None, "a page needs a portal"
    await portal.start()
    id = call.derive("hosted", asking.identity, str(asking.entry.attempt))
    mark = asking_mark("page", asking.identity, asking.entry.attempt)
    begun = call.replay.find_mark(mark)
    expires: float = begun.value if begun is not None else min(time.time() + portal.ttl, asking.entry.deadline or inf)
    if begun is None:
        await portal.interactions.begin(id, form_interaction(call, asking, expires))
        call.replay.mark(mark, "page", expires)
    return _Hosted(id, message_for(question, asking.entry), portal.address(id), expires)


def _visit(page: _Hosted) -> Visit:
    """The visit to this page. Its identity is the page's, so that it's never taken for another visit."""
    visit = Visit(page.message, page.address, id=page.id)
    visit.base = mark_name("visit", page.id)
    return visit


async def _ending(call: Call, asking: Asking, page: _Hosted, agreed: Outcome[Any]) -> Ending:
    """How the page ended, or that the user did not agree to open it."""
    if isinstance(agreed, Accepted):
        return await visits.wait_for_ending(call, page.id, asking.question.timeout, page.expires)
    return Ending("decline" if isinstance(agreed, Declined) else "cancel", time.time())


def _link_mark(asking: Asking) -> str:
    """The mark in the journal that the address was shown."""
    return asking_mark("link", asking.identity, asking.entry.attempt)


# --- for pages and Apps ------------------------------------------------------------------------


def form_interaction(call: Call, asking: Asking, expires: float) -> Interaction:
    """A form question as an interaction."""
    question = asking.question
    assert not isinstance(question, Visit), "a visit has a page already"
    about = {"schema": refill(question.form.schema(), asking.entry)}
    message = message_for(question, asking.entry)
    title, client = call.installation.server_title, call.client_name
    return Interaction("form", call.owner, title, client, message, time.time(), expires, about, call.digest)


def settle_page(call: Call, asking: Asking, ending: Ending, via: Via) -> Entry:
    """Record how the interaction ended as the answer to the question."""
    content = dict(ending.content or {}) if ending.action == "accept" else None
    if content is not None and isinstance(asking.question, AdoptedQuestion):
        content = {"action": "accept", "content": content}
    return call.replay.settle(asking.identity, asking.entry, ending.action, content, via)
