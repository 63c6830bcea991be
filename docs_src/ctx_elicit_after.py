from mcp.server.mcpserver import MCPServer

import midcall
from midcall import Accepted, Declined, elicit

mcp = MCPServer("restaurant")
midcall.install(mcp)


@mcp.tool()
async def book_table(date: str) -> str:
    """Book a table. Works on every version."""
    if date != "2026-12-25":
        return f"Booked for {date}."
    match await elicit(f"There is no table on {date}. Which date instead?", str):
        case Accepted(value=other):
            return f"Booked for {other}."
        case Declined():
            return "Not booked."
        case _:
            return "Nothing was booked."
