from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from mcp.server import MCPServer
from starlette.applications import Starlette
from starlette.routing import Mount

import midcall
from midcall.portal import Portal

mcp = MCPServer("payments")
portal = Portal("https://mcp.example.com/midcall")
installation = midcall.install(mcp, portal=portal)  # MIDCALL_STORE and MIDCALL_KEYS say the rest
mcp_app = mcp.streamable_http_app()


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncGenerator[None]:
    async with mcp_app.router.lifespan_context(app):
        yield
    await installation.close()  # after the last request: lets go of the store


app = Starlette(routes=[Mount("/midcall", portal), Mount("/", mcp_app)], lifespan=lifespan)
