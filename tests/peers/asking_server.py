"""An HTTP server whose only tool asks. Prints its URL when it's ready."""

from __future__ import annotations

import asyncio
import socket
from typing import Literal

import uvicorn
from mcp.server import MCPServer
from pydantic import BaseModel, Field

import midcall
from midcall import ask, confirm

mcp = MCPServer("asking", log_level="WARNING")
midcall.install(mcp)


class Trip(BaseModel):
    days: int = Field(ge=1, le=30)
    seat: Literal["window", "aisle"] = "window"


@mcp.tool()
async def book(destination: str) -> str:
    trip = await ask("Tell me about the trip", Trip)
    if not await confirm(f"Book {trip.days} days in {destination}?"):
        return "Not booked."
    return f"Booked {trip.days} days in {destination}, {trip.seat} seat."


async def serve() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
    config = uvicorn.Config(mcp.streamable_http_app(), log_level="warning")
    await uvicorn.Server(config).serve(sockets=[listening])


if __name__ == "__main__":
    asyncio.run(serve())
