"""Each example, started as a user would, and called on every version."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mcp_types import TextContent

from midcall.core.outcome import Declined
from midcall.testing import ERAS, Asked, Era, connect, run
from tests.serving import ROOT, serving, stdio

HOME = ROOT / "examples"


@dataclass(frozen=True)
class Example:
    file: str
    answers: Mapping[str, Any] | Callable[[Asked], Any]
    calls: tuple[tuple[str, dict[str, Any], str], ...]
    """Tools, their arguments, and how their results begin."""

    def __str__(self) -> str:
        return self.file


def by_halving() -> Callable[[Asked], Any]:
    """Plays the game by the hints."""
    bounds = {"low": 1, "high": 10}

    def answer(asked: Asked) -> Any:
        if "confirmed" in asked.fields:
            return True
        match asked.message.split():
            case ["I", "have", "drawn", *_]:
                bounds.update(low=1, high=10)
            case [guess, "is", "too", "low.", *_]:
                bounds["low"] = int(guess) + 1
            case [guess, "is", "too", "high.", *_]:
                bounds["high"] = int(guess) - 1
        return (bounds["low"] + bounds["high"]) // 2

    return answer


def booking(asked: Asked) -> Any:
    """A client on an old version types several choices into one line."""
    kinds = {name: prop["type"] for name, prop in (asked.schema or {})["properties"].items()}
    answers = {
        "name": "Ada Lovelace",
        "email": "ada@example.com",
        "newsletter": True,
        "leaving": "2026-08-01",
        "days": 4,
        "budget": 120.5,
        "board": "half board",
        "luggage": ["bag", "skis"],
        "wishes": "A quiet room",
        "choice": ["ins", "car"] if "add" in asked.message else "a",
        "confirmed": True,
    }
    lowered = {name: ", ".join(value) for name, value in answers.items() if isinstance(value, list)}
    return {name: lowered[name] if name in lowered and kinds[name] == "string" else answers[name] for name in kinds}


TRIP = (
    "Booked for Ada Lovelace: Oslo from 2026-08-01, 4 days, half board.\n"
    "Seat: On the aisle. Luggage: bag, skis. Added: Travel insurance, Rental car.\n"
    "Wishes: A quiet room. Reference: FT-"
)
KITCHEN = {"answer": 2, "choice": "hot", "confirmed": True, "value": "Soupery"}
TICKET = {"summary": {"summary": "It does not start", "severity": "high"}, "confirmed": True}
OPENED = "Ticket opened for the lamp: It does not start (high, 1 affected)."

EXAMPLES = (
    Example("guess.py", by_halving(), (("guess_the_number", {}, "You found it with guess"),)),
    Example("trip.py", booking, (("book", {"destination": "Oslo"}, TRIP),)),
    Example(
        "fastmcp_server.py",
        KITCHEN,
        (
            ("order", {"dish": "soup"}, "Ordered 2 x soup, hot."),
            ("rename", {}, "The kitchen is called Soupery now."),
        ),
    ),
    Example("lowlevel_server.py", TICKET, (("open_ticket", {"product": "the lamp"}, OPENED),)),
)


async def play(server: object, example: Example, era: Era) -> None:
    async with connect(server, example.answers, era=era) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == {tool for tool, _, _ in example.calls}
        for tool, arguments, expected in example.calls:
            result = await client.call_tool(tool, arguments)
            [block] = result.content
            assert isinstance(block, TextContent)
            assert block.text.startswith(expected)
            assert not result.is_error


def assert_clean(log: Path) -> None:
    assert "Traceback" not in log.read_text()
    assert "ERROR" not in log.read_text()


@pytest.mark.parametrize(("example", "era"), [*zip(EXAMPLES, (*ERAS, ERAS[-1]), strict=True)], ids=str)
async def test_an_example_asks_over_stdio(example: Example, era: Era, tmp_path: Path) -> None:
    """Each example on one version, and each version with one example: transports don't change what a tool does."""
    log = tmp_path / "log"
    with log.open("w") as stderr:
        await play(stdio(HOME / example.file, stderr, warm=False), example, era)
    assert_clean(log)


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
async def test_an_example_asks_over_http_on_every_version(example: Example, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with serving(HOME / example.file, log) as url:
        for era in ERAS:
            await play(url, example, era)
    assert_clean(log)


async def test_a_user_who_declines_the_trip_gets_no_booking_on_any_version(tmp_path: Path) -> None:
    with serving(HOME / "trip.py", tmp_path / "log") as url:
        for era in ERAS:
            result = await run(url, "book", {"destination": "Oslo"}, lambda asked: Declined(), era=era)
            assert result.failed
            assert "declined" in result.text


def test_every_example_says_how_to_start_it() -> None:
    for file in map(str, EXAMPLES):
        text = (HOME / file).read_text()
        assert f"    python examples/{file} " in text
        assert f"    python examples/{file} --http 8000" in text
