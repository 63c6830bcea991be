from datetime import date

from mcp.server import MCPServer
from pydantic import BaseModel, Field

import midcall
from midcall import UserDeclined, ask

mcp = MCPServer("travel")
midcall.install(mcp)


class Trip(BaseModel):
    leaving: date
    days: int = Field(ge=1, le=30)


@mcp.tool()
async def plan(destination: str) -> str:
    """Plan a trip."""
    try:
        trip = await ask(f"When do you travel to {destination}?", Trip)
    except UserDeclined:
        return "Then here is what the place looks like in every season."
    return f"{trip.days} days in {destination}, from {trip.leaving:%d %B}."
