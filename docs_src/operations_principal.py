from typing import Any

from mcp.server import MCPServer
from mcp.server.context import ServerRequestContext

import midcall
from midcall import ask


def signed_in_user(ctx: ServerRequestContext[Any, Any]) -> str | None:
    """The user that the proxy has verified, or None."""
    return ctx.request.headers.get("x-verified-user") if ctx.request is not None else None


mcp = MCPServer("notes")
midcall.install(mcp, principal=signed_in_user)


@mcp.tool()
async def note() -> str:
    """Take a note."""
    return f"Noted: {await ask('What shall I write down?', str)}"
