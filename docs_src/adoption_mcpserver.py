from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

import midcall

mcp = MCPServer("calendar")
midcall.install(mcp)  # the only new line


class Slot(BaseModel):
    hour: int


@mcp.tool()
async def meet(ctx: Context) -> str:
    """Arrange a meeting."""
    answer = await ctx.elicit("At which hour?", Slot)
    if answer.action != "accept":
        return "No meeting."
    return f"See you at {answer.data.hour}."


@mcp.tool()
async def connect(ctx: Context) -> str:
    """Connect the calendar."""
    answer = await ctx.elicit_url("Connect it on our page.", "https://calendar.example.com/connect", "connect-1")
    return f"The user said: {answer.action}."
