"""An HTTP server whose one tool asks. Prints its URL when it can be reached."""

from __future__ import annotations

import asyncio
import socket
from typing import Literal

import uvicorn
from mcp.server import MCPServer
from mcp.server.elicitation import AcceptedElicitation
from mcp.server.mcpserver import Context
from pydantic import BaseModel, Field

mcp = MCPServer("asking", log_level="WARNING")


class Trip(BaseModel):
    days: int = Field(ge=1, le=30)
    seat: Literal["window", "aisle"] = "window"


class Confirmed(BaseModel):
    confirmed: bool


@mcp.tool()
async def book(destination: str, ctx: Context) -> str:
    trip = await ctx.elicit("Tell me about the trip", Trip)
    if not isinstance(trip, AcceptedElicitation):
        return "Not booked."
    sure = await ctx.elicit(f"Book {trip.data.days} days in {destination}?", Confirmed)
    if not isinstance(sure, AcceptedElicitation) or not sure.data.confirmed:
        return "Not booked."
    return f"Booked {trip.data.days} days in {destination}, {trip.data.seat} seat."


async def serve() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
    config = uvicorn.Config(mcp.streamable_http_app(), log_level="warning")
    await uvicorn.Server(config).serve(sockets=[listening])


if __name__ == "__main__":
    asyncio.run(serve())
