"""The portal, as the server sees it: what it must offer, and how a question gets onto one of its pages.

`midcall.portal.Portal` has all of it; neither imports the other.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from midcall.core.adopted import AdoptedQuestion, OpaqueForm
from midcall.core.journal import Entry, asking_mark
from midcall.core.outcome import Via
from midcall.core.question import Question, Visit
from midcall.errors import NoChannel
from midcall.server.channels.request import message_for, refill, visit_id
from midcall.stores.interactions import Ending, Interaction

if TYPE_CHECKING:
    from midcall.core.caller import Caller
    from midcall.server.call import Call
    from midcall.server.channels.table import Asking
    from midcall.stores.base import Store
    from midcall.stores.interactions import Interactions, Kind
    from midcall.web.secret_checks import Check


class Vault(Protocol):
    """Secrets, per owner and name."""

    async def get(self, owner: str, name: str) -> dict[str, str] | None: ...
    async def forget(self, owner: str, name: str) -> bool: ...


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
    @property
    def local(self) -> bool: ...
    @property
    def interactions(self) -> Interactions: ...
    @property
    def vault(self) -> Vault: ...
    @property
    def oauth(self) -> Accounts: ...
    @property
    def providers(self) -> Sequence[Provider]: ...

    def bind(self, *, store: Store, server_name: str, keys: Sequence[str | bytes]) -> None: ...
    async def start(self) -> None: ...
    async def close(self) -> None: ...
    def address(self, id: str) -> str: ...
    def why_not(self, kind: Kind, owner: str) -> str | None: ...
    def owner_of(self, caller: Caller) -> str: ...
    def add_check(self, name: str, check: Check) -> None: ...
    def provider(self, name: str) -> Provider | None: ...


def why_not_hosted(call: Call, question: Question[Any] | Visit) -> str | None:
    """Why no page can show this question; None if one can."""
    if call.installation.portal is None:
        return NoChannel.NO_PORTAL
    if isinstance(question, Visit):
        return None
    if isinstance(question.form, OpaqueForm):  # pyright: ignore[reportUnnecessaryIsInstance]
        return "a page cannot show its schema"
    return call.installation.portal.why_not("form", call.owner)


def page_id(call: Call, asking: Asking) -> str:
    """The id of the page for this question, or of the visit that it is; it never changes for this call."""
    if isinstance(asking.question, Visit):
        return visit_id(call, asking.identity, asking.question)
    return call.derive("hosted", asking.identity, str(asking.entry.attempt))


class Hosted(NamedTuple):
    """A question on a page."""

    message: str
    address: str
    expires: float


async def host(call: Call, asking: Asking) -> Hosted:
    """Put the question onto a page, unless an earlier run has."""
    question, id = asking.question, page_id(call, asking)
    if isinstance(question, Visit):
        return Hosted(question.message, question.address(id), inf)
    portal = call.installation.portal
    assert portal is not None, "a page needs a portal"
    await portal.start()
    mark = asking_mark("page", asking.identity, asking.entry.attempt)
    begun = call.replay.find_mark(mark)
    expires: float = begun.value if begun is not None else min(time.time() + portal.ttl, asking.entry.deadline or inf)
    if begun is None:
        await portal.interactions.begin(id, form_interaction(call, asking, expires))
        call.replay.mark(mark, "page", expires)
    return Hosted(message_for(question, asking.entry), portal.address(id), expires)


def form_interaction(call: Call, asking: Asking, expires: float) -> Interaction:
    """A form question as an interaction, for a page or an App."""
    question = asking.question
    assert not isinstance(question, Visit), "a visit has a page already"
    about = {"schema": refill(question.form.schema(), asking.entry)}
    message = message_for(question, asking.entry)
    title, client = call.installation.server_title, call.client_name
    return Interaction("form", call.owner, title, client, message, time.time(), expires, about)


def settle_page(call: Call, asking: Asking, ending: Ending, via: Via) -> Entry:
    """Record how the interaction ended as the answer to the question."""
    content = dict(ending.content or {}) if ending.action == "accept" else None
    if content is not None and isinstance(asking.question, AdoptedQuestion):
        content = {"action": "accept", "content": content}
    return call.replay.settle(asking.identity, asking.entry, ending.action, content, via)
