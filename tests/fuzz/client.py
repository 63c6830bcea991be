"""A hostile server: for everything it sends, our client shows the question, refuses it, or says what is wrong."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any, Final

import anyio
from mcp import MCPError
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

from midcall.client.asked import Asked
from midcall.client.connection.connect import connect
from midcall.client.transport.target import CannotConnect
from midcall.client.urls import look
from midcall.core.forms.check import check, fill
from midcall.core.outcome import Accepted, Declined, Outcome
from midcall.errors import MidcallError
from midcall.protocol import NEWEST, VERSIONS
from midcall.web.forms import PAGES
from tests.client.raw import final, form, round_of, told
from tests.fuzz.fuzzer import REJECTED, Take, Target, check_output
from tests.fuzz.mutation import mutate_data

INFO: Final = {"name": "raw", "title": "Raw server", "version": "7"}
FIELDS: Final = {
    "name": {"type": "string", "title": "Name", "default": "Ada", "maxLength": 40},
    "days": {"type": "integer", "minimum": 1, "default": 4},
    "seat": {"type": "string", "enum": ["w", "a"], "enumNames": ["Window", "Aisle"]},
}
VISIT: Final = {"mode": "url", "message": "Sign in", "url": "https://example.com/in", "elicitationId": "v1"}
QUESTIONS: Final = (form(), form("Tell me about the trip", **FIELDS), {**form(), "mode": "form"}, VISIT)
MESSAGES: Final = (
    {"method": "notifications/elicitation/complete", "params": {"elicitationId": "v1"}},
    {"method": "notifications/message", "params": {"level": "info", "data": "hello", "logger": "x"}},
    {"method": "notifications/progress", "params": {"progressToken": 1, "progress": 1, "total": 2, "message": "x"}},
    {"method": "notifications/tools/list_changed"},
    {"id": "r1", "method": "roots/list"},
    {"id": "s1", "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 5}},
    {"id": 99, "result": {"content": []}},
    {"id": 98, "error": {"code": -32000, "message": "x"}},
)
ERRORS: Final = (
    {"code": -32042, "message": "Visit first", "data": {"elicitations": [VISIT]}},
    {"code": -32602, "message": "wrong", "data": {"reason": "x"}},
)
TOOL: Final = {"name": "it", "inputSchema": {"type": "object"}, "title": "It", "description": "Does it"}

SETS: Final = ("[b-\ud7ff]", "(?i)[\u0100-\U0010ffff]", r"[\u0100-\uffff]", "[^a]", "(?=.*a)", "(?:.?.?)", "(a+)+")

Made = tuple[str, dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]
"""The version, the results by method, what comes before a call's result, and the results of the call, in order."""


def _make(random: Random) -> Made:
    version = random.choice(VERSIONS)
    extra = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if version == NEWEST else {}
    results: dict[str, Any] = {
        "initialize": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": INFO},
        "server/discover": {
            "supportedVersions": [NEWEST],
            "capabilities": {"tools": {}},
            "_meta": {"io.modelcontextprotocol/serverInfo": INFO},
            **extra,
        },
        "tools/list": {"tools": [TOOL, {**TOOL, "name": "other"}], **extra},
    }
    if not random.randrange(40):
        results["tools/list"]["tools"] += [random.choice(({}, [], 0, {"name": "x"}))] * 20_000
    if not random.randrange(4):
        name = random.choice(list(results))
        results[name] = mutate_data(random, results[name])
    before = [mutate_data(random, _pushed(random, version)) for _ in range(random.choice((0, 1, 1, 2)))]
    return version, results, before, [_make_reply(random, version) for _ in range(3)]


def _pushed(random: Random, version: str) -> dict[str, Any]:
    if version == NEWEST or not random.randrange(3):
        return random.choice(MESSAGES)
    return {"id": f"q{random.randrange(3)}", "method": "elicitation/create", "params": _question(random)}


def _question(random: Random) -> dict[str, Any]:
    """An ordinary question, or rarely one with very much of something odd."""
    match random.randrange(50):
        case 0:
            pattern = random.choice(SETS) * random.choice((1, 30, 150))
            return form(**{f"x{n}": {"type": "string", "pattern": f"{pattern}{n}"} for n in range(40)})
        case 1:
            return {**form(), "requestedSchema": {"type": "object", "properties": {}, "required": [{}] * 20_000}}
        case _:
            return random.choice(QUESTIONS)


def _make_reply(random: Random, version: str) -> dict[str, Any]:
    kind = random.randrange(8)
    if kind == 0:
        return {"error": mutate_data(random, random.choice(ERRORS))}
    if kind < 6 and version == NEWEST:
        asked = {f"k{n}": _question(random) for n in range(random.choice((1, 1, 2)))}
        return {"result": mutate_data(random, round_of(asked, "state"))}
    return {"result": mutate_data(random, final() if version == NEWEST else told("done", structuredContent={"a": 1}))}


class _Server:
    """Answers each request with its prepared result."""

    def __init__(self, made: Made) -> None:
        self._version, self._results, self._before, self._replies = made
        self._replies = [*self._replies, {"result": final("the end")}]

    @asynccontextmanager
    async def transport(self) -> AsyncIterator[Any]:
        async with create_client_server_memory_streams() as (client, (read, write)), anyio.create_task_group() as group:
            group.start_soon(self._serve, read, write)
            yield client
            group.cancel_scope.cancel()

    async def _serve(self, read: Any, write: Any) -> None:
        async for item in read:
            message = item.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
            if "method" not in message or "id" not in message:
                continue
            method = message["method"]
            if method == "tools/call":
                for each in self._before:
                    await _send(write, each)
                reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
            elif method in self._results and (method != "server/discover" or self._version == NEWEST):
                reply = {"result": self._results[method]}
            else:
                reply = {"error": {"code": -32601, "message": "unknown"}}
            if not await _send(write, {"id": message["id"], **reply}):
                await _send(write, {"id": message["id"], "error": {"code": -32603, "message": "nothing to say"}})


async def _send(write: Any, message: Any) -> bool:
    """Whether this could be sent; what isn't JSON-RPC arrives as an exception, as over every transport."""
    try:
        parsed = jsonrpc_message_adapter.validate_python({"jsonrpc": "2.0", **message}, by_name=False)
    except (ValidationError, TypeError) as error:
        if isinstance(error, ValidationError):
            await write.send(error)
        return False
    await write.send(SessionMessage(parsed))
    return True


class _Person:
    """Looks at each question as our answerers do, and agrees with the defaults."""

    modes = ("form", "url")

    def __init__(self) -> None:
        self.asked = 0

    async def answer(self, asked: Asked) -> Outcome[Any]:
        self.asked += 1
        repr(asked.digest)
        again = Asked.from_data(asked.as_data())
        if asked.url is not None:
            look(asked.url)
            return Accepted(None)
        if asked.form is None or again.form is None:
            return Accepted({})
        PAGES.form(asked.form)
        content = fill(asked.form, {})
        return Declined() if check(asked.form, content) else Accepted(content)


@asynccontextmanager
async def _open() -> AsyncIterator[Take]:
    async def take(made: Made) -> str:
        person = _Person()
        era: Any = made[0]
        try:
            async with connect(_Server(made).transport(), person, era=era, patience=0.01) as client:
                await client.list_tools()
                result = await client.call_tool("it", {})
                str(result)
        except CannotConnect as error:
            check_output(str(error))
            return REJECTED
        except (MCPError, MidcallError, ValidationError, RuntimeError, ValueError) as error:
            if type(error) is ValueError and "serialization depth" not in str(error):  # the SDK's, for a deep result
                raise
            check_output(str(error))
            return "asked, then failed" if person.asked else "failed"
        return "asked" if person.asked else "called"

    logging.getLogger("client").setLevel(logging.CRITICAL)  # the SDK's
    yield take


TARGETS: Final = (Target("client", _make, _open, short=400, share=70, must=("asked", "called")),)
