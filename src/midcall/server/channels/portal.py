"""Questions on pages of the portal: what the server needs of a portal, and the two channels that lead to its pages.

`midcall.portal.Portal` has all of it; neither imports the other.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, cast

from midcall.core.adopted import AdoptedQuestion, OpaqueForm
from midcall.core.journal import Entry, asking_mark, mark_name
from midcall.core.outcome import Accepted, Declined, Outcome, Via
from midcall.core.question import Question, Visit
from midcall.errors import NoChannel
from midcall.server import model_text
from midcall.server.channels.push import NO_WAY_BACK
from midcall.server.channels.request import Asking, message_for, refill, visit_id
from midcall.server.resuming import visits
from midcall.server.resuming.codes import comes_back, why_not_sent_away
from midcall.server.resuming.pages import Page as Awaited
from midcall.stores.interactions import Ending, Interaction

if TYPE_CHECKING:
    from pathlib import Path

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
        self,
        *,
        store: Store,
        identity: ServerIdentity,
        server_name: str,
        keys: Sequence[str | bytes],
        file: Path | None = None,
    ) -> None: ...
    async def start(self) -> None: ...
    async def serve(self, id: str, kind: Kind, until: float, *, secret: str = "", detach: bool = False) -> str: ...
    async def serve_again(self, id: str, until: float, *, detach: bool = False) -> str: ...
    async def close(self) -> None: ...
    def why_not(self, kind: Kind, owner: str) -> str | None: ...
    def owner_of(self, caller: Caller) -> str: ...
    def add_check(self, name: str, check: Check) -> None: ...
    def find_check(self, name: str, /) -> Check | None: ...
    def provider(self, name: str) -> Provider | None: ...


# --- questions on its pages --------------------------------------------------------------------


class Page:
    """A client that can only open URLs gets a form as a page."""

    via: ClassVar[Via] = "page"

    def why_not(self, call: Call, question: Question[Any] | Visit) -> str | None:
        if isinstance(question, Visit):
            return "it is a visit already"
        if (reason := _why_not_hosted(call, question)) is not None:
            return reason
        if call.modern or call.session.can_send_request:
            return call.lacks("url")
        return why_not_sent_away(call) if comes_back(call) else NO_WAY_BACK

    async def carry(self, call: Call, askings: Sequence[Asking]) -> list[Entry]:
        from midcall.server.ask import put_all  # it chooses among the channels

        pages = [await _host(call, asking) for asking in askings]
        outcomes = await put_all(call, [_visit(page) for page, _ in pages])
        entries: list[Entry] = []
        for asking, (page, moved), agreed in zip(askings, pages, outcomes, strict=True):
            ending = await _ending(call, asking, page, moved, agreed)
            entries.append(settle_page(call, asking, ending, self.via, unseen=not agreed and agreed.unseen))
        for page, _ in pages:  # the next run has the answers, and never comes here
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
        pages = [(asking, (await _host(call, asking))[0]) for asking in askings]
        if new := [(asking, page) for asking, page in pages if _is_new(call, asking, page)]:
            await self._show(call, new)
        return [await self._entry(call, asking) for asking in askings]

    async def _entry(self, call: Call, asking: Asking) -> Entry:
        """Wait for the page. A visit counts as accepted: the call was resumed after its address was shown."""
        if isinstance(asking.question, Visit):
            return call.replay.settle(asking.identity, asking.entry, "accept", {}, self.via)
        while True:
            page, _ = await _host(call, asking)
            if not _is_new(call, asking, page):
                ending = await visits.hold(call, page)
                if ending is not None:
                    return settle_page(call, asking, ending, self.via)
            await self._show(call, [(asking, page)])

    async def _show(self, call: Call, pages: Sequence[tuple[Asking, Awaited]]) -> None:
        """Let the request return these addresses. The call continues with its code, or once a page has ended."""
        for asking, page in pages:
            call.replay.mark(link_mark(asking), "link", page.address)
        ours = [page for _, page in pages if page.until < inf]
        leads = call.installation.runs.live and len(ours) == len(pages)
        text = model_text.open_pages([(page.message, page.address) for _, page in pages], leads=leads)
        await call.continue_later(text, pages=ours)


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


async def _host(call: Call, asking: Asking) -> tuple[Awaited, bool]:
    """Put the question onto a page, unless an earlier run has; and whether that has moved, and its old address is dead.

    A visit has its own page. The id of a page never changes for this call.
    """
    question = asking.question
    portal = call.installation.portal
    if isinstance(question, Visit):
        id = visit_id(call, asking.identity, question)
        ours = None if portal is None else await portal.interactions.look(id)
        return Awaited(id, inf if ours is None else ours[0].expires, question.address(id), question.message), False
    assert portal is not None, "a page needs a portal"
    id = call.derive("hosted", asking.identity, str(asking.entry.attempt))
    mark = asking_mark("page", asking.identity, asking.entry.attempt)
    begun = call.replay.find_mark(mark)
    message, told = message_for(question, asking.entry), ""
    if begun is None:
        expires = min(time.time() + portal.ttl, asking.entry.deadline or inf)
        await portal.interactions.begin(id, form_interaction(call, asking, expires))
    else:
        expires, told = cast("tuple[float, str]", begun.value)
        if await call.installation.visits.has_ended(id):
            return Awaited(id, expires, told, message), False
    address = await portal.serve(id, "form", expires, detach=not call.over_http)
    call.replay.mark(mark, "page", [expires, address])
    call.add_page(id)
    return Awaited(id, expires, address, message), told not in ("", address)


def _visit(page: Awaited) -> Visit:
    """The visit to this page. Its identity is the page's, so that it's never taken for another visit."""
    visit = Visit(page.message, page.address, id=page.id)
    visit.base = mark_name("visit", page.id)
    visit.is_awaited = True
    return visit


async def _ending(call: Call, asking: Asking, page: Awaited, moved: bool, agreed: Outcome[Any]) -> Ending:
    """How the page ended, or that the user did not agree to open it."""
    if isinstance(agreed, Accepted):
        if moved and call.can_give_code:
            await call.continue_later(model_text.page_moved(page.address), pages=[page])
        return await visits.wait_for_ending(call, page, asking.question.timeout)
    return Ending("decline" if isinstance(agreed, Declined) else "cancel", time.time())


def link_mark(asking: Asking) -> str:
    """The mark in the journal that says which address was shown."""
    return asking_mark("link", asking.identity, asking.entry.attempt)


def _is_new(call: Call, asking: Asking, page: Awaited) -> bool:
    """Whether the user doesn't know where this page is: they were told nothing, or an address that isn't served now."""
    told = call.replay.find_mark(link_mark(asking))
    if told is None or isinstance(asking.question, Visit):
        return told is None
    return told.value != page.address


# --- for pages and Apps ------------------------------------------------------------------------


def form_interaction(call: Call, asking: Asking, expires: float) -> Interaction:
    """A form question as an interaction."""
    question = asking.question
    assert not isinstance(question, Visit), "a visit has a page already"
    about = {"schema": refill(question.form.schema(), asking.entry)}
    message = message_for(question, asking.entry)
    title, client = call.installation.server_title, call.client_title
    return Interaction("form", call.owner, title, client, message, time.time(), expires, about, call.digest)


def settle_page(call: Call, asking: Asking, ending: Ending, via: Via, *, unseen: bool = False) -> Entry:
    """Record how the interaction ended as the answer to the question."""
    content = dict(ending.content or {}) if ending.action == "accept" else None
    if content is not None and isinstance(asking.question, AdoptedQuestion):
        content = {"action": "accept", "content": content}
    action = "cancel" if ending.action == "closed" else ending.action
    return call.replay.settle(asking.identity, asking.entry, action, content, via, quick=unseen)
