"""The official TypeScript client books a trip over HTTP, in both eras."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scripts.peers import PEERS, node
from tests.skips import needs_peer

pytestmark = needs_peer("@modelcontextprotocol/client")

VERSIONS = {"legacy": "2025-11-25", "2025-06-18": "2025-06-18", "2026-07-28": "2026-07-28"}
TRIP = "Tell me about the trip"
SURE = "Book 3 days in Oslo?"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = Path(__file__).with_name("asking_server.py")
    with subprocess.Popen([sys.executable, str(server)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            url = process.stdout.readline().strip()
            assert url, "the server did not start"
            yield url
        finally:
            process.terminate()


def book(url: str, era: str, answers: dict[str, Any]) -> dict[str, Any]:
    """Book Oslo with the TypeScript client and return its output."""
    arguments = json.dumps({"destination": "Oslo"})
    command = [str(node()), str(PEERS / "ts_client.mjs"), url, era, "book", arguments, json.dumps(answers)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def text(told: dict[str, Any]) -> str:
    assert "error" not in told, told["error"]
    return told["result"]["content"][0]["text"]


@pytest.fixture(params=VERSIONS)
def era(request: pytest.FixtureRequest) -> str:
    return request.param


def test_both_questions_reach_the_user_and_the_answers_come_back(url: str, era: str) -> None:
    told = book(url, era, {TRIP: {"days": 3, "seat": "aisle"}, SURE: True})

    assert told["protocolVersion"] == VERSIONS[era]
    assert text(told) == "Booked 3 days in Oslo, aisle seat."
    assert [question["message"] for question in told["questions"]] == [TRIP, SURE]


def test_the_form_arrives_with_its_fields_and_their_bounds(url: str, era: str) -> None:
    told = book(url, era, {TRIP: {"days": 3, "seat": "aisle"}, SURE: True})

    trip, sure = (question["requestedSchema"]["properties"] for question in told["questions"])
    assert (trip["days"]["type"], trip["days"]["minimum"], trip["days"]["maximum"]) == ("integer", 1, 30)
    assert trip["seat"]["enum"] == ["window", "aisle"]
    assert [field["type"] for field in sure.values()] == ["boolean"]


def test_a_decline_in_the_form_books_nothing(url: str, era: str) -> None:
    told = book(url, era, {TRIP: {"days": 3, "seat": "window"}, SURE: False})

    assert text(told) == "Not booked."


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_user_who_declines_or_cancels_is_not_asked_again(url: str, era: str, action: str) -> None:
    told = book(url, era, {TRIP: action})

    assert not text(told).startswith("Booked")
    assert [question["message"] for question in told["questions"]] == [TRIP]
