"""The server that every host starts: the tool of `examples/everywhere.py`, a shorter one, and an approval."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))

from everywhere import mcp

from midcall import approve, ask, choose, confirm


@mcp.tool()
async def book(city: str) -> str:
    """Book a trip, with three questions that a person can answer with a few keys."""
    name = await ask("Who is travelling?", str)
    seat = await choose("Which seat?", {"w": "At the window", "a": "On the aisle"})
    return f"Booked for {name}, seat {seat}." if await confirm(f"Book it for {name}?") else "Nothing was booked."


@mcp.tool()
async def pay(euros: int, to: str) -> str:
    """Pay somebody."""
    agreed = await approve(f"Pay {euros} EUR to {to}", {"Recipient": to, "Amount": f"{euros} EUR"})
    return f"Paid {euros} EUR to {to}." if agreed else "Nothing was paid."


if __name__ == "__main__":
    mcp.run()
