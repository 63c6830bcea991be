from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from mcp.server import MCPServer
from starlette.applications import Starlette
from starlette.routing import Mount

import midcall
from midcall.stores import Sweeper, open_store

store = open_store()  # what MIDCALL_STORE says
mcp = MCPServer("shop")
midcall.install(mcp, store=store)
mcp_app = mcp.streamable_http_app()


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncGenerator[None]:
    await store.open()  # a store that cannot be used stops the start, and not the first user
    try:
        async with Sweeper(store), mcp.session_manager.run():
            yield
    finally:
        await store.close()


app = Starlette(routes=[Mount("/", mcp_app)], lifespan=lifespan)
