"""Access to another service: the user agrees on our page, then on theirs, and comes back to us."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from starlette.requests import Request
from starlette.responses import Response

from midcall.audit import Name
from midcall.core.text import reveal
from midcall.errors import RecordRefused, StoreError, StoreFull
from midcall.language import _
from midcall.portal.access import Visitor
from midcall.portal.logs import logger
from midcall.portal.oauth import Finished, Granted, OAuth, OAuthError
from midcall.portal.oauth.flows import forget, pending
from midcall.portal.oauth.tokens import vault_name
from midcall.portal.pages.interaction import InteractionPages
from midcall.portal.pages.interaction_kinds import Completed, Reader, Redirect, Rejected, Result
from midcall.portal.pages.notices import heading_and_hint
from midcall.stores.interactions import Interaction
from midcall.web.security import LEAVING, Posted


class Authorize:
    """Sends the user to a provider, after they agreed here.

    Args:
        oauth: Our side of the exchange.
        titles: The titles of the providers, by name.
        reader: Who will be able to use the access.
    """

    template = "authorize.html"
    headers: Mapping[str, str] = LEAVING
    accept_event: Name = "account.connected"
    decline_event: Name = "page.declined"

    def __init__(self, oauth: OAuth, titles: Mapping[str, str], reader: Reader) -> None:
        self._oauth = oauth
        self._titles = titles
        self._reader = reader

    def facts(self, interaction: Interaction) -> Mapping[str, Any]:
        return {"provider": interaction.about["provider"]}

    def outcome(self) -> tuple[str, str]:
        return _("Connected"), _("{server} has the access that you granted.")

    def context(self, interaction: Interaction, problems: Mapping[str, Any] | None) -> dict[str, Any]:
        name = str(interaction.about["provider"])
        scopes = cast("Sequence[Any]", interaction.about.get("scopes") or ())
        return {
            "provider": reveal(self._titles.get(name, name)),
            "scopes": [reveal(str(scope)) for scope in scopes],
            "reader": self._reader,
        }

    async def accept(self, visitor: Visitor, posted: Posted) -> Result:
        name = str(visitor.interaction.about["provider"])
        if visitor.browser is None or name not in self._titles:
            return Rejected("failed", 500)
        try:
            return Redirect(*await self._oauth.begin(visitor.id, name, visitor.key, visitor.browser))
        except OAuthError as exc:
            logger.warning(f"an authorization was rejected: {type(exc).__name__}")
            return Rejected("oauth_away", exc.status)


@dataclass(frozen=True, slots=True)
class CallbackPage:
    """Finishes flows: the one GET that changes something, so its state is checked."""

    pages: InteractionPages
    oauth: OAuth

    async def show(self, request: Request) -> Response:
        access = self.pages.access
        key, browser = await access.identity.visitor(request), access.cookies.browser(request.cookies)
        if key is None:
            access.note_stranger()
            return access.renderer.notice("sign_in_again", 401)
        if browser is None:
            access.note("account.refused", key=key, outcome="other_browser")
            return access.renderer.notice("oauth_refused", 403, who=access.name(request, key))
        try:
            states = pending(access.cookies, request.cookies).values()
            at: str = request.path_params["provider"]
            finished = await self.oauth.finish(request.query_params, browser, key, at=at, pending=states)
        except OAuthError as exc:
            logger.warning(f"an authorization was rejected: {type(exc).__name__}")
            access.note("account.refused", key=key, outcome=type(exc).__name__)
            return access.renderer.say(
                heading_and_hint("oauth_refused")[0], exc.text, exc.status, who=access.name(request, key)
            )
        if finished.action is None:
            return self._ask(request, finished.id, at, key)
        response = await self._finish(request, finished, finished.action, key, browser)
        forget(access.cookies, request.cookies, response, finished.id)
        return response

    def _ask(self, request: Request, id: str, provider: str, key: str) -> Response:
        """Any site can send the browser here to say that access was denied. Only the user's own click decides that."""
        access, title = self.pages.access, self.oauth.provider(provider).title
        heading = _("{provider} did not connect the account").format(provider=title)
        hint = _("Nothing is decided yet. If you do not want to connect it, decline on the page that you came from.")
        who = access.name(request, key)
        return access.renderer.say(heading, hint, 200, who=who, again=f"/i/{id}", again_text=_("Back to that page"))

    async def _finish(
        self, request: Request, finished: Finished, action: Literal["accept", "decline"], key: str, browser: str
    ) -> Response:
        access, granted = self.pages.access, finished.granted
        try:
            found = await access.interactions.look(finished.id)
        except StoreError:
            await self._give_back(finished.id, key, granted, None)
            raise
        if found is None:
            await self._give_back(finished.id, key, granted, None)
            return access.renderer.notice("unknown", 404)
        visitor = Visitor(finished.id, found[0], None, key, access.name(request, key), browser)
        return await (self.pages.finish(visitor, action) if granted is None else self._keep(visitor, granted))

    async def _keep(self, visitor: Visitor, granted: Granted) -> Response:
        """Store the access with the outcome of its question. If it isn't stored, nobody has it, so revoke it."""
        id, key, about = visitor.id, visitor.key, visitor.interaction
        sealed = self.pages.entered.seal(id, key, granted.tokens.dump())
        try:
            response = await self.pages.finish(visitor, "accept", Completed(None, sealed, vault_name(granted.provider)))
            was_kept = response.status_code == 200 or await self._was_granted(id)
        except (RecordRefused, StoreFull):  # other errors of the store leave open whether it was written
            await self._give_back(id, key, granted, about)
            raise
        if not was_kept:
            await self._give_back(id, key, granted, about)
        return response

    async def _was_granted(self, id: str) -> bool:
        """Whether this ended with a grant of the same."""
        found = await self.pages.access.interactions.look(id)
        return found is not None and found[1] is not None and found[1].action == "accept"

    async def _give_back(self, id: str, key: str, granted: Granted | None, about: Interaction | None) -> None:
        """Revoke access that was granted after its question had ended."""
        if granted is None:
            return
        name = granted.provider.name
        self.pages.access.note("account.disconnected", id, key, about, provider=name, outcome="too_late")
        try:
            await self.oauth.give_back(granted)
        except OAuthError as exc:
            logger.warning(f"access to {name} was not revoked there: {type(exc).__name__}")
