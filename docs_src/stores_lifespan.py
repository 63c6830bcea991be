from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.routing import Mount

import midcall
from midcall.stores import Sweeper, open_store

store = open_store()  # the URL in MIDCALL_STORE
mcp = MCPServer("shop")
midcall.install(mcp, store=store)
mcp_app = mcp.streamable_http_app(  # by default the SDK accepts only localhost
    transport_security=TransportSecuritySettings(
        allowed_hosts=["mcp.example.com"], allowed_origins=["https://mcp.example.com"]
    )
)


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncGenerator[None]:
    await store.open()  # fail at startup, not at the first user
    try:
        async with Sweeper(store), mcp.session_manager.run():
            yield
    finally:
        await store.close()


app = Starlette(routes=[Mount("/", mcp_app)], lifespan=lifespan)
