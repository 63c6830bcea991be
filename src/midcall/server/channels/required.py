"""Required: where there is no way back to the client, the call is refused with the error -32042.

The client shows the addresses, waits, and makes the call again. A client of ours says that it does, and brings the
code of the call along: so it can be sent anywhere. Of all others only the author can say it. They begin the call
afresh, so they are sent only to what a fresh call finds done, and only while nothing would be done twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

from midcall.core.journal import Entry, mark_name
from midcall.core.outcome import Via
from midcall.core.question import Question, Visit
from midcall.errors import NoChannel
from midcall.server import telemetry
from midcall.server.channels.capability import lacks_the_error
from midcall.server.channels.link import Link
from midcall.server.channels.request import elicitation_params, visit_id
from midcall.server.resuming.retry import comes_back, retries_of
from midcall.wording import later, reaching

if TYPE_CHECKING:
    from midcall.server.call import Call
    from midcall.server.channels.table import Asking

__all__ = ["Recognised", "Required", "not_sent_away"]

_FOUND_AGAIN: Final = frozenset({"secret", "authorize", "required", "visiting", "visited"})
"""What a fresh call finds in the vault or in the store, or begins again without harm."""


class Recognised(Visit):
    """A visit that a fresh call finds done: the vault has what came of it, or the store knows it by its author's id."""

    __slots__ = ()


class Required:
    via: ClassVar[Via] = "required"

    def why_not(self, call: Call, question: Question[Any] | Visit) -> str | None:
        if not isinstance(question, Visit):
            return "it is no visit"
        if (reason := not_sent_away(call)) is not None or comes_back(call):
            return reason
        if not call.installation.required:
            return "the client does not say that it calls again after -32042 (install(..., required=True) says so)"
        if not isinstance(question, Recognised):
            return "a call that begins afresh could not tell that it was done"
        return None if _is_fresh(call) else "what the call has done so far would be done again"

    async def carry(self, call: Call, askings: Sequence[Asking]) -> list[Entry]:
        new = [asking for asking in askings if not await _is_done(call, asking)]
        if new and comes_back(call) and call.journal.rounds >= retries_of(call):
            return await _otherwise(call, askings)
        if new:
            await self._send_away(call, new)
        return [call.replay.settle(each.identity, each.entry, "accept", {}, self.via) for each in askings]

    async def _send_away(self, call: Call, askings: Sequence[Asking]) -> None:
        call.requires = call.requires or {}
        for asking in askings:
            telemetry.leaves(call, asking, self.via)
            call.replay.mark(_sent(asking), "required", True)
            params = elicitation_params(call, asking)
            call.requires[params["elicitationId"]] = params
        await call.go_on_later(later.needs_visits(len(askings)))


def not_sent_away(call: Call) -> str | None:
    """Why no client of this call can be sent away with -32042; None if one can that comes back."""
    if call.modern:
        return f"protocol {call.version} has no error -32042"
    if call.session.can_send_request:
        return "this connection has a way back to the client"
    if call.installation.keeping is None:
        return "there is no store (install(..., store=...))"
    return lacks_the_error(call)


def _is_fresh(call: Call) -> bool:
    """Whether nothing is recorded but what a fresh call would find again."""
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
    """Whoever comes back has been there; of a fresh call, the store may know that it was done before."""
    if call.replay.noted(_sent(asking)) is not None:
        return True
    if not isinstance(asking.question, Recognised):
        return False
    return await call.installation.visits.has_ended(visit_id(call, asking.identity, asking.question))


async def _otherwise(call: Call, askings: Sequence[Asking]) -> list[Entry]:
    """The client has come back as often as it does: the rest goes by links, where it can."""
    why = "the client has made the call again as often as it does"
    for asking in askings:
        question = asking.question
        refused = question.via is not None and "link" not in question.via
        if refused or _link.why_not(call, question) is not None:
            reasons = {"required": why}
            raise NoChannel(
                reaching.no_channel(why),
                mode="url",
                reasons=reasons,
                advice=reaching.no_channel_advice("url", reasons),
                for_model=reaching.model_cannot_ask(),
            )
    return await _link.carry(call, askings)


_link: Final = Link()


def _sent(asking: Asking) -> str:
    """The mark in the journal that the client was sent there."""
    return mark_name("required", asking.identity)
