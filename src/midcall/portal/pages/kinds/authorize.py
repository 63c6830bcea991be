"""Access to another service: consent on our page first, then theirs, then back to us."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from midcall.portal.access.visitor import Elsewhere, Met, Refused, Result
from midcall.portal.logs import logger
from midcall.portal.oauth import OAuth, OAuthError
from midcall.portal.pages.posted import Posted
from midcall.stores.interactions import Interaction
from midcall.web.forms import shown
from midcall.web.headers import GOING_ON
from midcall.wording.portal import logs

__all__ = ["Authorize"]


class Authorize:
    """Sends the user on to a provider, after they agreed here.

    Args:
        oauth: Our side of the exchange.
        titles: What the providers are called, by name.
    """

    template = "authorize.html"
    headers: Mapping[str, str] = GOING_ON

    def __init__(self, oauth: OAuth, titles: Mapping[str, str]) -> None:
        self._oauth = oauth
        self._titles = titles

    def shown(self, interaction: Interaction, tried: Mapping[str, Any] | None) -> dict[str, Any]:
        name = str(interaction.about["provider"])
        scopes = cast("Sequence[Any]", interaction.about.get("scopes") or ())
        return {
            "provider": shown.line(self._titles.get(name, name), 80),
            "scopes": [shown.line(str(scope)) for scope in scopes],
        }

    async def accept(self, met: Met, posted: Posted) -> Result:
        name = str(met.interaction.about["provider"])
        if met.browser is None or name not in self._titles:
            return Refused("failed", 500)
        try:
            return Elsewhere(*await self._oauth.begin(met.id, name, met.visitor, met.browser))
        except OAuthError as exc:
            logger.warning(logs.oauth_failed(type(exc).__name__))
            return Refused("oauth_away", exc.status)
