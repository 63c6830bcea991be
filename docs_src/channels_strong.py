from mcp.server import MCPServer

import midcall
from midcall import STRONG, confirm

mcp = MCPServer("databases")
midcall.install(mcp)


@mcp.tool()
async def drop(table: str) -> str:
    """Drop a table. Only a person can confirm this, never a default."""
    if not await confirm(f"Drop the table {table} for good?", via=STRONG):
        return "Kept."
    return f"Dropped {table}."
