from mcp.server import MCPServer

import midcall
from midcall import confirm
from midcall.audit import OpenTelemetry

mcp = MCPServer("payments")
midcall.install(mcp, audit=OpenTelemetry())


@mcp.tool()
async def close_account() -> str:
    """Close the account."""
    return "Closed." if await confirm("Close your account?") else "Nothing was done."
