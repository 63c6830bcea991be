"""A server in a separate process: over stdio, or with `--http PORT` over HTTP."""

from __future__ import annotations

import os
import sys

from mcp.server import MCPServer
from mcp.server.mcpserver import Context

import midcall
from midcall import ask

mcp = MCPServer("travel", log_level="ERROR")
installed = midcall.install(mcp, keys=["0 key of the tests: 0123456789abcdef"])
finished: set[str] = set()


@mcp.tool()
async def book(destination: str) -> str:
    """Book a trip."""
    return f"{await ask('How many days?', int)} days in {destination}"


@mcp.tool()
async def needs(id: str) -> str:
    if id not in finished:
        raise midcall.UrlElicitationRequired([midcall.Visit("Go there", "https://example.com/", id=id)])
    return f"{id} is done"


@mcp.tool()
async def finish(id: str) -> str:
    finished.add(id)
    await installed.complete(id)
    return "finished"


@mcp.tool()
async def where() -> str:
    return os.getcwd()


@mcp.tool()
async def die() -> str:
    os._exit(3)


@mcp.tool()
async def who(ctx: Context) -> str:
    return (ctx.headers or {}).get("x-who", "nobody")


if __name__ == "__main__":
    print("The server is ready.", file=sys.stderr, flush=True)
    if "--http" in sys.argv:
        mcp.run("streamable-http", host="127.0.0.1", port=int(sys.argv[-1]))
    else:
        mcp.run("stdio")
