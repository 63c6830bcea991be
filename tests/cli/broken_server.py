"""A midcall server whose tools have bugs in their own code."""

from __future__ import annotations

import sys

from mcp.server import MCPServer

import midcall

mcp = MCPServer("broken", log_level="ERROR")
midcall.install(mcp)


async def _asks() -> int:
    return await midcall.ask("How many?", int)


@mcp.tool()
async def asks_inside_once() -> str:
    return str(await midcall.once("ask", _asks))


@mcp.tool()
async def divides() -> str:
    return str(1 / 0)


if __name__ == "__main__":
    if "--http" in sys.argv:
        mcp.run("streamable-http", host="127.0.0.1", port=int(sys.argv[-1]))
    else:
        mcp.run("stdio")
