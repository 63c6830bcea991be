from mcp.server import MCPServer

import midcall
from midcall import confirm

mcp = MCPServer("payments")
midcall.install(mcp, audit="audit.jsonl")  # or MIDCALL_AUDIT=audit.jsonl, without touching the code


@mcp.tool()
async def close_account() -> str:
    """Close the account."""
    return "Closed." if await confirm("Close your account?") else "Nothing was done."
