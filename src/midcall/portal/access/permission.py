"""Who may come to an interaction: asked when a page opens, and again when it is posted."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from midcall.portal.access.visitor import Met
from midcall.portal.identity.base import Identity
from midcall.portal.identity.loopback import Loopback
from midcall.portal.identity.nobody import Nobody
from midcall.portal.logs import logger
from midcall.portal.pages.posted import Posted
from midcall.portal.views import Views
from midcall.stores.interactions import Interaction, Interactions, short
from midcall.web.cookies import Cookies
from midcall.web.csrf import Tokens
from midcall.web.headers import GOING_ON
from midcall.web.limits import BadOpens, network
from midcall.web.public_url import Place
from midcall.wording.portal import logs, told

__all__ = ["Door"]

_SIGN_OUT: Final = "/sign-out"
_ID: Final = re.compile(r"[A-Za-z0-9_\-]{16,200}")


@dataclass(frozen=True, slots=True)
class Door:
    """Lets in whoever an interaction belongs to, and nobody else.

    Args:
        identity: Tells who is looking.
        interactions: What there is to look at.
        bad: Who has come too often for nothing.
    """

    identity: Identity
    interactions: Interactions
    place: Place
    cookies: Cookies
    tokens: Tokens
    views: Views
    bad: BadOpens
    clock: Callable[[], float]

    async def meet(self, request: Request) -> Met | Response:
        """Whoever comes for the interaction in the path, if they may see it; else what they are told."""
        id: str = request.path_params["id"]
        visitor = await self.identity.visitor(request)
        source = visitor or network(request.client.host if request.client else "")
        if wait := self.bad.wait(source, self.clock()):
            return self.views.told("too_often", 429, headers={"retry-after": str(int(wait) + 1)})
        found = await self.interactions.look(id) if _ID.fullmatch(id) else None
        if found is None:
            return self._bad_open(source, "unknown", 404, id)
        interaction, ending = found
        if not self._is_open_to_all(interaction):
            if visitor is None:
                return await self._unknown_visitor(request, interaction, id)
            if not interaction.owner or not secrets.compare_digest(visitor.encode(), interaction.owner.encode()):
                self.bad.note(source, self.clock())
                logger.warning(logs.refused(short(id), "wrong user"))
                return self._wrong_user(request, id)
        owner = visitor if interaction.owner and visitor else ""
        return Met(id, interaction, ending, owner, self.who(request, visitor), self.cookies.browser(request.cookies))

    def _is_open_to_all(self, interaction: Interaction) -> bool:
        """Only a plain form that is nobody's; and on loopback not even that."""
        return interaction.kind == "form" and not interaction.owner and not isinstance(self.identity, Loopback)

    def _bad_open(self, source: str, why: str, status: int, id: str) -> Response:
        self.bad.note(source, self.clock())
        logger.info(logs.refused(short(id), why))
        return self.views.told(why, status)

    async def _unknown_visitor(self, request: Request, interaction: Interaction, id: str) -> Response:
        logger.info(f"{short(id)}: nobody is signed in yet")
        return await self.sign_in(request, f"/i/{id}") if interaction.owner else self.views.told("no_identity", 403)

    async def sign_in(self, request: Request, back: str) -> Response:
        """A form that is posted cannot lead on to a sign-in: browsers hold it to our own site."""
        if request.method == "POST" and not isinstance(self.identity, (Loopback, Nobody)):
            return self.views.told("sign_in_again", 401, again=back, again_text=told.sign_in())
        return await self.identity.sign_in(request, back)

    def _wrong_user(self, request: Request, id: str) -> Response:
        """Says nothing of the interaction. Whoever has two accounts may change to the other."""
        switch = f"/i/{id}" if _SIGN_OUT in {route.path for route in self.identity.routes} else ""
        who = self.who(request, "somebody")
        return self.views.told("wrong_user", 403, who=who, switch=switch, headers=GOING_ON if switch else None)

    def who(self, request: Request, visitor: str | None) -> str:
        """What to call them."""
        if visitor is None:
            return ""
        name = getattr(self.identity, "name", None)
        return "" if name is None else name(request)

    def is_ours(self, request: Request, posted: Posted, purpose: str) -> bool:
        """Whether a page that we drew for this browser has posted this."""
        browser = self.cookies.browser(request.cookies)
        return self.tokens.holds(posted.last("token"), browser, purpose) and self.place.is_from_page(request.headers)
