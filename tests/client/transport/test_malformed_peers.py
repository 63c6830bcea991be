"""Malformed questions from other people's servers: refused with -32602, saying what is malformed and where."""

from __future__ import annotations

from typing import Any

import pytest

from midcall.client import Script, connect
from tests.peer import COMMAND, NAME, OLD, play
from tests.peer_server import NEW

VERSIONS = ["2025-06-18", OLD]
MALFORMED: list[tuple[dict[str, Any], str]] = [
    ({"message": "x"}, "requestedSchema: Field required"),
    ({"mode": "form", "message": "x"}, "requestedSchema: Field required"),
    ({"message": "x", "requestedSchema": None}, "requestedSchema: Input should be an object"),
    ({"message": "x", "requestedSchema": []}, "requestedSchema: Input should be an object"),
    ({"message": "x", "requestedSchema": {"type": "object"}}, "requestedSchema.properties: Field required"),
    ({"requestedSchema": NAME}, "message: Field required"),
    ({"message": 7, "requestedSchema": NAME}, "message: Input should be a valid string"),
    ({"mode": "odd", "message": "x", "requestedSchema": NAME}, "mode: must be 'form' or 'url'"),
    (
        {"message": "x", "requestedSchema": {"type": "object", "properties": {"a": {"type": "object"}}}},
        "requestedSchema.properties.a.type: 'object' is not one of",
    ),
    (
        {"message": "x", "requestedSchema": {"type": "object", "properties": {"a": 7}}},
        "requestedSchema.properties.a: must be an object",
    ),
]
URLS: list[tuple[dict[str, Any], str]] = [
    ({"mode": "url", "message": "x", "elicitationId": "1"}, "url: Field required"),
    ({"mode": "url", "message": "x", "url": "file:///x", "elicitationId": "1"}, "url: not a plain http or https"),
]


@pytest.mark.parametrize("era", VERSIONS)
async def test_a_malformed_pushed_question_is_refused_and_others_are_answered(era: Any) -> None:
    cases = MALFORMED if era != OLD else [*MALFORMED, *URLS]
    script = Script(lambda asked: {"name": "Ada"})
    async with connect(COMMAND, script, era=era) as client:
        steps = [{"push": params} for params, _ in cases]
        seen = await play(client, *steps, {"push": {"message": "Good", "requestedSchema": NAME}})
    *refused, good = seen["answers"]
    for (_, fault), answer in zip(cases, refused, strict=True):
        assert answer["error"]["code"] == -32602
        assert fault in answer["error"]["message"]
    assert good == {"result": {"action": "accept", "content": {"name": "Ada"}}}
    assert [asked.message for asked in script.asked] == ["Good"]


@pytest.mark.parametrize(("params", "fault"), [*MALFORMED, *URLS])
async def test_in_a_round_it_is_cancelled_and_the_log_says_the_same(
    params: dict[str, Any], fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    requests = {
        "bad": {"method": "elicitation/create", "params": params},
        "good": {"method": "elicitation/create", "params": {"message": "Good", "requestedSchema": NAME}},
    }
    result = {"resultType": "input_required", "requestState": "s", "inputRequests": requests}
    async with connect(COMMAND, Script(lambda asked: {"name": "Ada"}), era=NEW) as client:
        seen = await play(client, {"result": result})
    assert seen["calls"][1]["inputResponses"] == {
        "bad": {"action": "cancel"},
        "good": {"action": "accept", "content": {"name": "Ada"}},
    }
    assert fault in caplog.text
