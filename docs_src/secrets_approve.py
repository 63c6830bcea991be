from mcp.server import MCPServer

import midcall
from midcall import approve, once
from midcall.portal import Portal

mcp = MCPServer("payments")
portal = Portal()
midcall.install(mcp, portal=portal)

PAID: list[str] = []


async def transfer(euros: int, to: str, *, idempotency_key: str) -> str:
    """Replace this with your bank's API, which ignores a key that it has seen before."""
    PAID.append(idempotency_key)
    return f"Paid {euros} EUR to {to}."


@mcp.tool()
async def pay(euros: int, to: str) -> str:
    """Pay this amount."""
    if not await approve(f"Pay {euros} EUR to {to}", {"Recipient": to, "Amount": f"{euros} EUR"}):
        return "Nothing was paid."
    return await once("transfer", transfer, euros, to)
