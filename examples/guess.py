"""A game: guess a number from 1 to 10.

    python examples/guess.py                 # serves stdio
    python examples/guess.py --http 8000     # serves http://127.0.0.1:8000/mcp

One tool, on every protocol version. If midcall has to replay the call, `once` keeps the number the
same. `midcall demo` plays this server in your terminal.
"""

from __future__ import annotations

import argparse
import random
from typing import Annotated

from mcp.server import MCPServer
from pydantic import Field

import midcall
from midcall import Accepted, confirm, elicit, once

GUESSES = 5

mcp = MCPServer("games", title="Game corner")
midcall.install(mcp)

Guess = Annotated[int, Field(title="Your guess", ge=1, le=10)]


@mcp.tool()
async def guess_the_number() -> str:
    """A simple game where the user has to guess a number between 1 and 10."""
    if not await confirm("Do you want to play a game?"):
        return "Maybe next time!"

    number = await once("draw", draw)
    message = f"I have drawn a number from 1 to 10. You have {GUESSES} guesses."
    for left in reversed(range(GUESSES)):
        match await elicit(message, Guess):
            case Accepted(value=guess) if guess == number:
                return f"You found it with guess {GUESSES - left}: it was {number}."
            case Accepted(value=guess):
                hint = "too low" if guess < number else "too high"
                message = f"{guess} is {hint}. Guesses left: {left}."
            case _:
                return f"You gave up. It was {number}."
    return f"No more guesses. It was {number}."


def draw() -> int:
    """Random, so a replay must not draw again: `once` records the number."""
    return random.randint(1, 10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--http", type=int, metavar="PORT", help="serve http://127.0.0.1:PORT/mcp instead of stdio")
    if (port := parser.parse_args().http) is not None:
        mcp.run("streamable-http", port=port)
    else:
        mcp.run()


if __name__ == "__main__":
    main()
