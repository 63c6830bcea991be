"""The servers to compare: each has one tool, which asks n questions in sequence.

Every message contains the previous answer, so a correct last answer proves the whole chain. Run as a program, this
serves one of them in a separate process: `python -m bench.candidates NAME [--http]`.
"""

import argparse
import asyncio
import inspect
import json
import secrets
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Elicit, Resolve
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from pydantic import BaseModel

import midcall
from midcall import ask

SIZES: Final = (1, 5, 20, 100)

Era = Literal["2025-11-25", "2026-07-28"]
PUSH: Final[Era] = "2025-11-25"
ROUNDS: Final[Era] = "2026-07-28"


class Answer(BaseModel):
    answer: str


def question(index: int, before: str) -> str:
    return f"Question {index}: what comes after {before}?"


def answer(index: int) -> str:
    return f"answer {index}"


FIRST: Final = "nothing"
ANSWERS: Final = {question(i, answer(i - 1) if i else FIRST): answer(i) for i in range(max(SIZES))}
"""The client's answers by message. Any other message fails the run."""


def text_of(answers: list[str]) -> str:
    return ", ".join(answers)


EXPECTED: Final = {n: text_of([answer(i) for i in range(n)]) for n in SIZES}
"""The tool's result by n."""


# --- the candidates --------------------------------------------------------------------------


def with_midcall(*, live: bool = True) -> MCPServer:
    mcp = MCPServer("bench", log_level="WARNING")
    midcall.install(mcp, max_rounds=None, keys=secrets.token_hex(), live=live)

    @mcp.tool()
    async def interview(n: int) -> str:
        answers: list[str] = []
        for index in range(n):
            before = answers[-1] if answers else FIRST
            answers.append(await ask(question(index, before), str))
        return text_of(answers)

    return mcp


def replayed() -> MCPServer:
    """The same with every call replayed, as if its run were gone."""
    return with_midcall(live=False)


def by_hand() -> MCPServer:
    """The state machine that a careful author writes for 2026-07-28 only: the lower bound for rounds."""
    mcp = MCPServer("bench", log_level="WARNING")
    schema = Answer.model_json_schema()

    @mcp.tool()
    async def interview(n: int, ctx: Context) -> str | InputRequiredResult:
        answers: list[str] = json.loads(ctx.request_state) if ctx.request_state else []
        reply = (ctx.input_responses or {}).get(f"q{len(answers)}")
        if isinstance(reply, ElicitResult):
            if reply.action != "accept":
                return "Not answered."
            answers.append(Answer.model_validate(reply.content).answer)
        if len(answers) == n:
            return text_of(answers)
        message = question(len(answers), answers[-1] if answers else FIRST)
        params = ElicitRequestFormParams(message=message, requested_schema=schema)
        return InputRequiredResult(
            input_requests={f"q{len(answers)}": ElicitRequest(params=params)}, request_state=json.dumps(answers)
        )

    return mcp


def with_resolve() -> MCPServer:
    """One tool per n, because the questions are in its signature."""
    mcp = MCPServer("bench", log_level="WARNING")
    for n in SIZES:
        mcp.add_tool(_resolved(n), name=f"interview_{n}")
    return mcp


def _resolved(n: int) -> Callable[..., Any]:
    """A tool that takes all n answers, each from a resolver that depends on the previous one."""
    parameters: dict[str, Any] = {"n": int}
    before: Callable[..., Any] | None = None
    for index in range(n):
        before = _resolver(index, before)
        parameters[f"answer_{index}"] = Annotated[Answer, Resolve(before)]

    async def interview(n: int, **answers: Answer) -> str:
        return text_of([each.answer for each in answers.values()])

    keyword = inspect.Parameter.KEYWORD_ONLY
    interview.__annotations__ = {**parameters, "return": str}
    interview.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, keyword, annotation=annotation) for name, annotation in parameters.items()],
        return_annotation=str,
    )
    return interview


def _resolver(index: int, before: Callable[..., Any] | None) -> Callable[..., Any]:
    if before is None:

        async def first() -> Elicit[Answer]:
            return Elicit(question(index, FIRST), Answer)

        return first

    async def following(previous: Annotated[Answer, Resolve(before)]) -> Elicit[Answer]:
        return Elicit(question(index, previous.answer), Answer)

    return following


def with_bare_request() -> MCPServer:
    """The SDK's bare request without validation: the lower bound for push."""
    mcp = MCPServer("bench", log_level="WARNING")
    schema = Answer.model_json_schema()

    @mcp.tool()
    async def interview(n: int, ctx: Context) -> str:
        answers: list[str] = []
        send = ctx.request_context.session._request_outbound.send_raw_request
        for index in range(n):
            message = question(index, answers[-1] if answers else FIRST)
            reply = await send("elicitation/create", {"mode": "form", "message": message, "requestedSchema": schema})
            answers.append(reply["content"]["answer"])
        return text_of(answers)

    return mcp


def with_elicit() -> MCPServer:
    mcp = MCPServer("bench", log_level="WARNING")

    @mcp.tool()
    async def interview(n: int, ctx: Context) -> str:
        answers: list[str] = []
        for index in range(n):
            result = await ctx.elicit(question(index, answers[-1] if answers else FIRST), Answer)
            if result.action != "accept":
                return "Not answered."
            answers.append(result.data.answer)
        return text_of(answers)

    return mcp


def with_fastmcp() -> Any:
    import fastmcp

    mcp = fastmcp.FastMCP("bench")

    async def interview(n: int, ctx: fastmcp.Context) -> str:
        answers: list[str] = []
        for index in range(n):
            result = await ctx.elicit(question(index, answers[-1] if answers else FIRST), str)
            if result.action != "accept":
                return "Not answered."
            answers.append(result.data)
        return text_of(answers)

    mcp.tool(interview)
    return mcp


# --- tools that never ask -------------------------------------------------------------------------


def silent() -> MCPServer:
    mcp = MCPServer("bench", log_level="WARNING")

    @mcp.tool()
    async def echo(text: str) -> str:
        return text

    return mcp


def silent_with_midcall() -> MCPServer:
    mcp = silent()
    midcall.install(mcp, keys=secrets.token_hex())
    return mcp


# --- by name ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Candidate:
    name: str
    label: str
    era: Era
    build: Callable[[], Any]
    field: str = "answer"
    """The name of its forms' only field."""
    own_client: bool = False
    """Called by FastMCP's client instead of the SDK's."""

    def tool(self, n: int) -> str:
        return f"interview_{n}" if self.build is with_resolve else "interview"


CANDIDATES: Final = (
    Candidate("rounds", "midcall, live", ROUNDS, with_midcall),
    Candidate("replayed", "midcall, replayed", ROUNDS, replayed),
    Candidate("by-hand", "hand-written state machine", ROUNDS, by_hand),
    Candidate("resolve", "SDK, Resolve chain", ROUNDS, with_resolve),
    Candidate("push", "midcall", PUSH, with_midcall),
    Candidate("bare", "SDK, bare request", PUSH, with_bare_request),
    Candidate("elicit", "SDK, ctx.elicit", PUSH, with_elicit),
    Candidate("fastmcp", "FastMCP, ctx.elicit", PUSH, with_fastmcp, field="value"),
    Candidate("fastmcp-own", "FastMCP, ctx.elicit, its client", PUSH, with_fastmcp, field="value", own_client=True),
)
SILENT: Final = (
    Candidate("silent", "without midcall", ROUNDS, silent),
    Candidate("silent-midcall", "with midcall", ROUNDS, silent_with_midcall),
)
"""Their tool never asks. Called on both versions."""
BY_NAME: Final = {candidate.name: candidate for candidate in (*CANDIDATES, *SILENT)}


async def _serve_http(app: Any) -> None:
    import uvicorn

    # Without IPPROTO_TCP, asyncio leaves Nagle's algorithm on: 40 ms per round.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
    await uvicorn.Server(uvicorn.Config(app, log_level="warning")).serve(sockets=[listening])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=BY_NAME)
    parser.add_argument("--http", action="store_true", help="serve HTTP, and print the URL; else stdio")
    arguments = parser.parse_args()
    server = BY_NAME[arguments.name].build()
    if isinstance(server, MCPServer):
        asyncio.run(_serve_http(server.streamable_http_app()) if arguments.http else server.run_stdio_async())
    else:
        quiet = {"show_banner": False, "log_level": "WARNING"}
        asyncio.run(_serve_http(server.http_app()) if arguments.http else server.run_stdio_async(**quiet))


if __name__ == "__main__":
    main()
