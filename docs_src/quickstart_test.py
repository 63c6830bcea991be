import asyncio

from quickstart import mcp

from midcall import testing

ANSWERS = {
    "How many days will you stay?": 3,
    "Where do you like to sit?": "w",
    "Book 3 days in Oslo?": True,
}


def test_a_trip_is_booked() -> None:
    run = asyncio.run(testing.replayed(mcp, "book", {"destination": "Oslo"}, ANSWERS))
    assert run.text == "Booked 3 days in Oslo, seat w. Reference: OSL-03"
