from mcp.server import MCPServer

import midcall
from midcall import ask, choose

mcp = MCPServer("library")
midcall.install(mcp)


@mcp.prompt()
async def review(title: str) -> str:
    """A prompt that asks which tone to use."""
    tone = await choose("Which tone?", ["friendly", "strict"])
    return f"Write a {tone} review of {title}."


@mcp.resource("book://{title}")
async def excerpt(title: str) -> str:
    """A resource template that asks which part to read."""
    chapter = await ask(f"Which chapter of {title}?", int)
    return f"{title}, chapter {chapter}"
