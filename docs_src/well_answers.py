from mcp.server import MCPServer

import midcall
from midcall import Accepted, Cancelled, Declined, elicit

mcp = MCPServer("clinic")
midcall.install(mcp)


@mcp.tool()
async def appointment() -> str:
    """Make an appointment."""
    match await elicit("Which phone number can we use to confirm your appointment?", str):
        case Accepted(value=phone):
            return f"We will call {phone}."
        case Declined():
            return "No number needed: it can be confirmed at the desk, too."
        case Cancelled():
            return "Nothing was arranged. The user can come back to this later."
