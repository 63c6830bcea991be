"""A call that is made again after the error -32042, and goes on where it stopped.

A client of ours says in its request that it comes back. It gets a code with the error, and its retry brings it: the
journal behind it is for the same user and the same request, once. The code is no id of a visit, since those stand in
addresses, which people hand on.
"""

from __future__ import annotations

import hashlib
import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from mcp.shared.exceptions import UrlElicitationRequiredError
from mcp_types import ElicitRequestURLParams
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from midcall import protocol
from midcall.core.journal import Journal, encode, mark_name
from midcall.wording import later as wording

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from midcall.server.call import Call
    from midcall.server.resuming.storage import Keeping

__all__ = ["code_in", "comes_back", "fits", "forget_request", "give_code", "retries_of", "sent_away"]

_REQUEST: Final = mark_name("retry")
"""The mark in the journal: which request the code is for."""


def retries_of(call: Call) -> int:
    """How often this client makes the call again, as far as it says so."""
    said = _meta_of(call.params).get(protocol.RETRIES)
    return said if type(said) is int and said > 0 else 0


def comes_back(call: Call) -> bool:
    """Whether the client makes the call again, and brings its code."""
    return retries_of(call) > 0


def sent_away(call: Call) -> UrlElicitationRequiredError:
    """The error that sends the client to what the call requires."""
    visits = [ElicitRequestURLParams.model_validate(params) for params in (call.requires or {}).values()]
    return UrlElicitationRequiredError(visits, wording.needs_visits(len(visits)))


async def give_code(call: Call, error: UrlElicitationRequiredError) -> None:
    """Let the error carry a code, if the client brings it back and there is no other way to go on with the call."""
    keeping = call.installation.keeping
    if keeping is not None and comes_back(call) and not call.modern and not call.session.can_send_request:
        error.data["_meta"] = {protocol.CODE: await _code(call, keeping)}


async def _code(call: Call, keeping: Keeping) -> str:
    journal = call.journal
    journal.call = call.name
    journal.rounds += 1
    journal.turn += 1
    journal.owner = call.installation.runs.owner_of(call)
    call.replay.mark(_REQUEST, "retry", _digest(call.method, call.params))
    text = encode(journal)
    journal.forget(_REQUEST)
    return await keeping.put_code(call, text)


def code_in(ctx: ServerRequestContext[Any, Any]) -> str | None:
    """The code that this request brings back; None if it is no retry."""
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return None
    code = _meta_of(ctx.params).get(protocol.CODE)
    return code if isinstance(code, str) else None


def fits(journal: Journal, ctx: ServerRequestContext[Any, Any]) -> bool:
    """Whether the journal is for this request: a retry of the one that was sent away, or of none."""
    mark = journal.entry(_REQUEST)
    if code_in(ctx) is None:
        return mark is None
    return mark is not None and mark.value == _digest(ctx.method, ctx.params)


def forget_request(journal: Journal) -> None:
    """The request that was sent away has come back."""
    journal.forget(_REQUEST)


def _meta_of(params: Mapping[str, Any] | None) -> Mapping[str, Any]:
    found = (params or {}).get("_meta")
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}


def _digest(method: str, params: Mapping[str, Any] | None) -> str:
    """Names the request, whatever its `_meta` says."""
    asked = {name: value for name, value in (params or {}).items() if name != "_meta"}
    text = json.dumps([method, asked], sort_keys=True, separators=(",", ":"))
    return urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:18]).decode()
