import asyncio

from mcp.server import MCPServer

import midcall
from midcall import ask, once

mcp = MCPServer("survey")
midcall.install(mcp)


async def current_guests() -> list[str]:
    """Stands for a read that may give another order each time."""
    return sorted({"Bo", "Ada", "Cem"})


@mcp.tool()
async def invite() -> str:
    """Reads once, asks all guests together; each answer stays with its own branch."""
    guests = await once("guests", current_guests)

    async def meal(guest: str) -> str:
        return f"{guest}: {await ask(f'What does {guest} eat?', str)}"

    return ", ".join(await asyncio.gather(*(meal(guest) for guest in guests)))
