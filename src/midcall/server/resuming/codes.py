"""Resume codes: an unfinished call returns a code, and a tool resumes the call with it.

People are slow, and clients limit the time and the rounds of a call. The store keeps the journal, and
`midcall_continue(code)` resumes the call from there: for the same user, once, on any replica.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from mcp.server.context import HandlerResult
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, ListToolsResult, Tool

from midcall.core.journal import Journal, Target, decode, encode
from midcall.core.replay import Replay, parse_answer
from midcall.errors import MalformedAnswer
from midcall.protocol import ANSWER, CODE, CONTINUE, NOW
from midcall.server import model_text
from midcall.server.channels.relay import RELAYED
from midcall.server.channels.required import fits_request, retry_code, visit_error

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from midcall.server.call import Call
    from midcall.server.install import Installation

_TOOL: Final = Tool(
    name=CONTINUE,
    title=model_text.CONTINUE_TITLE,
    description=model_text.CONTINUE_DESCRIPTION,
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

    It isn't a failure, but only an error result needs no structured content.

    Raises:
        UrlElicitationRequiredError: The client has to visit something first, and then makes the call again.
    """
    suspension = call.suspend()
    if suspension.requires:
        raise visit_error(call)
    journal = call.journal
    journal.target = journal.target or _target(call.params)
    journal.rounds = 0
    journal.turn += 1
    journal.owner = call.installation.runs.owner_of(call)
    code = await _put_code(call, journal)
    text = model_text.pass_on_answer(why, code) if suspension.relays else model_text.resume(why, code, now=now)
    result = _result(call, text)
    result["_meta"] = {**result.get("_meta", {}), **suspension.for_programs, CODE: code}
    if now:
        result["_meta"][NOW] = True
    return result


async def _put_code(call: Call, journal: Journal) -> str:
    """Create a code for this call, in the store if there is one, else in this process."""
    if (keeping := call.installation.keeping) is not None:
        return await keeping.put_code(call, encode(journal))
    code = secrets.token_urlsafe(16)
    call.installation.runs.put_state(code, call, encode(journal))
    return code


def _target(params: Mapping[str, Any] | None) -> Target:
    params = params or {}
    return Target(str(params.get("name", "")), params.get("arguments"))


def code_in(ctx: ServerRequestContext[Any, Any]) -> str | None:
    """The code in a call of one of our tools, or in a retry; None if this is neither."""
    if (code := retry_code(ctx)) is not None:
        return code
    params = ctx.params or {}
    if ctx.method != "tools/call" or params.get("name") not in (CONTINUE, ANSWER):
        return None
    arguments = params.get("arguments")
    code = cast("Mapping[str, Any]", arguments).get("code") if isinstance(arguments, Mapping) else None
    return code if isinstance(code, str) else ""


async def take(installation: Installation, ctx: ServerRequestContext[Any, Any], code: str) -> str | None:
    """The state of the call behind this code: for its owner, once.

    A request that the code isn't for, or an answer that can't be read, doesn't use it up.
    """
    keeping, owner = installation.keeping, installation.owner(ctx)
    if (answer := answer_in(ctx)) is not None:
        parse_answer(answer)
    if keeping is None:
        return installation.runs.take_state(code, owner)
    text = await keeping.behind_code(installation, code, owner)
    if text is None or not fits_request(decode(text), ctx):
        return None
    return text if await keeping.use_code(code, owner) else None


def answer_in(ctx: ServerRequestContext[Any, Any]) -> Mapping[str, Any] | None:
    """The answer that the model brings with its code, if any."""
    params = ctx.params or {}
    if params.get("name") != ANSWER:
        return None
    arguments: Any = params.get("arguments")
    given: Mapping[str, Any] = cast("Mapping[str, Any]", arguments) if isinstance(arguments, Mapping) else {}
    return {name: value for name, value in given.items() if name != "code"}


def take_answer(installation: Installation, journal: Journal, answer: Mapping[str, Any]) -> None:
    """Settle the question that was relayed, and no other."""
    marked = journal.entry(RELAYED)
    entry = journal.entry(marked.value) if marked is not None and installation.relay else None
    if marked is not None and entry is not None and entry.kind == "waiting":
        kind, content = parse_answer(answer)
        Replay(journal).settle(marked.value, entry, kind, content, "relay")
        journal.forget(RELAYED)


def add_tools(result: HandlerResult, *, relay: bool) -> HandlerResult:
    """Add our tools to the end of a list of tools."""
    ours = [_TOOL, _ANSWER_TOOL] if relay else [_TOOL]
    if isinstance(result, ListToolsResult):
        if result.next_cursor is not None:
            return result
        return result.model_copy(update={"tools": [*result.tools, *ours]})
    if not isinstance(result, Mapping) or result.get("nextCursor") is not None:
        return result
    added = [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in ours]
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


def _result(call: Call, text: str) -> dict[str, Any]:
    return call.stamp({"content": [{"type": "text", "text": text}], "isError": True}, "complete")
