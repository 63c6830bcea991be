"""The three kinds of server, with one way to add tools."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Literal

from fastmcp import FastMCP
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.mcpserver import MCPServer
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)

import midcall

Kind = Literal["mcpserver", "lowlevel", "fastmcp"]
KINDS: tuple[Kind, ...] = ("mcpserver", "lowlevel", "fastmcp")


def bare_server(kind: Kind, *tools: Callable[..., Any], name: str = "test", **settings: Any) -> Any:
    """A server of this kind with these tools, without midcall. Settings, such as a lifespan, go to the server."""
    if kind == "mcpserver":
        server: MCPServer[Any] = MCPServer(name, **settings)
        for tool in tools:
            server.add_tool(tool)
        return server
    if kind == "fastmcp":
        fast: FastMCP[Any] = FastMCP(name, **settings)
        for tool in tools:
            fast.tool(tool)
        return fast
    return _lowlevel(name, {tool.__name__: tool for tool in tools}, **settings)


def server_with(*tools: Callable[..., Any], kind: Kind = "mcpserver", name: str = "test", **options: Any) -> Any:
    """A server of this kind with these tools and midcall."""
    server = bare_server(kind, *tools, name=name)
    midcall.install(server, **options)
    return server


def _lowlevel(name: str, tools: dict[str, Callable[..., Any]], **settings: Any) -> Server[Any]:
    async def list_tools(ctx: ServerRequestContext[Any], params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name=tool, input_schema={"type": "object"}) for tool in tools])

    async def call_tool(
        ctx: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        tool = tools[params.name]
        arguments = dict(params.arguments or {})
        if "ctx" in inspect.signature(tool).parameters:
            arguments["ctx"] = ctx
        result = tool(**arguments)
        if inspect.isawaitable(result):
            result = await result
        if isinstance(result, InputRequiredResult):
            return result
        return CallToolResult(content=[TextContent(text=str(result))])

    return Server(name, on_list_tools=list_tools, on_call_tool=call_tool, **settings)
