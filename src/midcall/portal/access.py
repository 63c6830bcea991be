"""Who may see an interaction: checked when its page opens, and again when it is posted."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from midcall.audit import Audit, Name
from midcall.language import _
from midcall.portal.identity.visitors import Identity, Loopback, Nobody
from midcall.portal.logs import logger
from midcall.portal.pages.rendering import Renderer
from midcall.portal.vault import Vault
from midcall.settings.portal import PORTAL_PAUSE_SECONDS
from midcall.stores.base import Store
from midcall.stores.interactions import Ending, Interaction, Interactions, short
from midcall.web.cookies import Cookies
from midcall.web.public_url import Place
from midcall.web.security import LEAVING, FailureLimit, Forms, Posted, network

AFTER: Final = "after"
"""In the query of a page that comes after another one. Some browsers don't say so in `Sec-Fetch-Site`."""
_SIGN_OUT: Final = "/sign-out"
_ID: Final = re.compile(r"[A-Za-z0-9_\-]{16,200}")


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who may see this interaction. Its repr shows no id."""

    id: str = field(repr=False)
    interaction: Interaction
    ending: Ending | None
    key: str
    """The identity key; empty if the interaction belongs to nobody."""
    name: str
    """What to call them."""
    browser: str | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class Access:
    """Lets in the user an interaction belongs to, and nobody else.

    Args:
        identity: Tells who is looking.
        interactions: What there is to see.
        failures: Who opened too many pages that do not exist.
        pause: For how many seconds a page takes no answer if another page has led to it.
    """

    identity: Identity
    interactions: Interactions
    place: Place
    cookies: Cookies
    forms: Forms
    renderer: Renderer
    failures: FailureLimit
    clock: Callable[[], float]
    store: Store
    vault: Vault
    server: str = ""
    audit: Audit | None = None
    pause: float = PORTAL_PAUSE_SECONDS

    async def admit(self, request: Request) -> Visitor | Response:
        """The visitor of the interaction in the path, or the response for someone who may not see it."""
        id: str = request.path_params["id"]
        key = await self.identity.visitor(request)
        source = key or network(request.client.host if request.client else "")
        found = await self.interactions.look(id) if _ID.fullmatch(id) else None
        if found is None:
            logger.info(f"{short(id)} was rejected: unknown")
            return self._slow_down(source, "unknown", id, key) or self.renderer.notice("unknown", 404)
        interaction, ending = found
        if not self._is_open_to_all(interaction):
            if key is None:
                return await self._ask_to_sign_in(request, interaction, id)
            if not interaction.owner or not secrets.compare_digest(key.encode(), interaction.owner.encode()):
                logger.warning(f"{short(id)} was rejected: wrong user")
                slower = self._slow_down(source, "wrong_user", id, key, interaction)
                return slower or self._reject_user(request, id)
        owner = key if interaction.owner and key else ""
        name = self.name(request, key)
        return Visitor(id, interaction, ending, owner, name, self.cookies.browser(request.cookies))

    def _slow_down(
        self, source: str, why: str, id: str, key: str | None, interaction: Interaction | None = None
    ) -> Response | None:
        """Count a failure, or say that there were too many.

        Never in the way of someone who opens their own page: others may share the address, and on loopback any web page
        can send requests in the user's name.
        """
        now = self.clock()
        if wait := self.failures.wait(source, now):
            self.refuse("rate", id, key, interaction)
            return self.renderer.notice("too_often", 429, headers={"retry-after": str(int(wait) + 1)})
        self.failures.note(source, now)
        self.refuse(why, id, key, interaction)
        return None

    def _is_open_to_all(self, interaction: Interaction) -> bool:
        """Only a plain form that belongs to nobody, and on loopback not even that."""
        return interaction.kind == "form" and not interaction.owner and not isinstance(self.identity, Loopback)

    async def _ask_to_sign_in(self, request: Request, interaction: Interaction, id: str) -> Response:
        logger.info(f"{short(id)}: nobody is signed in yet")
        if interaction.owner:
            return await self.sign_in(request, f"/i/{id}", id, interaction)
        self.note_stranger(id, interaction)
        return self.renderer.notice("no_identity", 403)

    async def sign_in(
        self, request: Request, back: str, id: str = "", interaction: Interaction | None = None
    ) -> Response:
        """Ask the visitor to sign in. A posted form cannot redirect there: the CSP keeps it on our own site."""
        self.note_stranger(id, interaction)
        if request.method == "POST" and not isinstance(self.identity, (Loopback, Nobody)):
            return self.renderer.notice("sign_in_again", 401, again=back, again_text=_("Sign in"))
        return await self.identity.sign_in(request, back)

    def _reject_user(self, request: Request, id: str) -> Response:
        """Say nothing about the interaction. Anyone with two accounts may switch to the other."""
        switch = f"/i/{id}" if self.has_sign_out else ""
        who = self.name(request, "somebody")
        return self.renderer.notice("wrong_user", 403, who=who, switch=switch, headers=LEAVING if switch else None)

    @property
    def has_sign_out(self) -> bool:
        """Whether users can sign out here."""
        return _SIGN_OUT in {route.path for route in self.identity.routes}

    def refuse(self, why: str, id: str = "", key: str | None = None, about: Interaction | None = None) -> None:
        """Write into the audit trail that somebody was refused."""
        owner = None if about is None or about.owner == key else about.owner
        self.note("page.refused", id, key, about, outcome=why, owner=owner)

    def note_stranger(self, id: str = "", interaction: Interaction | None = None) -> None:
        """Write into the audit trail that nobody was recognized here, if there is no way to sign in."""
        if isinstance(self.identity, (Loopback, Nobody)):
            self.refuse("wrong_user", id, None, interaction)

    def note(
        self, event: Name, id: str = "", key: str | None = None, about: Interaction | None = None, **facts: object
    ) -> None:
        """Write an event of a page into the audit trail, if there is one."""
        if self.audit is not None:
            known = {} if about is None else {"client": about.client, "call": about.call, "kind": about.kind}
            page = id and short(id)
            self.audit.write(event, user=key, server=self.server, page=page, via="page", **known, **facts)

    def name(self, request: Request, key: str | None) -> str:
        """What to call the user with this identity key."""
        name = getattr(self.identity, "name", None)
        return "" if key is None or name is None else name(request)

    def pause_of(self, request: Request) -> float:
        """For how many seconds the page that this request opens takes no answer.

        If another page has led here, the second half of a double click there hits this one.
        """
        led = AFTER in request.query_params or request.headers.get("sec-fetch-site", "none") != "none"
        return self.pause if led else 0.0

    def is_ours(self, request: Request, posted: Posted, purpose: str) -> bool:
        """Whether this form was posted from a page that we rendered for this browser."""
        browser = self.cookies.browser(request.cookies)
        return self.forms.accepts(request.headers, posted.last("token"), browser, purpose)
