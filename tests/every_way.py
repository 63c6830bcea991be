"""One function as a tool, a prompt, a resource and a template, on every kind of server; and how its call ends.

Run as a script, it serves `in_group` and `replaces` over stdio, with the given kind of server.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from typing import Any, Literal, NamedTuple

from fastmcp import FastMCP
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.mcpserver import MCPServer
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListToolsResult,
    PaginatedRequestParams,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextContent,
    TextResourceContents,
    Tool,
)

import midcall
from midcall import ask
from midcall.testing import Answers, connect
from tests.kinds import Kind, server_with
from tests.rounds import text

Way = Literal["tool", "prompt", "resource", "template"]
WAYS: tuple[Way, ...] = ("tool", "prompt", "resource", "template")

Asks = Callable[[], Coroutine[Any, Any, str]]


class End(NamedTuple):
    """How a call ended: with a result's text or with an error."""

    text: str
    is_error: bool = False
    code: int | None = None
    data: Any = None


def bare(kind: Kind, function: Asks) -> Any:
    """A server of this kind that offers this function in every way, without midcall."""
    if kind == "lowlevel":
        return _lowlevel(function)
    server: Any = MCPServer("test") if kind == "mcpserver" else FastMCP("test")
    server.tool(name="it")(function)
    server.prompt(name="it")(function)
    server.resource("resource://it")(function)

    @server.resource("template://{name}")
    async def template(name: str) -> str:
        return await function()

    return server


def asking(kind: Kind, function: Asks, **options: Any) -> Any:
    """The same with midcall."""
    server = bare(kind, function)
    midcall.install(server, **options)
    return server


async def end_of(server: Any, way: Way, answers: Answers = (), **client: Any) -> End:
    """Call it this way and return how that ends."""
    async with connect(server, answers, **client) as connected:
        try:
            if way == "tool":
                result = await connected.call_tool("it")
                return End(text(result), bool(result.is_error))
            if way == "prompt":
                return End(str(getattr((await connected.get_prompt("it")).messages[0].content, "text", "")))
            read = await connected.read_resource(f"{way}://it")
            return End(str(getattr(read.contents[0], "text", "")))
        except MCPError as exc:
            return End(exc.error.message, True, exc.error.code, exc.error.data)


def _lowlevel(function: Asks) -> Server[Any]:
    async def list_tools(ctx: ServerRequestContext[Any], params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name="it", input_schema={"type": "object"})])

    async def call_tool(ctx: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        return CallToolResult(content=[TextContent(text=await function())])

    async def get_prompt(ctx: ServerRequestContext[Any], params: GetPromptRequestParams) -> GetPromptResult:
        return GetPromptResult(messages=[PromptMessage(role="user", content=TextContent(text=await function()))])

    async def read(ctx: ServerRequestContext[Any], params: ReadResourceRequestParams) -> ReadResourceResult:
        return ReadResourceResult(contents=[TextResourceContents(uri=params.uri, text=await function())])

    return Server(
        "test", on_list_tools=list_tools, on_call_tool=call_tool, on_get_prompt=get_prompt, on_read_resource=read
    )


async def in_group() -> str:
    """Asks in a task group and lets its error propagate."""
    async with asyncio.TaskGroup() as group:
        branch = group.create_task(ask("a?", str))
    return branch.result()


async def replaces() -> str:
    """Catches every exception and raises another."""
    try:
        return f"{await ask('a?', str)} {await ask('b?', str)}"
    except BaseException as exc:
        raise RuntimeError("cleaned up") from exc


if __name__ == "__main__":
    kind: Any = sys.argv[1]
    server_with(in_group, replaces, kind=kind).run("stdio")
