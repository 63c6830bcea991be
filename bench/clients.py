"""Clients that answer immediately, and verify that the measured work really happened."""

import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final, Literal

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.server.mcpserver import MCPServer
from mcp_types import ElicitResult, TextContent

from bench.candidates import ANSWERS, EXPECTED, PUSH, ROUNDS, Candidate, Era

Transport = Literal["memory", "stdio", "http"]
TRANSPORTS: Final[tuple[Transport, ...]] = ("memory", "stdio", "http")

ROOT: Final = Path(__file__).resolve().parent.parent
_MANY_ROUNDS: Final = 1000


class Wrong(Exception):
    """A candidate didn't do the work that is measured."""


class Caller:
    """A connected candidate."""

    def __init__(self, candidate: Candidate) -> None:
        self.candidate = candidate
        self.asked = 0
        self.call: Callable[[str, dict[str, Any]], Awaitable[Any]]

    async def answer(self, context: object, params: Any) -> ElicitResult:
        """The `elicitation_callback`."""
        self.asked += 1
        return ElicitResult(action="accept", content={self.candidate.field: ANSWERS[params.message]})

    async def answer_fastmcp(self, message: str, response_type: Any, params: Any, context: object) -> Any:
        """The same for FastMCP's client, which turns every form into a class."""
        self.asked += 1
        return response_type(**{self.candidate.field: ANSWERS[message]})

    def check(self, n: int, result: Any) -> None:
        """Verify that n questions were asked and answered, and that the tool got all answers."""
        asked, self.asked = self.asked, 0
        text = "".join(block.text for block in result.content if isinstance(block, TextContent))
        if result.is_error or text != EXPECTED[n] or asked != n:
            raise Wrong(f"{self.candidate.name} asked {asked} of {n} questions and returned {text!r}")


@asynccontextmanager
async def connected(candidate: Candidate, transport: Transport) -> AsyncGenerator[Caller]:
    caller = Caller(candidate)
    async with target_of(candidate, transport) as target:
        if candidate.own_client:
            async with _fastmcp_client(caller, target) as client:
                caller.call = client.call_tool
                yield caller
        else:
            async with sdk_client(target, candidate.era, caller.answer) as client:
                caller.call = client.call_tool
                yield caller


@asynccontextmanager
async def sdk_client(target: Any, era: Era, answer: Any = None) -> AsyncGenerator[Client]:
    """The SDK's client; `legacy` is 2025-11-25."""
    if not isinstance(target, (str, MCPServer)):
        target = getattr(target, "_mcp_server", target)  # the low-level server of a FastMCP server
    async with Client(
        target,
        mode=ROUNDS if era == ROUNDS else "legacy",
        elicitation_callback=answer,
        input_required_max_rounds=_MANY_ROUNDS,
    ) as client:
        if client.protocol_version != era:
            raise Wrong(f"negotiated {client.protocol_version} instead of {era}")
        yield client


def _fastmcp_client(caller: Caller, target: Any) -> Any:
    import fastmcp
    from fastmcp.client.transports import StdioTransport

    assert caller.candidate.era == PUSH
    if isinstance(target, StdioServerParameters):
        target = StdioTransport(command=target.command, args=target.args, cwd=str(ROOT))
    return fastmcp.Client(target, mode="legacy", elicitation_handler=caller.answer_fastmcp)


@asynccontextmanager
async def target_of(candidate: Candidate, transport: Transport) -> AsyncGenerator[Any]:
    """What a client connects to: the server itself, a process's transport, or a URL."""
    arguments = ["-m", "bench.candidates", candidate.name]
    if transport == "memory":
        yield candidate.build()
    elif transport == "stdio":
        parameters = StdioServerParameters(command=sys.executable, args=arguments, cwd=ROOT)
        yield parameters if candidate.own_client else stdio_client(parameters)
    else:
        with _serving([sys.executable, *arguments, "--http"]) as url:
            yield url


@contextmanager
def _serving(command: list[str]) -> Generator[str]:
    """The URL of a server in a separate process, which is always stopped."""
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            if not url:
                raise Wrong(f"{' '.join(command)} did not start")
            yield url
        finally:
            server.terminate()
