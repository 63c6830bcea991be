from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from mcp.server import MCPServer

import midcall
from midcall import ask, suspending

mcp = MCPServer("archive")
midcall.install(mcp)

TRAIL: list[str] = []


@asynccontextmanager
async def workspace() -> AsyncGenerator[None]:
    try:
        yield
    finally:
        TRAIL.append("paused" if suspending() else "finished")


@mcp.tool()
async def archive() -> str:
    """Cleans up once in a live call, and once per run if it's replayed."""
    async with workspace():
        name = await ask("Which name?", str)
        year = await ask("Which year?", int)
    return f"{name}-{year}"
