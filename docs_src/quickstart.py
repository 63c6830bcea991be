from mcp.server import MCPServer

import midcall
from midcall import ask, choose, confirm, once

mcp = MCPServer("travel")
midcall.install(mcp)


@mcp.tool()
async def book(destination: str) -> str:
    """Book a trip to this destination."""
    days = await ask("How many days will you stay?", int)
    seat = await choose("Where do you like to sit?", {"w": "At the window", "a": "On the aisle"})
    if not await confirm(f"Book {days} days in {destination}?"):
        return "Nothing was booked."
    reference = await once("charge", charge, destination, days)
    return f"Booked {days} days in {destination}, seat {seat}. Reference: {reference}"


async def charge(destination: str, days: int) -> str:
    """Replace this with your payment service."""
    return f"{destination[:3].upper()}-{days:02}"


if __name__ == "__main__":
    mcp.run()
