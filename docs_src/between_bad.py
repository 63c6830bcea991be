import random
import time

from mcp.server import MCPServer

import midcall
from midcall import ask, confirm

mcp = MCPServer("lottery")
midcall.install(mcp)

TICKETS: list[int] = []


@mcp.tool()
async def draw() -> str:
    """A replay draws again: the user accepts one number and gets another."""
    number = random.randrange(10**9)
    if not await confirm("Keep the number that I have drawn?"):
        return "Thrown away."
    return f"Yours is {number}."


@mcp.tool()
async def sell() -> str:
    """A replay sells another ticket and asks a different question."""
    TICKETS.append(1)
    name = await ask(f"It is {time.time_ns()}. Who are you?", str)
    return f"{name} has {len(TICKETS)} tickets."
