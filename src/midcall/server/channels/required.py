"""Required: if the server can't reach its client, the call ends with the error -32042, and the client calls again.

The client shows the addresses and waits. Our client declares how often it retries, and brings back the code that
came with the error, so the call resumes where it stopped: for the same user and the same request, once. The code isn't
the id of a visit, because those are in addresses, which people pass on.

Other clients start the call again from the top. Only the author can say that they do (`install(..., required=True)`),
and they are sent only to visits that a fresh call finds done, and only while nothing would be done twice.
"""

from __future__ import annotations

import hashlib
import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from mcp.shared.exceptions import UrlElicitationRequiredError
from mcp_types import ElicitRequestURLParams
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from midcall import protocol
from midcall.core.journal import Entry, Journal, encode, mark_name
from midcall.core.outcome import Via
from midcall.core.question import Question, Visit
from midcall.errors import NoChannel
from midcall.server import model_text, telemetry
from midcall.server.channels.link import Link
from midcall.server.channels.request import elicitation_params, visit_id

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from midcall.server.call import Call
    from midcall.server.channels.table import Asking
    from midcall.server.resuming.storage import Keeping

_FOUND_AGAIN: Final = frozenset({"secret", "authorize", "required", "visiting", "visited"})
"""Marks of work that a fresh call finds in the vault or in the store, or repeats without harm."""
_REQUEST: Final = mark_name("retry")
"""The mark in the journal: which request the code is for."""


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
            return "the client does not declare that it retries after -32042 (install(..., required=True) says so)"
        if not isinstance(question, Recognised):
            return "a call that starts over could not know that the visit was done"
        return None if _is_fresh(call) else "the call would do again what it has done so far"

    async def carry(self, call: Call, askings: Sequence[Asking]) -> list[Entry]:
        new = [asking for asking in askings if not await _is_done(call, asking)]
        if new and comes_back(call) and call.journal.rounds >= _retries_of(call):
            return await _carry_by_link(call, askings)
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


def why_not_sent_away(call: Call) -> str | None:
    """Why -32042 can't be sent in this call; None if it can, to a client that comes back."""
    if call.modern:
        return f"protocol {call.version} has no error -32042"
    if call.session.can_send_request:
        return "this connection has a way back to the client"
    if call.installation.keeping is None:
        return "there is no store (install(..., store=...))"
    return call.lacks_visit_errors()


def visit_error(call: Call) -> UrlElicitationRequiredError:
    """The error that sends the client to the visits that the call requires."""
    visits = [ElicitRequestURLParams.model_validate(params) for params in call.suspend().requires.values()]
    return UrlElicitationRequiredError(visits, model_text.visit_first(len(visits)))


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


async def _carry_by_link(call: Call, askings: Sequence[Asking]) -> list[Entry]:
    """The client has used up its retries: ask by links, if possible."""
    why = "the client has retried the call as often as it does"
    for question in (asking.question for asking in askings):
        refused = question.via is not None and "link" not in question.via
        if refused or _link.why_not(call, question) is not None:
            raise NoChannel(why, mode="url", reasons={"required": why})
    return await _link.carry(call, askings)


_link: Final = Link()


def _sent_mark(asking: Asking) -> str:
    """The mark in the journal that the client was sent there."""
    return mark_name("required", asking.identity)


# --- the retry ---------------------------------------------------------------------------------


def _retries_of(call: Call) -> int:
    """How often this client declares to retry a call."""
    declared = _meta_of(call.params).get(protocol.RETRIES)
    return declared if type(declared) is int and declared > 0 else 0


def comes_back(call: Call) -> bool:
    """Whether the client retries the call, and brings its code."""
    return _retries_of(call) > 0


async def give_code(call: Call, error: UrlElicitationRequiredError) -> None:
    """Add a code to the error, if the client brings it back and there's no other way to resume the call."""
    keeping = call.installation.keeping
    if keeping is not None and comes_back(call) and not call.modern and not call.session.can_send_request:
        error.data["_meta"] = {protocol.CODE: await _create_code(call, keeping)}


async def _create_code(call: Call, keeping: Keeping) -> str:
    journal = call.journal
    journal.call = call.name
    journal.rounds += 1
    journal.turn += 1
    journal.owner = call.installation.runs.owner_of(call)
    call.replay.mark(_REQUEST, "retry", _digest(call.method, call.params))
    text = encode(journal)
    journal.forget(_REQUEST)
    return await keeping.put_code(call, text)


def retry_code(ctx: ServerRequestContext[Any, Any]) -> str | None:
    """The code that this request brings back; None if it isn't a retry."""
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return None
    code = _meta_of(ctx.params).get(protocol.CODE)
    return code if isinstance(code, str) else None


def fits_request(journal: Journal, ctx: ServerRequestContext[Any, Any]) -> bool:
    """Whether a journal behind a code is for this request: a retry must repeat the request that got the error."""
    mark = journal.entry(_REQUEST)
    if retry_code(ctx) is None:
        return mark is None
    return mark is not None and mark.value == _digest(ctx.method, ctx.params)


def forget_request(journal: Journal) -> None:
    """The client has retried: the journal isn't bound to the request any more."""
    journal.forget(_REQUEST)


def _meta_of(params: Mapping[str, Any] | None) -> Mapping[str, Any]:
    found = (params or {}).get("_meta")
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}


def _digest(method: str, params: Mapping[str, Any] | None) -> str:
    """Identifies the request, ignoring its `_meta`."""
    without_meta = {name: value for name, value in (params or {}).items() if name != "_meta"}
    text = json.dumps([method, without_meta], sort_keys=True, separators=(",", ":"))
    return urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:18]).decode()
