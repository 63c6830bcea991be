from fastmcp import FastMCP
from fastmcp.server.middleware.caching import ResponseCachingMiddleware

import midcall
from midcall import ask

caching = ResponseCachingMiddleware(
    call_tool_settings={"excluded_tools": ["order"]},  # this one asks
    get_prompt_settings={"enabled": False},  # if prompts ask
    read_resource_settings={"enabled": False},  # if resources ask
)
mcp = FastMCP("canteen", middleware=[caching])
midcall.install(mcp)


@mcp.tool
async def menu() -> str:
    """Return today's menu."""
    return "soup, pasta"


@mcp.tool
async def order() -> str:
    """Order a dish."""
    return f"Ordered: {await ask('Which dish?', str)}."
