from mcp.server import MCPServer

import midcall
from midcall import confirm

mcp = MCPServer("releases")
midcall.install(mcp)


@mcp.tool()
async def deploy(version: str) -> str:
    """Deploy this version to production."""
    if not await confirm(f"Deploy {version} to production?"):
        return "Nothing was deployed."
    return f"Deployed {version}."
