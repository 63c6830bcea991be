from mcp.server.mcpserver import MCPServer

import midcall
from midcall import NotAnswered, ask

mcp = MCPServer("greeter")
midcall.install(mcp)


@mcp.tool()
async def greet() -> str:
    """Two questions, two lines."""
    try:
        name = await ask("Your name?", str)
        town = await ask("Your town?", str)
    except NotAnswered:
        return "Hello!"
    return f"Hello {name} from {town}!"
