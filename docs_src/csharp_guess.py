import random
from typing import Annotated

from mcp.server import MCPServer
from pydantic import Field

import midcall
from midcall import ask, confirm, once

mcp = MCPServer("games")
midcall.install(mcp)

Guess = Annotated[int, Field(ge=1, le=10)]


@mcp.tool()
async def guess_the_number() -> str:
    """A simple game where the user has to guess a number between 1 and 10."""
    if not await confirm("Do you want to play a game?"):
        return "Maybe next time!"
    number = await once("draw", random.randint, 1, 10)
    for turn in range(1, 6):
        if await ask(f"Guess number {turn} of 5:", Guess) == number:
            return f"Right! It was {number}."
    return f"It was {number}."
