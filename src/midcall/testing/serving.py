"""`python -m midcall.testing.serving package.module:mcp`: serve it over stdio, and replay every call."""

from __future__ import annotations

import asyncio
import sys
from contextlib import redirect_stdout
from typing import Any, cast

from mcp.server.lowlevel.server import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server

from midcall.server.running.runs import chosen_live
from midcall.testing.importing import load_server


async def serve(name: str) -> None:
    """Serve until the client disconnects."""
    with redirect_stdout(sys.stderr):  # standard output belongs to the protocol
        server = load_server(name)
    chosen_live.set(False)
    if isinstance(server, Server):
        lowlevel = cast("Server[Any]", server)
        async with stdio_server() as (read, write):
            await lowlevel.run(read, write, lowlevel.create_initialization_options())
    elif isinstance(server, MCPServer):
        await server.run_stdio_async()
    else:
        await cast("Any", server).run_stdio_async(show_banner=False)


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
