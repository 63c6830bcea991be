from mcp.server import MCPServer

import midcall
from midcall import UrlElicitationRequired, Visit

mcp = MCPServer("files")
midcall.install(mcp)

CONNECTED: set[str] = set()


@mcp.tool()
async def list_files(user: str) -> str:
    """List the user's files."""
    if user not in CONNECTED:
        raise UrlElicitationRequired(
            [Visit("Connect your files on our page.", lambda id: f"https://files.example.com/connect/{id}")],
            message="Your files are not connected yet.",
        )
    return f"The files of {user}: a.txt, b.txt"
