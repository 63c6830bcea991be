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
    """Draws again if it's replayed: the user agrees to one number and gets another."""
    number = random.randrange(10**9)
    if not await confirm("Keep the number that I have drawn?"):
        return "Thrown away."
    return f"Yours is {number}."


@mcp.tool()
async def sell() -> str:
    """If it's replayed, it sells another ticket and asks something new."""
    TICKETS.append(1)
    name = await ask(f"It is {time.time_ns()}. Who are you?", str)
    return f"{name} has {len(TICKETS)} tickets."
