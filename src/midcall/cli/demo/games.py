"""The two servers of the demo. Their tools are ordinary tools, and know nothing of protocol versions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from typing import Annotated, Any, Final, Literal

from mcp.server import MCPServer
from pydantic import BaseModel, Field

import midcall
from midcall import Accepted, Question, ask_all, choose, confirm, elicit, once

__all__ = ["GAMES", "Game", "Tally", "guess_server", "trip_server"]

GUESSES: Final = 5

Guess = Annotated[int, Field(title="Your guess", ge=1, le=10)]
Email = Annotated[str, Field(json_schema_extra={"format": "email"})]


@dataclass(slots=True)
class Tally:
    """How often a tool was run, and its effect was had."""

    runs: int = 0
    effects: int = 0


def guess_server(tally: Tally, random: Callable[[int, int], int]) -> MCPServer:
    """Guess a number: a confirmation, then one question after the other."""
    mcp = MCPServer("games", title="Game corner", log_level="ERROR")
    midcall.install(mcp)

    @mcp.tool()
    async def guess_the_number() -> str:
        """A simple game where the user has to guess a number between 1 and 10."""
        tally.runs += 1
        if not await confirm("Do you want to play a game?"):
            return "Maybe next time!"

        number = await once("draw", draw, 1, 10)
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

    def draw(least: int, most: int) -> int:
        tally.effects += 1
        return random(least, most)

    return mcp


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


SEATS: Final = {"w": "At the window", "a": "On the aisle"}
EXTRAS: Final = {"ins": "Travel insurance", "car": "Rental car", "guide": "City guide"}


def trip_server(tally: Tally, random: Callable[[int, int], int]) -> MCPServer:
    """Book a trip: every kind of field, two forms at once, and an effect that must happen once."""
    mcp = MCPServer("travel", title="Fjord Travel", log_level="ERROR")
    midcall.install(mcp)

    @mcp.tool()
    async def book(destination: str) -> str:
        """Book a trip to this destination."""
        tally.runs += 1
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
        tally.effects += 1
        return f"FT-{random(1000, 9999)}"

    return mcp


@dataclass(frozen=True, slots=True)
class Game:
    """A server to play with, and what to call on it."""

    name: str
    title: str
    about: str
    server: Callable[[Tally, Callable[[int, int], int]], MCPServer]
    tool: str
    effect: tuple[str, str]
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])


GAMES: Final = (
    Game(
        "guess",
        "Guess the number",
        "a yes or no, then one guess after the other",
        guess_server,
        "guess_the_number",
        ("The number was", "drawn"),
    ),
    Game(
        "trip",
        "Book a trip",
        "every kind of field, two forms in one round, one charge",
        trip_server,
        "book",
        ("The card was", "charged"),
        {"destination": "Oslo"},
    ),
)
