"""Tools that ask through each framework's own API, and calls that a test makes one request at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import fastmcp
from mcp import Client
from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context
from mcp_types import (
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequest,
    InputRequiredResult,
)
from pydantic import BaseModel

import midcall
from tests.kinds import bare_server
from tests.rounds import text

Means = Literal["mcpserver", "lowlevel", "fastmcp", "ask"]
MEANS: tuple[Means, ...] = ("mcpserver", "lowlevel", "fastmcp", "ask")
"""How a tool asks: with `ctx.elicit` or the session of one kind of server, or with `midcall.ask`."""

Elicit = Callable[[str], Awaitable[str]]
Body = Callable[[Elicit], Awaitable[str]]


class Word(BaseModel):
    word: str


WORD = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}


def bare_asking(means: Means, *bodies: Body, **settings: Any) -> Any:
    """A server with these settings, without midcall. Each body becomes a tool with its name, and asks this way."""
    tools = [_TOOLS[means](body) for body in bodies]
    for tool, body in zip(tools, bodies, strict=True):
        tool.__name__ = body.__name__
    return bare_server("mcpserver" if means == "ask" else means, *tools, **settings)


def asking(means: Means, *bodies: Body, **options: Any) -> Any:
    """The same with midcall, installed with these options."""
    server = bare_asking(means, *bodies)
    midcall.install(server, **options)
    return server


def _on_mcpserver(body: Body) -> Callable[..., Any]:
    async def tool(ctx: Context) -> str:
        async def elicit(message: str) -> str:
            answer: Any = await ctx.elicit(message, Word)
            return answer.data.word if answer.action == "accept" else answer.action

        return await body(elicit)

    return tool


def _on_lowlevel(body: Body) -> Callable[..., Any]:
    async def tool(ctx: ServerRequestContext[Any]) -> str:
        async def elicit(message: str) -> str:
            answer = await ctx.session.elicit_form(message, WORD, ctx.request_id)
            return str(answer.content["word"]) if answer.content else answer.action

        return await body(elicit)

    return tool


def _on_fastmcp(body: Body) -> Callable[..., Any]:
    async def tool(ctx: fastmcp.Context) -> str:
        async def elicit(message: str) -> str:
            answer: Any = await ctx.elicit(message, str)
            return answer.data if answer.action == "accept" else answer.action

        return await body(elicit)

    return tool


def _by_ask(body: Body) -> Callable[..., Any]:
    async def tool() -> str:
        return await body(lambda message: midcall.ask(message, str))

    return tool


_TOOLS: dict[Means, Callable[[Body], Callable[..., Any]]] = {
    "mcpserver": _on_mcpserver,
    "lowlevel": _on_lowlevel,
    "fastmcp": _on_fastmcp,
    "ask": _by_ask,
}


@dataclass(frozen=True, slots=True)
class Round:
    """The result of a request: open questions, and the state to answer them with."""

    tool: str
    arguments: dict[str, Any]
    result: InputRequiredResult = field(repr=False)

    @property
    def state(self) -> str:
        assert self.result.request_state is not None
        return self.result.request_state

    @property
    def requests(self) -> Mapping[str, InputRequest]:
        return self.result.input_requests or {}

    @property
    def asked(self) -> list[str]:
        """The questions of this round."""
        return sorted(r.params.message for r in self.requests.values() if isinstance(r, ElicitRequest))

    def responses(self, answers: Mapping[str, Any]) -> dict[str, Any]:
        """These answers by message in wire form: a word, or an `ElicitResult`."""
        return {
            key: _response(request, answers[request.params.message])
            for key, request in self.requests.items()
            if isinstance(request, ElicitRequest) and request.params.message in answers
        }


def _response(request: ElicitRequest, answer: Any) -> ElicitResult:
    if isinstance(answer, ElicitResult):
        return answer
    assert isinstance(request.params, ElicitRequestFormParams)
    [name] = request.params.requested_schema["properties"]
    return ElicitResult(action="accept", content={name: answer})


async def send(
    client: Client,
    tool: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    responses: Mapping[str, Any] | None = None,
    state: str | None = None,
    **options: Any,
) -> Round | CallToolResult:
    """Send one request of a call and return its result."""
    result = await client.session.call_tool(
        tool,
        dict(arguments or {}),
        input_responses=None if responses is None else dict(responses),
        request_state=state,
        allow_input_required=True,
        **options,
    )
    return Round(tool, dict(arguments or {}), result) if isinstance(result, InputRequiredResult) else result


async def begin(client: Client, tool: str, arguments: Mapping[str, Any] | None = None, **options: Any) -> Round:
    """Send the first request of a call that asks."""
    first = await send(client, tool, arguments, **options)
    assert isinstance(first, Round), text(first)
    return first


async def retry(client: Client, round: Round, answers: Mapping[str, Any], **options: Any) -> Round | CallToolResult:
    """Send the next request of this call, with these answers by message."""
    return await send(
        client, round.tool, round.arguments, responses=round.responses(answers), state=round.state, **options
    )


async def proceed(client: Client, round: Round, answers: Mapping[str, Any], **options: Any) -> Round:
    """Send the next request; the call asks again."""
    again = await retry(client, round, answers, **options)
    assert isinstance(again, Round), text(again)
    return again


async def finish(client: Client, round: Round, answers: Mapping[str, Any], **options: Any) -> str:
    """Send the last request of the call and return its text."""
    done = await retry(client, round, answers, **options)
    assert isinstance(done, CallToolResult), done
    assert not done.is_error, text(done)
    return text(done)
