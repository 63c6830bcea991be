"""App: a client that shows MCP Apps gets the form as an App.

Hosts work in two ways. Where the App is shown while the call is held, it finds its question there, and the
call returns with the answer. Where it is shown with the result, the call ends with a code and the nonce of
its questions, the App answers them, and tells the model to go on.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Final

from midcall.core.adopted import OpaqueForm
from midcall.core.journal import Entry, asking_mark
from midcall.core.outcome import Via
from midcall.core.question import Question, Visit
from midcall.errors import TimedOut
from midcall.server.channels.apps.frames import findable
from midcall.server.channels.apps.listing import META, shows_apps
from midcall.server.channels.apps.opening import Opened, closed, looked, nonce_of, opened
from midcall.server.channels.hosted_form import settled
from midcall.server.channels.link import Link
from midcall.server.channels.push import signs_of_life
from midcall.server.resuming import holding
from midcall.stores.interactions import Ending
from midcall.wording import later, unanswered

if TYPE_CHECKING:
    from midcall.server.call import Call
    from midcall.server.channels.table import Asking

__all__ = ["App"]

LOOK_SECONDS: Final = 5.0
"""How long a call waits for its App to come. One that is shown while the call is held is there by then."""


class App:
    via: ClassVar[Via] = "app"

    def why_not(self, call: Call, question: Question[Any] | Visit) -> str | None:
        if not shows_apps(call.installation, call.session.client_capabilities):
            return _not_shown(call)
        if call.installation.keeping is None:
            return "there is no store (install(..., store=...))"
        if not call.can_go_on_later:
            return "only the call of a tool can wait for an App"
        if call.has_app_of_its_own:
            return "the tool has an App of its own"
        return _not_drawn(question)

    async def carry(self, call: Call, askings: Sequence[Asking]) -> list[Entry]:
        while call.replay.noted(_unseen(askings)) is None:
            those = await opened(call, askings)
            async with findable(call), signs_of_life(call):
                endings = await self._endings(call, askings, those)
            if endings is not None:
                return [self._entry(call, asking, ending) for asking, ending in zip(askings, endings, strict=True)]
            if await _goes_unseen(call, askings, those):
                break
            await self._go_on_later(call, askings, those)
        return await _link.carry(call, askings)

    def _entry(self, call: Call, asking: Asking, ending: Ending | None) -> Entry:
        if ending is None:
            return call.replay.settle(asking.identity, asking.entry, "timeout", None, self.via)
        return settled(call, asking, ending, self.via)

    async def _endings(self, call: Call, askings: Sequence[Asking], those: Opened) -> list[Ending | None] | None:
        """What came of them; for one of them None where its time is over, for all of them where the call's is."""
        call.held_until = call.held_until or time.time() + holding.HOLD_SECONDS
        if not await looked(call, those.step, min(LOOK_SECONDS, _left(call.held_until))):
            over = any(map(_is_past_deadline, askings))
            return [*(None for _ in askings)] if over else None
        endings: list[Ending | None] = []
        for asking, id in zip(askings, those.ids, strict=True):
            until = min(call.held_until, those.until, asking.entry.deadline or those.until)
            ending = await call.installation.visits.wait(id, _left(until))
            if ending is None and not _late(asking, those):
                return None
            endings.append(ending)
        return endings

    async def _go_on_later(self, call: Call, askings: Sequence[Asking], those: Opened) -> None:
        if those.until < time.time():
            raise TimedOut(unanswered.timed_out(None), for_model=unanswered.model_timed_out())
        call.for_programs = {META: {"nonce": nonce_of(call), "step": those.step}}
        await call.go_on_later(later.needs_an_app([asking.question.message for asking in askings]))


_link: Final = Link()


def _not_shown(call: Call) -> str:
    if call.installation.apps is False:
        return "Apps are switched off (install(..., apps=False))"
    return (
        "the client did not declare that it shows MCP Apps"
        if call.elicitation is None
        else "the client has elicitation"
    )


def _not_drawn(question: Question[Any] | Visit) -> str | None:
    if isinstance(question, Visit):
        return "it is a visit"
    if isinstance(question.form, OpaqueForm):  # pyright: ignore[reportUnnecessaryIsInstance]
        return "its schema is none that an App can draw"
    if not _can_draw():
        return "drawing it needs the extra midcall[browser]"
    from midcall.web.forms import too_large

    return "it is too large for an App" if too_large(question.form) else None


@cache
def _can_draw() -> bool:
    return find_spec("jinja2") is not None


async def _goes_unseen(call: Call, askings: Sequence[Asking], those: Opened) -> bool:
    """Whether no App came, though there was a result to show it with: some hosts declare Apps and show none.

    Then, where there is a link, it is taken.
    """
    if not those.before or not _can_link(call, askings) or await looked(call, those.step, 0):
        return False
    await closed(call, those.ids)
    call.replay.mark(_unseen(askings), "app", True)
    return True


def _unseen(askings: Sequence[Asking]) -> str:
    """The mark in the journal that no App came."""
    return asking_mark("unseen", askings[0].identity, askings[0].entry.attempt)


def _can_link(call: Call, askings: Sequence[Asking]) -> bool:
    return all(
        (asking.question.via is None or "link" in asking.question.via) and _link.why_not(call, asking.question) is None
        for asking in askings
    )


def _is_past_deadline(asking: Asking) -> bool:
    deadline = asking.entry.deadline
    return deadline is not None and time.time() >= deadline


def _late(asking: Asking, those: Opened) -> bool:
    return time.time() >= min(those.until, asking.entry.deadline or those.until)


def _left(until: float) -> float:
    return max(0.0, until - time.time())
