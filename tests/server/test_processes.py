"""What only shows between processes, and on the raw wire."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp_types import INVALID_PARAMS

from midcall.protocol import DECIDED
from midcall.testing import connect
from tests import messy
from tests.rounds import accept, raw_call, text
from tests.serving import serving

SERVER = Path(messy.__file__)
KEYS = {"MIDCALL_KEYS": "a key of the tests: 0123456789abcdef"}


class Wire:
    """A 2025-11-25 client whose only stream is the response to its request."""

    def __init__(self, http: httpx2.AsyncClient, url: str) -> None:
        self._http = http
        self._url = url
        self._headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}

    async def start(self) -> None:
        params = {
            "protocolVersion": "2025-11-25",
            "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "raw", "version": "1"},
        }
        async for _ in self.request({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}):
            pass
        await self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def request(self, message: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """The messages on the stream of this request."""
        async with self._http.stream("POST", self._url, json=message, headers=self._headers) as response:
            if session := response.headers.get("mcp-session-id"):
                self._headers["mcp-session-id"] = session
            async for line in response.aiter_lines():
                if line.startswith("data:") and line[5:].strip():
                    yield json.loads(line[5:])

    async def send(self, message: dict[str, Any]) -> int:
        return (await self._http.post(self._url, json=message, headers=self._headers)).status_code


@asynccontextmanager
async def wire(url: str) -> AsyncIterator[Wire]:
    async with httpx2.AsyncClient(timeout=20) as http:
        found = Wire(http, url)
        await found.start()
        yield found


CALL = {
    "jsonrpc": "2.0",
    "id": 7,
    "method": "tools/call",
    "params": {"name": "three_calls_down", "arguments": {"token": "x"}},
}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with serving(SERVER, tmp_path_factory.mktemp("messy") / "stderr") as url:
        yield url


async def test_a_question_is_pushed_on_the_stream_of_the_request_that_asks(url: str) -> None:
    async with wire(url) as client:
        seen: list[str] = []
        async for message in client.request(CALL):
            seen.append(message.get("method", "result"))
            if message.get("method") == "elicitation/create":
                assert message["params"]["message"] == "a?"
                assert message["params"]["requestedSchema"]["required"] == ["answer"]
                answer = {"action": "accept", "content": {"answer": "hello"}}
                await client.send({"jsonrpc": "2.0", "id": message["id"], "result": answer})
            elif "result" in message:
                assert message["result"]["content"][0]["text"] == "hello"
        assert seen == ["elicitation/create", "result"]


async def _answering(client: Wire, answer: dict[str, Any]) -> AsyncGenerator[dict[str, Any]]:
    """All that comes for one call, whose question gets this answer."""
    async for message in client.request(CALL):
        yield message
        if message.get("method") == "elicitation/create":
            await client.send({"jsonrpc": "2.0", "id": message["id"], "result": answer})


@pytest.mark.parametrize("answer", [{"action": "maybe"}, {}, {"action": "accept", "content": ["x"]}])
async def test_a_malformed_answer_to_a_push_is_a_protocol_error(url: str, answer: dict[str, Any]) -> None:
    async with wire(url) as client:
        asked, answered = [message async for message in _answering(client, answer)]
    assert asked["method"] == "elicitation/create"
    assert answered["error"]["code"] == INVALID_PARAMS
    assert "Malformed answer" in answered["error"]["message"]


async def test_older_guides_reject_is_a_decline_when_pushed_too(url: str) -> None:
    async with wire(url) as client:
        asked, answered = [
            message async for message in _answering(client, {"action": "reject", "_meta": {DECIDED: True}})
        ]
    assert asked["method"] == "elicitation/create"
    assert answered["result"]["isError"]
    assert "declined" in answered["result"]["content"][0]["text"]


async def test_a_call_resumes_in_another_process_after_the_first_has_died(tmp_path: Path) -> None:
    arguments = {"token": "moves"}
    with serving(SERVER, tmp_path / "one", **KEYS) as url:
        async with connect(url) as client:
            first = await raw_call(client, "straight_line", arguments)
    [key] = first["inputRequests"]
    with serving(SERVER, tmp_path / "two", **KEYS) as url:
        async with connect(url) as client:
            answers = {key: accept(answer="1")}
            second = await raw_call(client, "straight_line", arguments, state=first["requestState"], answers=answers)
    [key] = second["inputRequests"]
    with serving(SERVER, tmp_path / "three", **KEYS) as url:
        async with connect(url) as client:
            answers = {key: accept(answer="2")}
            third = await raw_call(client, "straight_line", arguments, state=second["requestState"], answers=answers)
            [key] = third["inputRequests"]
            answers = {key: accept(answer="3")}
            done = await raw_call(client, "straight_line", arguments, state=third["requestState"], answers=answers)
            assert text(done) == "1 2 3"
