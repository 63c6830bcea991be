import random
import time

from mcp.server import MCPServer

import midcall
from midcall import ask, confirm, once

mcp = MCPServer("lottery")
midcall.install(mcp)

TICKETS: list[int] = []


@mcp.tool()
async def draw() -> str:
    """Draw once: a replay gets the same number."""
    number = await once("draw", random.randrange, 10**9)
    if not await confirm("Keep the number that I have drawn?"):
        return "Thrown away."
    return f"Yours is {number}."


@mcp.tool()
async def sell() -> str:
    """Read the clock once, ask the same question in a replay, and sell one ticket after the answer."""
    opened = await once("opened", time.time_ns)
    name = await ask(f"It is {opened}. Who are you?", str)
    await once("sell", TICKETS.append, 1)
    return f"{name} has a ticket."
