"""A call that is not finished, and goes on later: its result names a code, and a tool takes it.

People are slow, and clients give a call only so much time and so many rounds. What was recorded is
kept in the store; `midcall_continue(code)` goes on from there, for the same user, once, on any replica.
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
from midcall.server.channels.relay import RELAYED
from midcall.server.frameworks.errors import stamped
from midcall.server.resuming import retry
from midcall.wording import later as wording

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from midcall.server.call import Call
    from midcall.server.installation import Installation

__all__ = [
    "code_in",
    "has_code",
    "listed",
    "not_understood",
    "nothing_under",
    "relayed_in",
    "take_answer",
    "taken",
    "unfinished",
]


_TOOL: Final = Tool(
    name=CONTINUE,
    title=wording.continue_title(),
    description=wording.continue_description(),
    input_schema={
        "type": "object",
        "properties": {"code": {"type": "string", "description": wording.continue_code()}},
        "required": ["code"],
        "additionalProperties": False,
    },
)

_ANSWER_TOOL: Final = Tool(
    name=ANSWER,
    title=wording.answer_title(),
    description=wording.answer_description(),
    input_schema={
        "type": "object",
        "properties": {
            "code": {"type": "string", "description": wording.continue_code()},
            "action": {"enum": ["accept", "decline", "cancel"], "description": wording.answer_action()},
            "content": {"type": "object", "description": wording.answer_content()},
        },
        "required": ["code", "action"],
        "additionalProperties": False,
    },
)


async def unfinished(call: Call, why: str, *, now: bool = False) -> dict[str, Any]:
    """The result of a call that goes on later, or right `now`, where nobody has anything to do first.

    It is no failure, but only an error needs no structured content.

    Raises:
        UrlElicitationRequiredError: The client is sent somewhere first, and makes the call again.
    """
    if call.requires:
        raise retry.sent_away(call)
    journal = call.journal
    journal.call = call.name
    journal.foreign = call.foreign
    journal.target = journal.target or _target(call.params)
    journal.rounds = 0
    journal.turn += 1
    journal.owner = call.installation.runs.owner_of(call)
    code = await _put_code(call, journal)
    not_finished = wording.go_on_now if now else wording.not_finished
    text = wording.answer_with(why, ANSWER, code) if call.relays else not_finished(why, CONTINUE, code)
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": True}
    result = stamped(result, call, "complete")
    result["_meta"] = {**result.get("_meta", {}), **(call.for_programs or {}), CODE: code}
    if now:
        result["_meta"][NOW] = True
    return result


async def _put_code(call: Call, journal: Journal) -> str:
    """A code for this call, kept in the store; without one it lives in this process."""
    if (keeping := call.installation.keeping) is not None:
        return await keeping.put_code(call, encode(journal))
    code = secrets.token_urlsafe(16)
    call.installation.runs.put_state(code, call, encode(journal))
    return code


def _target(params: Mapping[str, Any] | None) -> Target:
    params = params or {}
    return Target(str(params.get("name", "")), params.get("arguments"))


def has_code(ctx: ServerRequestContext[Any, Any]) -> bool:
    """Whether this request may bring a code."""
    return ctx.method == "tools/call" and (ctx.params or {}).get("name") in (CONTINUE, ANSWER)


def code_in(ctx: ServerRequestContext[Any, Any]) -> str | None:
    """The code in a call of a tool that goes on, or in a retry; None if this is no such call."""
    if (code := retry.code_in(ctx)) is not None:
        return code
    params = ctx.params or {}
    if ctx.method != "tools/call" or params.get("name") not in (CONTINUE, ANSWER):
        return None
    arguments = params.get("arguments")
    code = cast("Mapping[str, Any]", arguments).get("code") if isinstance(arguments, Mapping) else None
    return code if isinstance(code, str) else ""


async def taken(installation: Installation, ctx: ServerRequestContext[Any, Any], code: str) -> str | None:
    """The state of the call that this code names: for its owner, once.

    The code is not used up by what it is not for, or by an answer that cannot be read.
    """
    keeping, owner = installation.keeping, installation.owner(ctx)
    relayed = relayed_in(ctx)
    if relayed is not None:
        parse_answer(relayed)
    if keeping is None:
        return installation.runs.take_state(code, owner)
    text = await keeping.behind_code(installation, code, owner)
    if text is None or not retry.fits(decode(text), ctx):
        return None
    return text if await keeping.use_code(code, owner) else None


def relayed_in(ctx: ServerRequestContext[Any, Any]) -> Mapping[str, Any] | None:
    """The answer that the model brings with its code, if it does."""
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


def listed(result: HandlerResult, *, relay: bool) -> HandlerResult:
    """A list of tools, with ours at its end."""
    ours = [_TOOL, _ANSWER_TOOL] if relay else [_TOOL]
    if isinstance(result, ListToolsResult):
        if result.next_cursor is not None:
            return result
        return result.model_copy(update={"tools": [*result.tools, *ours]})
    if not isinstance(result, Mapping) or result.get("nextCursor") is not None:
        return result
    added = [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in ours]
    return {**result, "tools": [*result.get("tools", ()), *added]}


def nothing_under(call: Call) -> dict[str, Any]:
    """The result for a code that leads nowhere.

    Raises:
        MCPError: Only a tool has a result for it.
    """
    if call.method != "tools/call":
        raise MCPError(INVALID_PARAMS, wording.unknown_code())
    return _told(call, wording.unknown_code())


def not_understood(call: Call, why: MalformedAnswer) -> dict[str, Any]:
    """The result for an answer that the model brings and that is none. The code is as good as before."""
    return _told(call, wording.answer_again(why.text, ANSWER))


def _told(call: Call, text: str) -> dict[str, Any]:
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": True}
    return stamped(result, call, "complete")
