from mcp.server import MCPServer

import midcall
from midcall import secret
from midcall.portal import Portal

mcp = MCPServer("repositories")
portal = Portal()
midcall.install(mcp, portal=portal)


@mcp.tool()
async def count_repositories() -> str:
    """Count the user's repositories."""
    token = await secret("github", "A token with repo scope, so that I can see your repositories.")
    return f"Counted with a token of {len(token)} characters."


if __name__ == "__main__":
    mcp.run()
