from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

mcp = MCPServer("restaurant")


class Alternative(BaseModel):
    accept: bool
    date: str = "2026-12-26"


@mcp.tool()
async def book_table(date: str, ctx: Context) -> str:
    """Book a table. Fails on 2026-07-28."""
    if date != "2026-12-25":
        return f"Booked for {date}."
    result = await ctx.elicit(f"There is no table on {date}. Another date?", Alternative)
    if result.action == "accept" and result.data.accept:
        return f"Booked for {result.data.date}."
    if result.action == "decline":
        return "Not booked."
    return "Nothing was booked."
