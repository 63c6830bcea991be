import asyncio

from mcp.server import MCPServer

import midcall
from midcall import ask, once

mcp = MCPServer("survey")
midcall.install(mcp)


async def current_guests() -> list[str]:
    """Replace this with a read from your database."""
    return sorted({"Bo", "Ada", "Cem"})


@mcp.tool()
async def invite() -> str:
    """Read once, ask all guests in one round; each branch gets its own answer."""
    guests = await once("guests", current_guests)

    async def meal(guest: str) -> str:
        return f"{guest}: {await ask(f'What does {guest} eat?', str)}"

    return ", ".join(await asyncio.gather(*(meal(guest) for guest in guests)))
