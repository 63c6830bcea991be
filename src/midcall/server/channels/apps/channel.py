"""App: a client that shows MCP Apps gets the form as an App.

Some hosts show an App during the call: it finds its question there, and the call returns with the answer. Others show
it with the result: the call ends with a code and the nonce of its questions, the App answers them, and asks the model
to resume the call.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Final

from midcall.core.adopted import OpaqueForm
from midcall.core.journal import Entry, asking_mark
from midcall.core.outcome import Via
from midcall.core.question import Question, Visit
from midcall.errors import TimedOut
from midcall.server import model_text
from midcall.server.channels.apps.opening import (
    Opened,
    app_mark,
    findable,
    for_app,
    is_seen,
    newest_step,
    open_questions,
)
from midcall.server.channels.apps.requests import shows_apps
from midcall.server.channels.portal import LINK, link_mark, settle_page
from midcall.server.channels.push import signs_of_life
from midcall.server.resuming import visits
from midcall.server.resuming.pages import Page
from midcall.settings.resuming import APP_SECONDS
from midcall.stores.interactions import Ending

if TYPE_CHECKING:
    from midcall.server.call import Call
    from midcall.server.channels.request import Asking


_SHOWS_NO_APPS: Final = "shows no Apps"


class App:
    via: ClassVar[Via] = "app"

    def why_not(self, call: Call, question: Question[Any] | Visit) -> str | None:
        if not shows_apps(call.installation, call.session.client_capabilities):
            return _why_not_shown(call)
        if call.installation.keeping is None:
            return "there is no store (install(..., store=...))"
        if not call.can_continue_later:
            return "only a tool call can wait for an App"
        if call.has_app_of_its_own:
            return "the tool has its own App"
        return _why_not_drawn(question)

    async def carry(self, call: Call, askings: Sequence[Asking]) -> list[Entry]:
        has_page = LINK.can_replace(call, askings)
        if has_page and _is_linked(call, askings):
            return await LINK.carry(call, askings)
        while True:
            opened = await open_questions(call, askings)
            if call.is_held_outside:
                endings = await self._endings(call, askings, opened)
            else:
                async with findable(call), signs_of_life(call):
                    endings = await self._endings(call, askings, opened)
            if endings is not None:
                via = self.via if not has_page or await is_seen(call, opened.step, 0) else LINK.via
                return [_settle(call, asking, ending, via) for asking, ending in zip(askings, endings, strict=True)]
            await self._go_on_later(call, askings, opened, has_page=has_page)

    async def _endings(self, call: Call, askings: Sequence[Asking], opened: Opened) -> list[Ending | None] | None:
        """How each question ended, or None for one that has expired. None if the request has been held long enough."""
        suspension = call.suspend()
        suspension.held_until = suspension.held_until or time.time() + visits.longest_hold(call)
        if not await self._is_open_to_user(call, askings, opened, _left(suspension.held_until)):
            return [*(None for _ in askings)] if any(map(_is_past_deadline, askings)) else None
        endings: list[Ending | None] = []
        for asking, id in zip(askings, opened.ids, strict=True):
            expires = min(opened.expires, asking.entry.deadline or opened.expires)
            ending = await call.installation.visits.wait(id, _left(min(suspension.held_until, expires)))
            if ending is None and time.time() < expires:
                return None
            if call.trail is not None:
                await call.trail.leave(id)
            endings.append(ending)
        return endings

    async def _is_open_to_user(self, call: Call, askings: Sequence[Asking], opened: Opened, seconds: float) -> bool:
        """Whether an App shows these, or a page does whose address the model has: then it's worth to wait."""
        told = opened.before and LINK.can_replace(call, askings)
        if await is_seen(call, opened.step, 0 if told else min(APP_SECONDS, seconds)):
            call.installation.clients.note(call, _SHOWS_NO_APPS, False)
            return True
        if told and call.replay.find_mark(_mark_of_unseen(askings)) is None:  # some hosts declare Apps and show none
            call.replay.mark(_mark_of_unseen(askings), "app", True)
            call.installation.clients.note(call, _SHOWS_NO_APPS)
        return told

    async def _go_on_later(self, call: Call, askings: Sequence[Asking], opened: Opened, *, has_page: bool) -> None:
        if opened.expires < time.time():
            raise TimedOut
        pages = [page async for page in self._left(call, askings, opened, has_page=has_page)]
        shown = [(page.message, page.address) for page in pages]
        leads = call.installation.runs.live
        if has_page and call.replay.find_mark(_mark_of_unseen(askings)) is not None:
            waits = [page._replace(kind="portal") for page in pages]
            await call.continue_later(model_text.open_pages(shown, leads=leads), pages=waits)
            return
        call.suspend().for_programs = for_app(call, opened.step)
        await call.continue_later(model_text.fill_in_app(shown, leads=leads), pages=pages)

    async def _left(
        self, call: Call, askings: Sequence[Asking], opened: Opened, *, has_page: bool
    ) -> AsyncGenerator[Page]:
        """The questions that the user hasn't answered yet; with an address, if a page shows them too."""
        for asking, id in zip(askings, opened.ids, strict=True):
            if await call.installation.visits.has_ended(id):
                continue
            address = ""
            if has_page and (portal := call.installation.portal) is not None:
                address = await portal.serve(id, "form", opened.expires, detach=not call.over_http)
                call.add_page(id)
            until = min(opened.expires, asking.entry.deadline or opened.expires)
            yield Page(id, until, address, asking.question.message, "app")


async def is_in_sight(call: Call, pages: Sequence[Page], until: float, *, told: bool) -> bool:
    """Whether the user can answer these before the client gets the next result, which may show their App.

    `told` says that the model has their addresses, if they have some.
    """
    if not any(page.kind == "app" for page in pages) or (told and any(page.address for page in pages)):
        return True
    if any(page.until <= time.time() for page in pages):  # nothing is left to see
        return True
    return await is_seen(call, newest_step(call), min(APP_SECONDS, _left(until)))


def _why_not_shown(call: Call) -> str:
    if call.installation.apps is False:
        return "Apps are switched off (install(..., apps=False))"
    if call.elicitation is None:
        return "the client did not declare that it shows MCP Apps"
    return "the client has elicitation"


def _why_not_drawn(question: Question[Any] | Visit) -> str | None:
    if isinstance(question, Visit):
        return "it is a visit"
    if isinstance(question.form, OpaqueForm):  # pyright: ignore[reportUnnecessaryIsInstance]
        return "an App cannot show its schema"
    if not _can_draw():
        return "drawing it needs the extra midcall[browser]"
    from midcall.web.forms import too_large

    return "it is too large for an App" if too_large(question.form) else None


@cache
def _can_draw() -> bool:
    return find_spec("jinja2") is not None


def _settle(call: Call, asking: Asking, ending: Ending | None, via: Via) -> Entry:
    if ending is None:
        return call.replay.settle(asking.identity, asking.entry, "timeout", None, via)
    return settle_page(call, asking, ending, via)


def _is_linked(call: Call, askings: Sequence[Asking]) -> bool:
    """Whether a link asks these, since no App ever came to an earlier question of this call or client."""
    if call.replay.find_mark(app_mark(askings)) is not None:
        return False
    if call.installation.clients.is_known(call, _SHOWS_NO_APPS) or call.journal.marks("unseen"):
        return True
    return any(call.replay.find_mark(link_mark(asking)) is not None for asking in askings)


def _mark_of_unseen(askings: Sequence[Asking]) -> str:
    """The mark in the journal that no App came."""
    return asking_mark("unseen", askings[0].identity, askings[0].entry.attempt)


def _is_past_deadline(asking: Asking) -> bool:
    deadline = asking.entry.deadline
    return deadline is not None and time.time() >= deadline


def _left(until: float) -> float:
    return max(0.0, until - time.time())
