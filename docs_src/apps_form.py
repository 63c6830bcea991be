from mcp.server import MCPServer

import midcall
from midcall import ask, confirm

mcp = MCPServer("travel")
midcall.install(mcp, store="sqlite://")


@mcp.tool()
async def book(destination: str) -> str:
    """Book a trip."""
    days = await ask("How many days?", int)
    if not await confirm(f"Book {days} days in {destination}?"):
        return "Not booked."
    return f"Booked {days} days in {destination}."


if __name__ == "__main__":
    mcp.run()
