"""Resume codes: an unfinished call returns a code, and a tool or a retry resumes the call with it.

People are slow, and clients limit the time and the rounds of a call. The store keeps the journal, and
`midcall_continue(code)` resumes the call from there: for the same user, on any replica. A code names a turn, which
continues once: the same code again joins it, and gets what it came to.

A client that retries after the error -32042 brings back the code that came with the error. It works for the same
request only. It isn't the id of a visit, because those are in addresses, which people pass on.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from mcp.server.context import HandlerResult
from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError
from mcp_types import INVALID_PARAMS, ClientCapabilities, ElicitRequestURLParams, ListToolsResult, Tool
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel

from midcall.core.journal import Journal, Target, encode, mark_name
from midcall.core.replay import parse_answer
from midcall.core.text import plain_line
from midcall.core.wire import spell
from midcall.errors import JournalTooLarge, MalformedAnswer
from midcall.protocol import ANSWER, CODE, CONTINUE, NOW, RETRIES
from midcall.server import model_text
from midcall.server.channels.relay import RELAYED
from midcall.server.resuming.pages import Page, addresses_of, note_pages
from midcall.settings.calls import STATE_BYTES

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from midcall.server.call import Call
    from midcall.server.installation import Installation

_REQUEST: Final = mark_name("retry")
"""The mark in the journal: which request the code of a retry is for."""


def _continue_tool(installation: Installation) -> Tool:
    return Tool(
        name=CONTINUE,
        title=model_text.CONTINUE_TITLE,
        description=model_text.continue_description(plain_line(installation.server_title)),
        annotations=installation.continue_annotations,
        input_schema={
            "type": "object",
            "properties": {"code": {"type": "string", "description": model_text.CODE}},
            "required": ["code"],
            "additionalProperties": False,
        },
    )


_ANSWER_TOOL: Final = Tool(
    name=ANSWER,
    title=model_text.ANSWER_TITLE,
    description=model_text.ANSWER_DESCRIPTION,
    input_schema={
        "type": "object",
        "properties": {
            "code": {"type": "string", "description": model_text.CODE},
            "action": {"enum": ["accept", "decline", "cancel"], "description": model_text.ANSWER_ACTION},
            "content": {"type": "object", "description": model_text.ANSWER_CONTENT},
        },
        "required": ["code", "action"],
        "additionalProperties": False,
    },
)


async def finish_later(call: Call, why: str, *, now: bool = False) -> dict[str, Any]:
    """The result of a call that resumes later, or right `now` if nobody has to do anything first.

    Raises:
        UrlElicitationRequiredError: The client has to visit something first, and then makes the call again.
    """
    suspension = call.suspend()
    if suspension.requires:
        visits = [ElicitRequestURLParams.model_validate(params) for params in suspension.requires.values()]
        raise UrlElicitationRequiredError(visits, model_text.visit_first(len(visits)))
    params, journal = call.params or {}, call.journal
    journal.target = journal.target or Target(str(params.get("name", "")), params.get("arguments"))
    journal.rounds = journal.holds = 0
    note_pages(call, suspension.pages.values())
    code = await _put_code(call)
    text = model_text.pass_on_answer(why, code) if suspension.relays else model_text.resume(why, code, now=now)
    return _unfinished(call, text, {**suspension.for_programs, CODE: code, **({NOW: True} if now else {})})


async def _put_code(call: Call) -> str:
    """Create a code for this call, in the store if there is one, else in this process."""
    call.journal.turn += 1
    call.journal.asked = ()
    call.journal.owner = call.installation.runs.owner_of(call)
    text = encode(call.journal)
    if (keeping := call.installation.keeping) is not None:
        code = await keeping.put_code(call, text)
    else:
        call.size = len(text)
        if len(text) > STATE_BYTES and not call.installation.runs.has_room(call):
            raise JournalTooLarge(len(text), STATE_BYTES)
        code = spell(secrets.token_bytes(16))
        call.installation.runs.states.put(code, call, text if call.ended else text.partition("\n")[0])
    call.audit("code.issued")
    return code


def code_in(ctx: ServerRequestContext[Any, Any]) -> str | None:
    """The code in a call of one of our tools, or in a retry; None if this is neither."""
    if (code := retry_code(ctx)) is not None:
        return code
    if ctx.method != "tools/call" or (ctx.params or {}).get("name") not in (CONTINUE, ANSWER):
        return None
    code = _mapping_in(ctx.params, "arguments").get("code")
    return code if isinstance(code, str) else ""


def still_waits(call: Call, code: str, pages: Sequence[Page]) -> dict[str, Any]:
    """The result of a request that has waited for these pages long enough. Its code still works."""
    from midcall.server.channels.apps.opening import for_app, newest_step

    in_app = any(page.kind == "app" for page in pages)
    why = model_text.not_finished(addresses_of(pages), in_app=in_app)
    shown = for_app(call, newest_step(call)) if in_app else {}
    return _unfinished(call, model_text.resume(why, code), {**shown, CODE: code})


def _unfinished(call: Call, text: str, for_programs: Mapping[str, Any]) -> dict[str, Any]:
    """The result of an unfinished call, which isn't a failure.

    But if the client has seen an output schema, only an error needs no structured content.
    """
    ordinary = ends_unfinished(call.installation, call.session.client_capabilities)
    result = _result(call, text, is_error=not ordinary)
    result["_meta"] = {**result.get("_meta", {}), **for_programs}
    return result


def answer_in(ctx: ServerRequestContext[Any, Any]) -> Mapping[str, Any] | None:
    """The answer that the model brings with its code, if any."""
    if (ctx.params or {}).get("name") != ANSWER:
        return None
    return {name: value for name, value in _mapping_in(ctx.params, "arguments").items() if name != "code"}


def take_answer(call: Call, answer: Mapping[str, Any]) -> None:
    """Settle the question that was relayed, and no other."""
    journal = call.journal
    marked = journal.entry(RELAYED)
    entry = journal.entry(marked.value) if marked is not None and call.installation.relay else None
    if marked is not None and entry is not None and entry.kind == "waiting":
        kind, content = parse_answer(answer)
        call.replay.settle(marked.value, entry, kind, content, "relay")
        journal.forget(RELAYED)


def add_tools(result: HandlerResult, installation: Installation) -> HandlerResult:
    """Add our tools to the end of a list of tools."""
    return append_tools(result, _continue_tool(installation), *([_ANSWER_TOOL] if installation.relay else []))


def ends_unfinished(installation: Installation, capabilities: ClientCapabilities | None) -> bool:
    """Whether a question to this client ends the call with a link or an App, since it has no elicitation.

    Then it sees no output schemas, which such a result could not fit.
    """
    if capabilities is not None and capabilities.elicitation is not None:
        return False
    if installation.portal is not None or installation.relay:
        return True
    from midcall.server.channels.apps.requests import shows_apps

    return installation.keeping is not None and shows_apps(installation, capabilities)


def drop_output_schemas(result: HandlerResult) -> HandlerResult:
    """A list of tools without their output schemas, for one kind of client: no cache may share it."""
    if isinstance(result, BaseModel):
        result = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    if not isinstance(result, Mapping):
        return result
    listed = cast("Sequence[Mapping[str, Any]]", result.get("tools", ()))
    tools = [{name: value for name, value in tool.items() if name != "outputSchema"} for tool in listed]
    return {**result, "tools": tools, **({"cacheScope": "private"} if "cacheScope" in result else {})}


def append_tools(result: HandlerResult, *tools: Tool) -> HandlerResult:
    """A list of tools, with these on its last page."""
    if isinstance(result, ListToolsResult):
        if result.next_cursor is not None:
            return result
        return result.model_copy(update={"tools": [*result.tools, *tools]})
    if not isinstance(result, Mapping) or result.get("nextCursor") is not None:
        return result
    added = [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in tools]
    return {**result, "tools": [*result.get("tools", ()), *added]}


def refuse_code(call: Call) -> dict[str, Any]:
    """The result for a code that doesn't work.

    Raises:
        MCPError: It isn't a tool call, so it has no result.
    """
    if call.method != "tools/call":
        raise MCPError(INVALID_PARAMS, model_text.UNKNOWN_CODE)
    return _result(call, model_text.UNKNOWN_CODE)


def refuse_answer(call: Call, why: MalformedAnswer) -> dict[str, Any]:
    """The result for an answer of the model that can't be read. The code still works."""
    return _result(call, model_text.answer_again(why.text))


def _result(call: Call, text: str, *, is_error: bool = True) -> dict[str, Any]:
    return call.stamp({"content": [{"type": "text", "text": text}], "isError": is_error}, "complete")


def _mapping_in(params: Mapping[str, Any] | None, name: str) -> Mapping[str, Any]:
    """A mapping in the params that a client sent; empty if it sent anything else."""
    found = (params or {}).get(name)
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}


# --- a retry after -32042 ----------------------------------------------------------------------


def why_not_sent_away(call: Call) -> str | None:
    """Why -32042 can't be sent in this call; None if it can, to a client that comes back."""
    if call.modern:
        return f"protocol {call.version} has no error -32042"
    if call.session.can_send_request:
        return "this connection has a way back to the client"
    if call.installation.keeping is None:
        return "there is no store (install(..., store=...))"
    return call.lacks_visit_errors()


def retries_of(call: Call) -> int:
    """How often this client declares to retry a call."""
    declared = _mapping_in(call.params, "_meta").get(RETRIES)
    return declared if type(declared) is int and declared > 0 else 0


def comes_back(call: Call) -> bool:
    """Whether the client retries the call, and brings its code."""
    return retries_of(call) > 0


async def give_code(call: Call, error: UrlElicitationRequiredError) -> None:
    """Add a code to the error, if the client brings it back and there's no other way to resume the call."""
    if call.installation.keeping is None or not comes_back(call) or call.modern or call.session.can_send_request:
        return
    call.journal.rounds += 1
    call.replay.mark(_REQUEST, "retry", _digest(call.method, call.params))
    try:
        error.data["_meta"] = {CODE: await _put_code(call)}
    finally:
        forget_request(call.journal)


def retry_code(ctx: ServerRequestContext[Any, Any]) -> str | None:
    """The code that this request brings back; None if it isn't a retry."""
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return None
    code = _mapping_in(ctx.params, "_meta").get(CODE)
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


def _digest(method: str, params: Mapping[str, Any] | None) -> str:
    """Identifies the request, ignoring its `_meta`."""
    without_meta = {name: value for name, value in (params or {}).items() if name != "_meta"}
    text = json.dumps([method, without_meta], sort_keys=True, separators=(",", ":"))
    return urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:18]).decode()
