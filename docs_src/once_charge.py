from mcp.server import MCPServer

import midcall
from midcall import confirm, once

mcp = MCPServer("shop")
midcall.install(mcp)

CHARGED: dict[str, int] = {}


async def charge(amount: int, *, idempotency_key: str) -> str:
    """Replace this with a payment service that supports idempotency keys."""
    CHARGED.setdefault(idempotency_key, amount)
    return f"ref-{len(CHARGED)}"


@mcp.tool()
async def pay(amount: int) -> str:
    """Pay this amount."""
    if not await confirm(f"Pay {amount} euros?"):
        return "Nothing was paid."
    reference = await once("charge", charge, amount)
    tip = await confirm("Do you want a receipt by mail?")
    return f"{reference} {'with' if tip else 'without'} receipt"
