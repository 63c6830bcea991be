from mcp.server import MCPServer

import midcall
from midcall import confirm

mcp = MCPServer("exchange")
midcall.install(mcp)

RATES = iter(range(100, 1000))


@mcp.tool()
async def convert(amount: int) -> str:
    """The rate changes between two runs, so the question needs a key."""
    rate = next(RATES)
    sure = await confirm(f"Convert {amount} at about {rate}?", key="sure")
    return "Converted." if sure else "Kept."
