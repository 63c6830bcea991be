"""A server that reports its pid, so that a test can end it while a question is pending."""

from __future__ import annotations

import os

from mcp.server import MCPServer

import midcall
from midcall import ask

mcp = MCPServer("mortal")
midcall.install(mcp)


@mcp.tool()
async def book(destination: str) -> str:
    """Book a trip to this destination."""
    return await ask(str(os.getpid()), str)


if __name__ == "__main__":
    mcp.run()
