"""One tool with five kinds of question, for any client.

    python examples/everywhere.py                 # serves stdio
    python examples/everywhere.py --http 8000     # serves http://127.0.0.1:8000/mcp

Nothing in the tool knows how its questions get to the user. A client that shows forms gets forms; one
that can only open URLs gets a page for each; one that has never heard of elicitation gets a link.

    midcall doctor examples/everywhere.py         # what this server can do, and what it lacks
    midcall doctor "python examples/everywhere.py"
"""

from __future__ import annotations

import argparse
from typing import Annotated

from mcp.server import MCPServer
from pydantic import Field

import midcall
from midcall import ask, can_ask, choose, confirm
from midcall.portal import Portal

mcp = MCPServer("everywhere", title="Fjord Travel", log_level="WARNING")
midcall.install(mcp, portal=Portal(), probe=True)  # a portal needs a store: MIDCALL_STORE, or SQLite by default

Days = Annotated[int, Field(ge=1, le=30)]
SEATS = {"w": "At the window", "a": "On the aisle"}
EXTRAS = ["car", "guide", "insurance"]


@mcp.tool()
async def plan(city: str) -> str:
    """Plan a trip to this city."""
    name = await ask("Who is travelling?", str)
    days = await ask(f"How many days in {city}?", Days)
    seat = await choose("Which seat?", SEATS)
    extras = await choose("What shall we add?", EXTRAS, many=True)
    if not await confirm(f"Plan {days} days in {city} for {name}?"):
        return "Nothing was planned."
    added = ", ".join(extras) or "nothing"
    return f"{name}: {days} days in {city}. Seat: {SEATS[seat]}. Added: {added}. Asked by {can_ask('form')[0]}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--http", type=int, metavar="PORT", help="serve http://127.0.0.1:PORT/mcp instead of stdio")
    if (port := parser.parse_args().http) is not None:
        mcp.run("streamable-http", port=port)
    else:
        mcp.run()


if __name__ == "__main__":
    main()
