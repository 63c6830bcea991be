from mcp.server import MCPServer

import midcall
from midcall import Accepted, Cancelled, Declined, elicit

mcp = MCPServer("support")
midcall.install(mcp)


@mcp.tool()
async def rate() -> str:
    """Ask for a rating from 1 to 5."""
    match await elicit("How was our help, from 1 to 5?", int):
        case Accepted(value=stars, via=via):
            return f"{stars} stars, asked by {via}."
        case Declined():
            return "The user does not want to rate."
        case Cancelled():
            return "The user closed the question. Ask another time."
