from mcp.server import MCPServer

import midcall
from midcall import STRONG, TimedOut, ask, confirm

mcp = MCPServer("stock")
midcall.install(mcp)


@mcp.tool()
async def buy(share: str) -> str:
    """Buy a share at today's price."""
    count = await ask(f"How many {share}?", int, default=1, attempts=2)
    price = 100 + len(share)  # a real price changes, so the question needs a key
    try:
        sure = await confirm(f"Buy {count} for {count * price}?", key="sure", timeout=120, via=STRONG)
    except TimedOut:
        return "The offer is no longer valid."
    return "Bought." if sure else "Nothing was bought."
