from mcp.server import MCPServer

import midcall
from midcall import UserDeclined, visit

mcp = MCPServer("auth")
midcall.install(mcp)


@mcp.tool()
async def auth_via_url() -> str:
    """Authenticate via browser."""
    try:
        id = await visit(
            "Please sign in on our page to continue.", lambda id: f"https://myserver.example.com/auth/{id}"
        )
    except UserDeclined:
        return "The user declined to sign in."
    return f"Sign-in {id[:4]} has begun. Complete it in your browser."
