"""The page of an interaction: shown, and answered once."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from midcall.portal.access.permission import Door
from midcall.portal.access.visitor import Elsewhere, Met, Refused, Result, Settled, Tried
from midcall.portal.logs import logger
from midcall.portal.oauth.pending_flows import remember
from midcall.portal.pages.cache import Drawn
from midcall.portal.pages.kinds import Page
from midcall.portal.pages.posted import Posted, TooMuch, posted
from midcall.portal.views import hour, moment
from midcall.stores.interactions import Action, Ending, Interaction, Kind, digest_of, short
from midcall.web.forms import shown
from midcall.wording.portal import ended, logs
from midcall.wording.portal import interaction as wording

__all__ = ["Desk", "OnFinish"]

OnFinish = Callable[[str], Awaitable[None]]

_STATUS: Final = {"already": 409, "foreign": 403, "expired": 410, "unknown": 404}
_SAID: Final = {"foreign": "wrong_user", "expired": "expired", "unknown": "unknown"}


@dataclass(frozen=True, slots=True)
class Desk:
    """Shows interactions, and takes what is answered."""

    door: Door
    kinds: Mapping[Kind, Page]
    on_finish: OnFinish
    drawn: Drawn = field(default_factory=Drawn)

    async def show(self, request: Request) -> Response:
        """A GET: it changes nothing."""
        met = await self.door.meet(request)
        if isinstance(met, Response):
            return met
        if met.ending is not None:
            return self._already(met, met.ending, 410)
        if self._is_over(met.interaction):
            return self.door.views.told("expired", 410, who=met.who)
        if logger.isEnabledFor(logging.INFO):
            logger.info(f"{met.interaction.kind} {short(met.id)} was opened")
        return self._drawn(met, None, 200)

    async def submit(self, request: Request) -> Response:
        """A POST: who it is, whose it is, whether our page sent it, whether it is in time; then it is stored, once."""
        met = await self.door.meet(request)
        if isinstance(met, Response):
            return met
        try:
            answer = await posted(request)
        except TooMuch:
            return self.door.views.told("too_much", 413, who=met.who)
        if not self.door.is_ours(request, answer, digest_of(met.id)):
            logger.warning(logs.refused(short(met.id), "not from our page"))
            return self.door.views.told("not_from_page", 403, who=met.who, again=f"/i/{met.id}")
        if met.ending is not None:
            return self._already(met, met.ending, 409)
        if self._is_over(met.interaction):
            return self.door.views.told("expired", 410, who=met.who)
        return await self._answer(request, met, answer)

    def _is_over(self, interaction: Interaction) -> bool:
        return interaction.expires <= self.door.clock()

    # --- an answer ------------------------------------------------------------------------------

    async def _answer(self, request: Request, met: Met, answer: Posted) -> Response:
        match answer.last("do"):
            case "decline" | "cancel" as action:
                return await self.finish(met, action)
            case "accept":
                result = await self.kinds[met.interaction.kind].accept(met, answer)
                return await self._after(request, met, result)
            case _:
                return self.door.views.told("not_understood", 400, who=met.who, again=f"/i/{met.id}")

    async def _after(self, request: Request, met: Met, result: Result) -> Response:
        match result:
            case Settled(content):
                return await self.finish(met, "accept", content)
            case Tried(said):
                return self._drawn(met, said, 422)
            case Elsewhere(url, state):
                response = RedirectResponse(url, 303)
                remember(self.door.cookies, request.cookies, response, met.id, state)
                return response
            case Refused("already", status):
                return self._first(met, status)
            case Refused(why, status):
                return self.door.views.told(why, status, who=met.who, again=f"/i/{met.id}")

    async def finish(self, met: Met, action: Action, content: Mapping[str, Any] | None = None) -> Response:
        """Store what came of it. Of many that do, one has done it."""
        ending = Ending(action, self.door.clock(), content)
        became = await self.door.interactions.finish(met.id, ending, owner=met.visitor)
        logger.info(f"{met.interaction.kind} {short(met.id)}: {action}, {became}")
        if became == "done":
            await self._tell(met.id)
            return self._ended(met, action)
        if became == "already":
            return self._first(met, 409)
        return self.door.views.told(_SAID[became], _STATUS[became], who=met.who)

    async def _tell(self, id: str) -> None:
        """It is stored; whatever goes wrong from here on, the answer is not lost."""
        try:
            await self.on_finish(id)
        except Exception as exc:
            logger.warning(f"{short(id)} is finished, but telling so failed with {type(exc).__name__}")

    # --- what is shown --------------------------------------------------------------------------

    def _drawn(self, met: Met, tried: Mapping[str, Any] | None, status: int) -> Response:
        """The page with its form. A browser that has no mark gets one; its token is good with that alone."""
        response = HTMLResponse(status_code=status, headers=self.kinds[met.interaction.kind].headers)
        browser = met.browser or self.door.cookies.mark(response)
        digest = digest_of(met.id)
        token = self.door.tokens.make(browser, digest)
        facts = _facts(met.interaction, self.door.clock())
        if tried is not None:
            return _with_body(response, self._html(met, facts, tried, token))
        key = (digest, met.interaction.created, met.who, facts["left"])
        return _with_body(response, self.drawn.page(key, token, lambda token: self._html(met, facts, None, token)))

    def _html(self, met: Met, facts: Mapping[str, Any], tried: Mapping[str, Any] | None, token: str) -> str:
        page = self.kinds[met.interaction.kind]
        more = page.shown(met.interaction, tried)
        return self.door.views.html(page.template, who=met.who, id=met.id, token=token, **{**facts, **more})

    def _ended(self, met: Met, action: Action) -> Response:
        kind, client = met.interaction.kind, _client(met.interaction)
        hint = ended.hint(kind, action, _server(met.interaction), client)
        tone = "good" if action == "accept" else "plain"
        return self.door.views.say(ended.title(kind, action), hint, 200, who=met.who, tone=tone)

    def _already(self, met: Met, ending: Ending, status: int) -> Response:
        hint = ended.already_hint(met.interaction.kind, ending.action, moment(ending.at))
        return self.door.views.say(ended.already(), hint, status, who=met.who)

    def _first(self, met: Met, status: int) -> Response:
        return self.door.views.say(ended.already(), ended.already_somewhere(), status, who=met.who)


def _with_body(response: Response, html: str) -> Response:
    response.body = response.render(html)
    response.headers["content-length"] = str(len(response.body))
    return response


def _facts(interaction: Interaction, now: float) -> dict[str, Any]:
    """What every page says: who asks, through whom, why, and until when."""
    return {
        "server": _server(interaction),
        "client": _client(interaction),
        "message": interaction.message,
        "until": wording.until(hour(interaction.expires, now)),
        "left": wording.time_left(interaction.expires - now),
    }


def _server(interaction: Interaction) -> str:
    return shown.line(interaction.server, 80) or wording.unnamed_server()


def _client(interaction: Interaction) -> str:
    return shown.line(interaction.client, 80) or wording.unnamed_client()
