from mcp.server.mcpserver import MCPServer

import midcall
from midcall import confirm

mcp = MCPServer("repositories")
midcall.install(mcp)


@mcp.tool()
async def delete(name: str) -> str:
    """Delete a repository. Ask only if it's needed."""
    if name.startswith("scratch-"):
        return f"Deleted {name}."
    return f"Deleted {name}." if await confirm(f"Delete {name}?") else "Kept."
