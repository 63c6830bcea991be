"""A browser that comes back from a provider. The one GET that changes something, so the state it brings is guarded."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from midcall.portal.access.visitor import Met
from midcall.portal.logs import logger
from midcall.portal.oauth import Finished, OAuth, OAuthError
from midcall.portal.oauth.pending_flows import forget, pending
from midcall.portal.pages.interaction import Desk
from midcall.wording.portal import logs, told

__all__ = ["Returning"]


@dataclass(frozen=True, slots=True)
class Returning:
    """Takes callbacks."""

    desk: Desk
    oauth: OAuth

    async def callback(self, request: Request) -> Response:
        door = self.desk.door
        visitor, browser = await door.identity.visitor(request), door.cookies.browser(request.cookies)
        if visitor is None:
            return door.views.told("sign_in_again", 401)
        if browser is None:
            return door.views.told("oauth_refused", 403, who=door.who(request, visitor))
        try:
            under_way = pending(door.cookies, request.cookies).values()
            finished = await self.oauth.finish(request.query_params, browser, visitor, pending=under_way)
        except OAuthError as exc:
            logger.warning(logs.oauth_failed(type(exc).__name__))
            heading, _ = told.heading_and_hint("oauth_refused")
            return door.views.say(heading, exc.text, exc.status, who=door.who(request, visitor))
        response = await self._finish(request, finished, visitor, browser)
        forget(door.cookies, request.cookies, response, finished.id)
        return response

    async def _finish(self, request: Request, finished: Finished, visitor: str, browser: str) -> Response:
        door = self.desk.door
        found = await door.interactions.look(finished.id)
        if found is None:
            return door.views.told("unknown", 404)
        interaction, _ = found
        met = Met(finished.id, interaction, None, visitor, door.who(request, visitor), browser)
        response = await self.desk.finish(met, finished.action)
        if finished.action == "accept" and response.status_code != 200:
            await self._give_back(met)
        return response

    async def _give_back(self, met: Met) -> None:
        """Access that was given after its question had ended is not kept, unless that end was a yes."""
        found = await self.desk.door.interactions.look(met.id)
        if found is not None and (found[1] is None or found[1].action != "accept"):
            provider = str(met.interaction.about["provider"])
            try:
                await self.oauth.revoke(provider, met.visitor)
            except OAuthError as exc:
                logger.warning(logs.revoke_failed(provider, type(exc).__name__))
