from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.routing import Mount

import midcall
from midcall.portal import Oidc, Portal

mcp = MCPServer("payments")
portal = Portal("https://mcp.example.com/midcall", identity=Oidc("https://id.example.com", "payments-portal"))
installation = midcall.install(mcp, portal=portal)  # keys and store come from MIDCALL_KEYS and MIDCALL_STORE
mcp_app = mcp.streamable_http_app(  # by default the SDK accepts only localhost
    transport_security=TransportSecuritySettings(
        allowed_hosts=["mcp.example.com"], allowed_origins=["https://mcp.example.com"]
    )
)


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncGenerator[None]:
    async with mcp_app.router.lifespan_context(app):
        yield
    await installation.close()  # after the last request: closes the store


app = Starlette(routes=[Mount("/midcall", portal), Mount("/", mcp_app)], lifespan=lifespan)
