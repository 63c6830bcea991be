"""Book a trip: a tool that uses every kind of field in MCP.

    python examples/trip.py                 # serves stdio
    python examples/trip.py --http 8000     # serves http://127.0.0.1:8000/mcp

It asks two forms in one round, then two choices and a confirmation, and charges the card once.
`midcall demo` plays this server in your terminal.
"""

from __future__ import annotations

import argparse
import random
from datetime import date
from typing import Annotated, Literal

from mcp.server import MCPServer
from pydantic import BaseModel, Field

import midcall
from midcall import Question, ask_all, choose, confirm, once

mcp = MCPServer("travel", title="Fjord Travel")
midcall.install(mcp)

Email = Annotated[str, Field(json_schema_extra={"format": "email"})]


class Traveller(BaseModel):
    name: str = Field(min_length=2, max_length=40, description="As in the passport")
    email: Email
    newsletter: bool = False


class Trip(BaseModel):
    leaving: date
    days: int = Field(ge=1, le=30)
    budget: float = Field(ge=0, description="Per day, in euros")
    board: Literal["breakfast", "half board", "full board"] = "breakfast"
    luggage: list[Literal["bag", "suitcase", "bicycle", "skis"]] = Field(max_length=3)
    wishes: str | None = Field(None, max_length=200)


SEATS = {"w": "At the window", "a": "On the aisle"}
EXTRAS = {"ins": "Travel insurance", "car": "Rental car", "guide": "City guide"}


@mcp.tool()
async def book(destination: str) -> str:
    """Book a trip to this destination."""
    traveller, trip = await ask_all(
        Question("Who is travelling?", Traveller),
        Question(f"Tell me about your trip to {destination}.", Trip),
    )
    seat = await choose("Where do you like to sit?", SEATS)
    extras = await choose("What shall we add?", EXTRAS, many=True)

    price = round(trip.days * trip.budget + 50 * len(extras), 2)
    if not await confirm(f"Book {trip.days} days in {destination} for {price:.2f} euros?"):
        return "Nothing was booked."
    reference = await once("charge", charge, traveller.email, price)

    added = ", ".join(EXTRAS[extra] for extra in extras) or "nothing"
    return (
        f"Booked for {traveller.name}: {destination} from {trip.leaving}, {trip.days} days, {trip.board}.\n"
        f"Seat: {SEATS[seat]}. Luggage: {', '.join(trip.luggage) or 'none'}. Added: {added}.\n"
        f"Wishes: {trip.wishes or 'none'}. Reference: {reference}."
    )


async def charge(email: str, price: float) -> str:
    """Replace this with your payment service. `once` keeps it from running twice."""
    return f"FT-{random.randrange(10_000):04}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--http", type=int, metavar="PORT", help="serve http://127.0.0.1:PORT/mcp instead of stdio")
    if (port := parser.parse_args().http) is not None:
        mcp.run("streamable-http", port=port)
    else:
        mcp.run()


if __name__ == "__main__":
    main()
