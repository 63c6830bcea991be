"""Access to another service: the user agrees on our page, then on theirs, and comes back to us."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from midcall.portal.access import Visitor
from midcall.portal.logs import logger
from midcall.portal.oauth import OAuth, OAuthError
from midcall.portal.pages.interaction_kinds import Redirect, Rejected, Result
from midcall.stores.interactions import Interaction
from midcall.web.forms import excerpt
from midcall.web.security import LEAVING, Posted


class Authorize:
    """Sends the user to a provider, after they agreed here.

    Args:
        oauth: Our side of the exchange.
        titles: The titles of the providers, by name.
    """

    template = "authorize.html"
    headers: Mapping[str, str] = LEAVING

    def __init__(self, oauth: OAuth, titles: Mapping[str, str]) -> None:
        self._oauth = oauth
        self._titles = titles

    def context(self, interaction: Interaction, problems: Mapping[str, Any] | None) -> dict[str, Any]:
        name = str(interaction.about["provider"])
        scopes = cast("Sequence[Any]", interaction.about.get("scopes") or ())
        return {
            "provider": excerpt.line(self._titles.get(name, name), 80),
            "scopes": [excerpt.line(str(scope)) for scope in scopes],
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
