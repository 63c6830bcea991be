import os
from contextlib import asynccontextmanager

from mcp.server import MCPServer
from starlette.applications import Starlette

import midcall
from midcall import approve
from midcall.portal import Oidc, Portal

mcp = MCPServer("payments")
portal = Portal("https://mcp.example.com/midcall", identity=Oidc("https://id.example.com", "payments-portal"))
midcall.install(mcp, keys=[os.environ["PORTAL_KEY"]], store=os.environ["PORTAL_STORE"], portal=portal)


@mcp.tool()
async def pay(to: str, euros: int) -> str:
    """Pay somebody."""
    if not await approve(f"Pay {euros} EUR to {to}.", {"To": to, "Amount": f"{euros} EUR"}):
        return "Nothing was paid."
    return f"Paid {euros} EUR to {to}."


mcp_app = mcp.streamable_http_app()


@asynccontextmanager
async def lifespan(app: Starlette):
    async with mcp_app.router.lifespan_context(app):
        yield


app = Starlette(lifespan=lifespan)
app.mount("/midcall", portal)
app.mount("/", mcp_app)
