from mcp.server import MCPServer

import midcall
from midcall.from_thread import ask, confirm

mcp = MCPServer("travel")
midcall.install(mcp)


@mcp.tool()
def book(destination: str) -> str:
    """A `def` tool: the verbs block, so don't await them."""
    days = ask("How many days?", int)
    if not confirm(f"Book {days} days in {destination}?"):
        return "Nothing was booked."
    return f"Booked {days} days in {destination}."
