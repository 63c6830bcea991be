from mcp.server import MCPServer

import midcall
from midcall import UserDeclined, secret
from midcall.portal import Portal

mcp = MCPServer("repositories")
portal = Portal()
midcall.install(mcp, portal=portal)


async def looks_right(token: str) -> str | None:
    """Return the end of a sentence that begins with the secret's name, or None if the token is fine."""
    return None if token.startswith("ghp_") else "must begin with ghp_"


@mcp.tool()
async def list_repositories() -> str:
    """List the user's repositories."""
    try:
        token = await secret("github", "A token with repo scope, to list your repositories.", check=looks_right)
    except UserDeclined:
        return "Then I can list only public ones."
    return f"Listed with a token of {len(token)} characters."
