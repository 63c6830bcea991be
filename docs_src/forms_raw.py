from mcp.server import MCPServer

import midcall
from midcall import ask

mcp = MCPServer("projects")
midcall.install(mcp)

PROJECT = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name", "minLength": 1},
        "stars": {"type": "integer", "minimum": 1, "maximum": 5, "default": 3},
    },
    "required": ["name"],
}


@mcp.tool()
async def create_project() -> str:
    """Create a project."""
    project = await ask("What shall we create?", PROJECT)
    return f"{project['name']}: {project['stars']}"
