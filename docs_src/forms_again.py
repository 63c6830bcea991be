from datetime import date

from mcp.server import MCPServer
from pydantic import BaseModel, model_validator

import midcall
from midcall import InvalidAnswer, ask

mcp = MCPServer("hotel")
midcall.install(mcp)


class Stay(BaseModel):
    arrive: date
    leave: date

    @model_validator(mode="after")
    def in_order(self) -> "Stay":
        if self.leave <= self.arrive:
            raise ValueError("You cannot leave before you arrive.")
        return self


@mcp.tool()
async def reserve() -> str:
    """Reserve a room."""
    try:
        stay = await ask("When will you stay with us?", Stay, attempts=2)
    except InvalidAnswer as error:
        return f"No reservation: {error.problems[0].message}"
    return f"{(stay.leave - stay.arrive).days} nights"
