"""The page of an interaction: show it, and take its answer once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from midcall.core.text import reveal
from midcall.errors import StoreError
from midcall.language import _, ngettext
from midcall.portal.access import AFTER, Access, Visitor
from midcall.portal.logs import logger
from midcall.portal.oauth.flows import remember
from midcall.portal.pages.interaction_kinds import Completed, InteractionPage, Invalid, Redirect, Rejected, Result
from midcall.portal.pages.rendering import PageCache, allow_script, format_hour, format_moment
from midcall.portal.vault import Entered
from midcall.settings.portal import NEXT_HOLD_SECONDS, NEXT_SECONDS, PAGE_NAME_CHARACTERS
from midcall.stores.base import Completion
from midcall.stores.interactions import Action, Ending, Interaction, Kind, Next, digest_of, short
from midcall.web.cookies import new_mark
from midcall.web.security import Posted, TooLarge, is_same, read_posted

OnFinish = Callable[[str], Awaitable[None]]

_NOTHING: Final = Completed()
_STATUS: Final = {"already": 409, "foreign": 403, "expired": 410, "unknown": 404}
_NOTICES: Final = {"foreign": "wrong_user", "expired": "expired", "unknown": "unknown"}


@dataclass(frozen=True, slots=True)
class InteractionPages:
    """Shows interactions, and takes their answers."""

    access: Access
    kinds: Mapping[Kind, InteractionPage]
    entered: Entered
    on_finish: OnFinish
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the pages are no longer served: then nothing waits here."""
    cache: PageCache = field(default_factory=PageCache)

    async def show(self, request: Request) -> Response:
        """A GET: it changes nothing."""
        visitor = await self.access.admit(request)
        if isinstance(visitor, Response):
            return visitor
        if visitor.ending is not None or self._has_expired(visitor.interaction):
            return await self._show_closed(visitor)
        if logger.isEnabledFor(logging.INFO):
            logger.info(f"{visitor.interaction.kind} {short(visitor.id)} was opened")
        return self._render(visitor, None, 200, pause=self.access.pause_of(request))

    async def follow(self, request: Request) -> Response:
        """A GET, too: wait for what comes after this page, for a while, and lead there."""
        visitor = await self.access.admit(request)
        if isinstance(visitor, Response):
            return visitor
        token = request.query_params.get("token", "")
        if visitor.ending is None and not self._has_expired(visitor.interaction):
            return self._lead(visitor.id)
        if not self._may_follow(visitor, token):
            return await self._show_closed(visitor)
        follows = await self._next(visitor, NEXT_HOLD_SECONDS)
        return self._show_next(visitor, follows, _path_on(visitor, token))

    def _may_follow(self, visitor: Visitor, token: str) -> bool:
        """Whether the page may lead this visitor on: its user, or if that is unknown, the browser that has answered."""
        if visitor.key:
            return True
        return visitor.browser is not None and self.access.forms.is_valid(token, visitor.browser, _purpose(visitor))

    async def _next(self, visitor: Visitor, seconds: float) -> Next | None:
        found = asyncio.ensure_future(self.access.interactions.next(visitor.id, seconds))
        closing = asyncio.ensure_future(self.closing.wait())
        try:
            await asyncio.wait((found, closing), return_when=asyncio.FIRST_COMPLETED)
            return found.result() if found.done() else Next("wait")
        finally:
            found.cancel()
            closing.cancel()

    async def submit(self, request: Request) -> Response:
        """A POST: check the user, the owner, the origin and the deadline, then store the answer, once."""
        came = self.access.clock()
        visitor = await self.access.admit(request)
        if isinstance(visitor, Response):
            return visitor
        try:
            answer = await read_posted(request)
        except TooLarge:
            self.access.refuse("too_large", visitor.id, visitor.key, visitor.interaction)
            return self.access.renderer.notice("too_large", 413, who=visitor.name)
        if not self.access.is_ours(request, answer, digest_of(visitor.id)):
            logger.warning(f"{short(visitor.id)} was rejected: not from our page")
            self.access.refuse("not_from_page", visitor.id, visitor.key, visitor.interaction)
            return self.access.renderer.notice("not_from_page", 403, who=visitor.name, again=f"/i/{visitor.id}")
        if visitor.ending is not None:
            self.access.refuse("already", visitor.id, visitor.key, visitor.interaction)
            return self._show_earlier(visitor, visitor.ending, 409, **await self._way_on(visitor))
        if self._has_expired(visitor.interaction):
            self.access.refuse("expired", visitor.id, visitor.key, visitor.interaction)
            return self.access.renderer.notice("expired", 410, who=visitor.name)
        if self.access.forms.is_too_soon(answer.last("token"), came):
            logger.info(f"{short(visitor.id)}: an answer came too soon to be meant for this page")
            self.access.refuse("too_soon", visitor.id, visitor.key, visitor.interaction)
            return self._render(visitor, None, 409, pause=self.access.pause, too_soon=True)
        return await self._answer(request, visitor, answer)

    def _page(self, visitor: Visitor) -> InteractionPage:
        return self.kinds[visitor.interaction.kind]

    def _has_expired(self, interaction: Interaction) -> bool:
        return interaction.expires <= self.access.clock()

    # --- an answer ------------------------------------------------------------------------------

    async def _answer(self, request: Request, visitor: Visitor, answer: Posted) -> Response:
        match answer.last("do"):
            case "decline" | "cancel" as action:
                return await self.finish(visitor, action)
            case "accept" if not is_same(answer.last("digest"), visitor.interaction.digest):
                self.access.refuse("details_changed", visitor.id, visitor.key, visitor.interaction)
                return self.access.renderer.notice("details_changed", 409, who=visitor.name, again=f"/i/{visitor.id}")
            case "accept":
                result = await self._page(visitor).accept(visitor, answer)
                return await self._after(request, visitor, result)
            case _other:
                return self.access.renderer.notice("not_understood", 400, who=visitor.name, again=f"/i/{visitor.id}")

    async def _after(self, request: Request, visitor: Visitor, result: Result) -> Response:
        match result:
            case Completed():
                return await self.finish(visitor, "accept", result)
            case Invalid(problems):
                return self._render(visitor, problems, 422)
            case Redirect(url, state):
                response = RedirectResponse(url, 303)
                remember(self.access.cookies, request.cookies, response, visitor.id, state)
                return response
            case Rejected(why, status):
                self.access.refuse(why, visitor.id, visitor.key, visitor.interaction)
                return self.access.renderer.notice(why, status, who=visitor.name, again=f"/i/{visitor.id}")

    async def finish(self, visitor: Visitor, action: Action, accepted: Completed = _NOTHING) -> Response:
        """Store the outcome. If several requests try, one succeeds, and only what that one entered is kept."""
        shown = visitor.interaction.digest
        ending = Ending(action, self.access.clock(), accepted.content, shown, accepted.sealed)
        became = await self.access.interactions.finish(visitor.id, ending, owner=visitor.key)
        logger.info(f"{visitor.interaction.kind} {short(visitor.id)}: {action}, {became}")
        if became == "done":
            await self._keep(visitor, accepted.keep_as, ending.at)
        self._note(visitor, action, became)
        if became == "done":
            await self._notify(visitor.id)
            return await self._show_outcome(visitor, action)
        if became == "already":
            found = await self.access.interactions.look(visitor.id)
            if found is not None and found[1] is not None and found[1].action == "closed":
                return self._show_earlier(visitor, found[1], 409)
            hint = _("It was sent from another window, or by an earlier press of the button. Nothing was done twice.")
            on = await self._way_on(visitor)
            return self.access.renderer.say(_("This was answered already"), hint, 409, who=visitor.name, **on)
        return self.access.renderer.notice(_NOTICES[became], _STATUS[became], who=visitor.name)

    def _note(self, visitor: Visitor, action: Action, became: Completion) -> None:
        """Write an answer into the audit trail: what it means depends on the page."""
        about, page = visitor.interaction, self._page(visitor)
        if became != "done":
            self.access.refuse(became, visitor.id, visitor.key, about)
            return
        event, outcome = (page.accept_event, "") if action == "accept" else (page.decline_event, action)
        self.access.note(event, visitor.id, visitor.key, about, outcome=outcome, **page.facts(about))

    async def _keep(self, visitor: Visitor, name: str, now: float) -> None:
        """Move what was entered to the vault. If this fails, the call does it when it continues."""
        try:
            if name:
                await self.entered.keep(visitor.id, visitor.key, name, now=now)
        except StoreError as exc:
            logger.warning(f"{short(visitor.id)} is finished, but not in the vault yet: {exc!s}")

    async def _notify(self, id: str) -> None:
        """Call `on_finish`. The answer is stored already, so a failure here loses nothing."""
        try:
            await self.on_finish(id)
        except Exception as exc:
            logger.warning(f"{short(id)} is finished, but on_finish failed with {type(exc).__name__}")

    # --- the pages --------------------------------------------------------------------------------

    def _render(
        self,
        visitor: Visitor,
        problems: Mapping[str, Any] | None,
        status: int,
        *,
        pause: float = 0.0,
        too_soon: bool = False,
    ) -> Response:
        """The page with its form. A browser without a mark gets one, because the token is valid only with it.

        During the pause it takes no answer. `too_soon` says that the last answer came during one.
        """
        browser = visitor.browser or new_mark()
        token = self.access.forms.token(browser, digest_of(visitor.id), pause=pause)
        facts = _facts(visitor.interaction, self.access.clock()) | {"too_soon": too_soon, "pause": self.access.pause}
        if problems is not None:
            html = self._html(visitor, facts, problems, token)
        else:
            key = (digest_of(visitor.id), facts["digest"], visitor.name, facts["until"], facts["left"], too_soon)
            html = self.cache.get(key, token, lambda token: self._html(visitor, facts, None, token))
        response = HTMLResponse(html, status, allow_script(self._page(visitor).headers))
        if not visitor.browser:
            self.access.cookies.mark(response, browser)
        return response

    def _html(self, visitor: Visitor, facts: Mapping[str, Any], problems: Mapping[str, Any] | None, token: str) -> str:
        page = self._page(visitor)
        more = page.context(visitor.interaction, problems)
        return self.access.renderer.html(
            page.template, who=visitor.name, id=visitor.id, token=token, **{**facts, **more}
        )

    async def _show_outcome(self, visitor: Visitor, action: Action) -> Response:
        heading = _("You declined") if action == "decline" else _name_outcome(self._page(visitor), action)
        tone = "good" if action == "accept" else "plain"
        try:
            continues = await self._next(visitor, 0) is not None
        except StoreError:  # the answer is stored
            continues = False
        on: dict[str, str] = {}
        if continues:
            browser = visitor.browser or ""
            path = _path_on(visitor, "" if visitor.key else self.access.forms.token(browser, _purpose(visitor)))
            on = {"refresh": path, "again": path, "again_text": _("Continue")}
        hint = _explain(self._page(visitor), visitor.interaction, action, continues=continues)
        return self.access.renderer.say(heading, hint, 200, who=visitor.name, tone=tone, **on)

    async def _show_closed(self, visitor: Visitor) -> Response:
        """A page that can't be answered any more: its user is led to what came after it."""
        follows = await self._next(visitor, 0) if visitor.key else None
        if follows is not None and follows.where == "page":
            return self._lead(follows.id)
        if visitor.ending is None:
            return self.access.renderer.notice("expired", 410, who=visitor.name)
        if follows is not None and follows.where == "wait" and self._may_wait(visitor):
            return self._show_next(visitor, follows, _path_on(visitor, ""))
        return self._show_earlier(visitor, visitor.ending, 410)

    def _show_next(self, visitor: Visitor, follows: Next | None, path: str) -> Response:
        """What comes after this page: another page, a while to wait, or nothing more here."""
        server, client = _server(visitor.interaction), _name(visitor.interaction.client) or _("your assistant")
        on: dict[str, str] = {}
        if follows is not None and follows.where == "page":
            return self._lead(follows.id)
        if follows is not None and follows.where == "wait" and self._may_wait(visitor):
            heading = _("One moment")
            hint = _("{server} is working. If it has another question, it appears here automatically.")
            on = {"refresh": path, "again": path, "again_text": _("Continue")}
        elif follows is not None and follows.where == "done":
            heading = _("You are done here")
            hint = _("{server} has no more questions. Close this page, go back to {client}, and say that you are done.")
        else:
            heading = _("Go back to {client}").format(client=client)
            hint = _("It continues there: say that you are done. You can close this page.")
            if follows is not None and follows.where == "wait":
                on = {"again": path, "again_text": _("Look for another question")}
        hint = hint.format(server=server, client=client)
        return self.access.renderer.say(heading, hint, 200, who=visitor.name, **on)

    def _lead(self, id: str) -> Response:
        """To this page, from another one."""
        return self.access.renderer.lead(f"/i/{id}?{AFTER}=1")

    def _may_wait(self, visitor: Visitor) -> bool:
        """Whether the answer is so new that the next page may still come."""
        since = visitor.interaction.expires if visitor.ending is None else visitor.ending.at
        return self.access.clock() - since < NEXT_SECONDS

    async def _way_on(self, visitor: Visitor) -> dict[str, str]:
        """A button to what came after this page, for its user."""
        if not visitor.key or await self._next(visitor, 0) is None:
            return {}
        return {"again": _path_on(visitor, ""), "again_text": _("Continue")}

    def _show_earlier(self, visitor: Visitor, ending: Ending, status: int, **on: str) -> Response:
        if ending.action == "closed":
            return self.access.renderer.say(
                _("This is no longer needed"),
                _explain(self._page(visitor), visitor.interaction, "closed", continues=False),
                status,
                who=visitor.name,
            )
        hint = _("{outcome} on {time} UTC. That cannot be changed here, and nothing was done twice.").format(
            outcome=_name_outcome(self._page(visitor), ending.action), time=format_moment(ending.at)
        )
        return self.access.renderer.say(_("This was answered already"), hint, status, who=visitor.name, **on)


def _path_on(visitor: Visitor, token: str) -> str:
    """Where the browser finds what comes after this page."""
    return f"/i/{visitor.id}/next" + (f"?token={token}" if token else "")


def _purpose(visitor: Visitor) -> str:
    """What the token is for that leads a browser on if its user is unknown."""
    return f"next {digest_of(visitor.id)}"


def _facts(interaction: Interaction, now: float) -> dict[str, Any]:
    """What every page shows: who asks, through which client, why, and until when."""
    return {
        "server": _server(interaction),
        "client": _client(interaction),
        "message": interaction.message,
        "until": format_hour(interaction.expires, now),
        "left": _time_left(interaction.expires - now),
        "digest": interaction.digest,
    }


def _time_left(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 1:
        return _("less than a minute left")
    if minutes < 120:
        return ngettext("{minutes} minute left", "{minutes} minutes left", minutes).format(minutes=minutes)
    hours = minutes // 60
    if hours < 48:
        return ngettext("{hours} hour left", "{hours} hours left", hours).format(hours=hours)
    return ngettext("{days} day left", "{days} days left", hours // 24).format(days=hours // 24)


def _name_outcome(page: InteractionPage, action: Action) -> str:
    match action:
        case "decline":
            return _("Declined")
        case "cancel" | "closed":
            return _("Cancelled")
        case "accept":
            return page.outcome()[0]


def _explain(page: InteractionPage, interaction: Interaction, action: Action, *, continues: bool) -> str:
    """What this outcome means, and what to do next."""
    server, client = _server(interaction), _client(interaction)
    match action:
        case "decline":
            done = _("{server} knows that you said no. Nothing else was done.")
        case "cancel":
            done = _("Nothing was done. {server} can ask again.")
        case "closed":
            return _(
                "{server} has stopped what it was doing, or finished it without your answer. Nothing was done with "
                "this page, and it takes no answer any more. If you still want it, ask again in {client}."
            ).format(server=server, client=client)
        case "accept":
            done = page.outcome()[1]
    if continues:
        then = _("If there is another question, it appears here automatically.")
    elif action == "accept":
        then = _("You can close this page and go back to {client}.").format(client=client)
    else:
        return done.format(server=server)
    return f"{done.format(server=server)} {then}"


def _server(interaction: Interaction) -> str:
    return _name(interaction.server) or _("An unnamed server")


def _client(interaction: Interaction) -> str:
    return _name(interaction.client) or _("your assistant")


def _name(text: str) -> str:
    """A name that a stranger chose, with every character that can mislead as a mark."""
    return reveal(text) if len(text) <= PAGE_NAME_CHARACTERS else f"{reveal(text[:PAGE_NAME_CHARACTERS])}…"
