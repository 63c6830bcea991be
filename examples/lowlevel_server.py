"""A low-level server that asks.

    python examples/lowlevel_server.py                 # serves stdio
    python examples/lowlevel_server.py --http 8000     # serves http://127.0.0.1:8000/mcp

No decorators and no schemas from signatures: two handlers, and the same line that installs midcall.
midcall also seals the state of a waiting call, which this kind of server doesn't do by default.
"""

from __future__ import annotations

import argparse
from typing import Any

import anyio
import uvicorn
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)

import midcall
from midcall import Choice, Form, Number, Text, ask, confirm

TICKET = Tool(
    name="open_ticket",
    description="Open a support ticket. The user is asked for what it needs.",
    input_schema={"type": "object", "properties": {"product": {"type": "string"}}, "required": ["product"]},
)

DETAILS = Form(
    Text("summary", title="Summary", min_length=5, max_length=80),
    Choice("severity", {"low": "It can wait", "high": "I cannot work"}, title="How bad is it?", default="low"),
    Number("users", title="How many people are affected?", integer=True, minimum=1, default=1),
)


async def list_tools(ctx: ServerRequestContext[Any], params: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult(tools=[TICKET])


async def call_tool(ctx: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
    if params.name != TICKET.name:
        return CallToolResult(content=[TextContent(text=f"There is no tool {params.name!r}.")], is_error=True)
    return CallToolResult(content=[TextContent(text=await open_ticket((params.arguments or {})["product"]))])


async def open_ticket(product: str) -> str:
    details = await ask(f"What is wrong with {product}?", DETAILS)
    if not await confirm(f"Open a ticket: {details['summary']}?"):
        return "No ticket was opened."
    return f"Ticket opened for {product}: {details['summary']} ({details['severity']}, {details['users']} affected)."


server = Server("support", on_list_tools=list_tools, on_call_tool=call_tool)
midcall.install(server)


async def serve_stdio() -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--http", type=int, metavar="PORT", help="serve http://127.0.0.1:PORT/mcp instead of stdio")
    if (port := parser.parse_args().http) is not None:
        uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=port)
    else:
        anyio.run(serve_stdio)


if __name__ == "__main__":
    main()
