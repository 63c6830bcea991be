from mcp.server import MCPServer

import midcall
from midcall import confirm

mcp = MCPServer("exchange")
midcall.install(mcp)

RATES = iter(range(100, 1000))


@mcp.tool()
async def convert(amount: int) -> str:
    """The rate moves between two runs. The key keeps the answer with its question."""
    rate = next(RATES)
    sure = await confirm(f"Convert {amount} at about {rate}?", key="sure")
    return "Converted." if sure else "Kept."
