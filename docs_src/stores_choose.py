from mcp.server import MCPServer

import midcall
from midcall import once
from midcall.stores.postgres import PostgreSQL

store = PostgreSQL("postgresql://db.example.com/shop", create=False, schema="midcall", pool=4)

mcp = MCPServer("shop")
midcall.install(mcp, store=store)


@mcp.tool()
async def order(article: str) -> str:
    """Order an article once, even if this process dies meanwhile."""
    return await once("order", place_order, article)


async def place_order(article: str) -> str:
    return f"Ordered: {article}"
