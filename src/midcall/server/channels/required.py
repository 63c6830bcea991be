"""Required: -32042, the error that sends a client to URLs before it calls again.

If the server can't reach its client, a call that needs a visit ends with this error. The client shows the addresses and
waits. Our client declares how often it retries, and brings back the code that came with the error, so the call resumes
where it stopped.

Other clients start the call again from the top. Only the author can say that they do (`install(..., required=True)`),
and they are sent only to visits that a fresh call finds done, and only while nothing would be done twice.

A tool may also raise the error itself. 2026-07-28 has no such error: there it becomes a round with these visits. For a
client without URL mode, they become links.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from mcp.shared.exceptions import UrlElicitationRequiredError
from mcp_types import ElicitRequestURLParams

from midcall.core.journal import Entry, asking_mark, mark_name, required_name, wire_key
from midcall.core.outcome import Via, raise_refusal
from midcall.core.question import Question, Visit
from midcall.errors import InvalidQuestion, MidcallError, NoChannel
from midcall.server import model_text
from midcall.server.call import current_call
from midcall.server.channels import telemetry
from midcall.server.channels.portal import LINK
from midcall.server.channels.push import signs_of_life
from midcall.server.channels.request import Asking, elicitation_params, visit_id
from midcall.server.frameworks.errors import let_through
from midcall.server.resuming import visits
from midcall.server.resuming.codes import comes_back, give_code, retries_of, why_not_sent_away
from midcall.server.resuming.pages import Page, addresses_of

if TYPE_CHECKING:
    from midcall.server.call import Call

_FOUND_AGAIN: Final = frozenset({"pages", "secret", "authorize", "used", "required", "visiting", "visited", "as_text"})
"""Marks of work that a fresh call finds in the vault or in the store, or repeats without harm."""
_ENDS: Final = ".!?…。！？"
"""How a sentence ends."""


class Recognised(Visit):
    """A visit that a fresh call finds done: its result is in the vault, or the store knows it by its author's id."""

    __slots__ = ()


class Required:
    via: ClassVar[Via] = "required"

    def why_not(self, call: Call, question: Question[Any] | Visit) -> str | None:
        if not isinstance(question, Visit):
            return "it is not a visit"
        if (reason := why_not_sent_away(call)) is not None or comes_back(call):
            return reason
        if not call.installation.required:
            return "the client does not declare that it retries after -32042; if it does: install(..., required=True)"
        if not isinstance(question, Recognised):
            return "a call that starts over could not know that the visit was done"
        return None if _is_fresh(call) else "the call would do again what it has done so far"

    async def carry(self, call: Call, askings: Sequence[Asking]) -> list[Entry]:
        new = [asking for asking in askings if not await _is_done(call, asking)]
        if new and comes_back(call) and call.journal.rounds >= retries_of(call):
            if not LINK.can_replace(call, askings):
                why = "the client has retried the call as often as it does"
                raise NoChannel(why, mode="url", reasons={"required": why})
            return await LINK.carry(call, askings)
        if new:
            await self._send_away(call, new)
        return [call.replay.settle(each.identity, each.entry, "accept", {}, self.via) for each in askings]

    async def _send_away(self, call: Call, askings: Sequence[Asking]) -> None:
        for asking in askings:
            telemetry.leave(call, asking, self.via)
            call.replay.mark(_sent_mark(asking), "required", True)
            params = elicitation_params(call, asking)
            call.suspend().requires[params["elicitationId"]] = params
        await call.continue_later(model_text.visit_first(len(askings)))


def _is_fresh(call: Call) -> bool:
    """Whether a fresh call would find again everything that is recorded."""
    journal = call.journal
    if journal.settled or journal.target is not None:
        return False
    return all(_is_found_again(journal.entry(identity)) for identity in journal.entries)


def _is_found_again(entry: Entry | None) -> bool:
    if entry is None or entry.kind == "waiting":
        return True
    if entry.kind in ("mark", "effect"):
        return not entry.line and entry.label in _FOUND_AGAIN
    return entry.via in ("required", "default")


async def _is_done(call: Call, asking: Asking) -> bool:
    """A client that came back has been there; for a fresh call, the store may know that the visit was done before."""
    if call.replay.find_mark(_sent_mark(asking)) is not None:
        return True
    if not isinstance(asking.question, Recognised):
        return False
    return await call.installation.visits.has_ended(visit_id(call, asking.identity, asking.question))


def _sent_mark(asking: Asking) -> str:
    """The mark in the journal that the client was sent there."""
    return mark_name("required", asking.identity)


# --- a tool that raises it ---------------------------------------------------------------------


class UrlElicitationRequired(UrlElicitationRequiredError):
    """Raise it if a tool cannot continue before the user has visited these URLs.

    Up to 2025-11-25 the client gets the error -32042. 2026-07-28 has no such error: there it becomes a round with these
    visits. With a portal, a client without URL mode gets links and a resume code.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        call = current_call.get()
        return super().__new__(cls if call is None else let_through(cls, call.installation.error_base))

    def __init__(self, elicitations: Sequence[Visit | ElicitRequestURLParams], message: str | None = None) -> None:
        if not isinstance(elicitations, Sequence) or isinstance(elicitations, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidQuestion(
                "UrlElicitationRequired() takes a list of visits, [Visit(message, url)], not "
                f"{type(elicitations).__name__}."
            )
        if not elicitations:
            raise InvalidQuestion("UrlElicitationRequired needs at least one visit.")
        super().__init__([_params(index, item) for index, item in enumerate(elicitations)], message)
        self.log_level = logging.INFO  # FastMCP reads it: this isn't a failure

    def __reduce__(self) -> tuple[Any, ...]:
        return MidcallError.rebuild, (type(self), self.args, self.__dict__)


def _params(index: int, item: Visit | ElicitRequestURLParams) -> ElicitRequestURLParams:
    if not isinstance(item, (Visit, ElicitRequestURLParams)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidQuestion(
            f"UrlElicitationRequired() takes visits, Visit(message, url), not {type(item).__name__}: a form has no URL."
        )
    call = current_call.get()
    visit = item if isinstance(item, Visit) else Visit(item.message, item.url, id=item.elicitation_id)
    if visit.id is not None:
        id = visit.id
    elif call is not None:
        id = call.derive("required", str(index), visit.digest)
    else:
        raise InvalidQuestion("Outside a call a visit needs its own id: Visit(message, url, id=...).")
    return ElicitRequestURLParams(message=visit.message, url=visit.address(id), elicitation_id=id)


async def check_required(call: Call, error: UrlElicitationRequiredError) -> UrlElicitationRequiredError:
    """This error, ready for this client: each visit has an id, and a retry has its code.

    Raises:
        UrlElicitationRequiredError: The client has not declared URLs, and the tool raised the SDK's own error.
        NoChannel: The client has not declared URLs, and the tool raised ours.
    """
    if reason := call.lacks_visit_errors():
        if not isinstance(error, UrlElicitationRequired):
            raise error
        raise NoChannel(reason, mode="url", undeclared="url" if call.modern else None, reasons={"required": reason})
    error = await _follow(call, error)
    await give_code(call, error)
    return error


async def _follow(call: Call, error: UrlElicitationRequiredError) -> UrlElicitationRequiredError:
    """This error, with an id for each visit, whose client hears when that is done."""
    if not all(visit.elicitation_id for visit in error.elicitations):
        named = [
            visit.model_copy(update={"elicitation_id": visit.elicitation_id or call.derive("required", str(index))})
            for index, visit in enumerate(error.elicitations)
        ]
        error = UrlElicitationRequiredError(named, error.message)
    for visit in error.elicitations:
        await call.installation.visits.watch(call, visit.elicitation_id or "")
    return error


def goes_by_link(call: Call, error: UrlElicitationRequiredError) -> bool:
    """Whether the client can't be sent to a URL, but its model can show these addresses."""
    first = error.elicitations[0]
    visit = Visit(first.message, first.url, id=first.elicitation_id)
    return call.lacks_visit_errors() is not None and LINK.why_not(call, visit) is None


async def leave_with_visits(call: Call, error: UrlElicitationRequiredError) -> dict[str, dict[str, Any]] | None:
    """The questions of a round instead of this error; None if all visits are done, and the tool has to run again.

    A client without URL mode gets links instead, and a resume code. Each visit is asked for once. After the user has
    agreed, the request is held until the visit is completed; if that takes too long, the call ends with a resume code.
    The tool runs again when the code comes. If it still requires the visit, that is asked for again only if it was
    completed; else the request is held once more.

    Raises:
        UserDeclined, UserCancelled: The user did not agree to one of them.
        TimedOut: They agreed but are not done, and the call cannot resume later.
        NoChannel, UrlElicitationRequiredError: The client cannot be sent to a URL.
    """
    by_link = goes_by_link(call, error)
    error = await (_follow if by_link else check_required)(call, error)
    via: Via = "link" if by_link else "round"
    agreed: dict[str, Page] = {}
    tried: list[Page] = []
    new: list[Asking] = []
    for index, params in enumerate(error.elicitations):
        visit = Visit(params.message, params.url, id=params.elicitation_id)
        identity = required_name(index, visit.digest)
        entry = call.replay.find(identity, visit)
        if entry is not None and entry.kind in ("decline", "cancel"):
            raise_refusal(entry.kind, unseen=entry.value is True)
        attempt = 1 if entry is None else entry.attempt
        shown = call.replay.find_mark(asking_mark("link", identity, attempt)) is not None
        if entry is not None and entry.kind == "waiting" and shown:  # the model has shown it, and resumed the call
            entry = call.replay.settle(identity, entry, "accept", {}, via)
        if entry is not None and entry.kind in ("accept", "fits"):
            page, mark = _page(visit), asking_mark("tried", identity, attempt)
            if call.replay.find_mark(mark) is None:
                agreed[mark] = page
                continue
            if not await call.installation.visits.has_ended(page.id):
                tried.append(page)
                continue
            attempt += 1
        entry = call.replay.wait(identity, visit, line=False, deadline=None, attempt=attempt)
        call.audit("question.asked", identity, via=via, mode="url", attempt=attempt)
        new.append(Asking(identity, visit, entry))
    if new:
        _say_why(new[0], error)
        if by_link:
            return await _leave_with_links(call, new)
        return {
            wire_key(each.identity, each.entry.attempt): {
                "method": "elicitation/create",
                "params": elicitation_params(call, each),
            }
            for each in new
        }
    pages = [*agreed.values(), *tried]
    if await _hold(call, agreed) and not tried:
        return None
    if call.method != "tools/call":
        raise visits.page_timed_out(call, pages[0].id)
    return await _leave(call, model_text.not_finished(addresses_of(pages)), pages)


def _say_why(asking: Asking, error: UrlElicitationRequiredError) -> None:
    """Put the message of the error, if its author gave one, before that of the first visit."""
    why, visit = error.message.strip(), asking.question
    if isinstance(visit, Visit) and why and why != UrlElicitationRequiredError(error.elicitations).message:
        asking.question = Visit(f"{why}{' ' if why[-1] in _ENDS else ': '}{visit.message}", visit.url, id=visit.id)


def _page(visit: Visit) -> Page:
    id = visit.id or ""
    return Page(id, address=visit.address(id), message=visit.message, kind="required")


async def _leave_with_links(call: Call, askings: Sequence[Asking]) -> dict[str, dict[str, Any]]:
    """Let the request return these addresses and a resume code."""
    pages: list[Page] = []
    for asking in askings:
        assert isinstance(asking.question, Visit)
        call.replay.mark(asking_mark("link", asking.identity, asking.entry.attempt), "required", True)
        pages.append(_page(asking.question))
    return await _leave(call, model_text.open_pages([(page.message, page.address) for page in pages]), pages)


async def _leave(call: Call, why: str, pages: Sequence[Page]) -> dict[str, dict[str, Any]]:
    """Let the request return a resume code, which waits for these if they aren't done yet."""
    suspension = call.suspend()
    suspension.later = why
    for page in pages:
        if not await call.installation.visits.has_ended(page.id):
            suspension.pages[page.id] = page
    return {}


async def _hold(call: Call, agreed: Mapping[str, Page]) -> bool:
    """Hold the request until these are completed. False if they aren't in time; they have been tried then."""
    until = time.time() + visits.longest_hold(call)
    done = True
    try:
        async with signs_of_life(call, next(iter(addresses_of([*agreed.values()])), "")):
            for page in agreed.values():
                done = done and await call.installation.visits.wait(page.id, until - time.time()) is not None
    except visits.NotHeld:
        done = False
    for mark in agreed:
        call.replay.mark(mark, "required", True)
    return done
