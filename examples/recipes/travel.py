"""The recipes' MCP server: a tool that asks two questions before it acts."""

from __future__ import annotations

from typing import Annotated

from mcp.server import MCPServer
from pydantic import Field

import midcall
from midcall import ask, confirm

mcp = MCPServer("travel", title="Fjord Travel")
midcall.install(mcp)

Days = Annotated[int, Field(title="Days", ge=1, le=30)]
PATIENCE = 300  # seconds until a question times out


@mcp.tool()
async def book(destination: str) -> str:
    """Book a trip to this destination."""
    days = await ask(f"How many days will you stay in {destination}?", Days, timeout=PATIENCE)
    if not await confirm(f"Book {days} days in {destination}?", timeout=PATIENCE):
        return "Nothing was booked."
    return f"Booked {days} days in {destination}."


if __name__ == "__main__":
    mcp.run()
