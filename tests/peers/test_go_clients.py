"""Clients that count rounds as go-sdk and mcp-go do: they give up on holds and rounds that others take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.peers import pages_server
from tests.peers.plain import MODERN, Transport, plain

SERVER = Path(pages_server.__file__)
ROUNDS, HOLDS = 10, 3
"""Both give up at the tenth round, and at the third that only holds: go-sdk over the whole call, mcp-go in a row."""
KINDS = ("go-sdk", "mcp-go")
TRANSPORTS: tuple[Transport, ...] = ("stdio", "HTTP")
both = pytest.mark.parametrize("transport", TRANSPORTS)
each_kind = pytest.mark.parametrize("kind", KINDS)


class GivesUp(Exception):
    pass


async def call_as(kind: str, client: Any, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The result of a call, as this SDK's client comes to it."""
    holds, more = 0, {}
    for number in range(1, 99):
        result = (await client.once(tool, arguments, **more))["result"]
        if kind == "mcp-go":
            if not isinstance(result.get("content"), list):
                raise GivesUp("content is missing")
            if result["resultType"] != "input_required":
                return result
            requests = result.get("inputRequests") or {}
            holds = 0 if requests else holds + 1
        else:
            if result.get("inputRequests") is None:  # it never looks at the type of the result
                return result
            requests = result["inputRequests"]
            if requests and result.get("content"):
                raise GivesUp("both content and questions")
            holds += not requests
        if holds >= HOLDS:
            raise GivesUp(f"{holds} rounds only held")
        if number >= ROUNDS:
            raise GivesUp(f"{number} rounds")
        more = client.retry(result)
    raise AssertionError


def typed(params: dict[str, Any]) -> dict[str, Any]:
    """Types an answer, or agrees to go."""
    fields = params.get("requestedSchema", {}).get("properties", {})
    return {"action": "accept", **({"content": dict.fromkeys(fields, "x")} if fields else {})}


@both
@each_kind
async def test_a_call_that_only_holds_ends_with_a_code_before_they_give_up(
    transport: Transport, kind: str, tmp_path: Path
) -> None:
    async with plain(
        transport, SERVER, tmp_path / "log", MODERN, {"url": {}}, MIDCALL_TEST_HOLD="0.01", MIDCALL_TEST_PORTAL="0"
    ) as client:
        result = await call_as(kind, client, "wait", {})
    held = [each["result"] for each in client.results if each["result"].get("inputRequests") == {}]
    assert len(held) == 2
    for each in held:
        assert each["content"] == []
        assert each["requestState"]
    assert len(client.asked) == 1
    assert "midcall_continue" in result["content"][0]["text"]


@both
@each_kind
async def test_a_call_of_nine_questions_ends_in_one_go(transport: Transport, kind: str, tmp_path: Path) -> None:
    async with plain(transport, SERVER, tmp_path / "log", MODERN, {"form": {}}, typed) as client:
        result = await call_as(kind, client, "many", {"questions": 9})
    assert result["content"][0]["text"] == " ".join("x" * 9)
    assert len(client.results) == 10
    assert all(each["result"]["content"] == [] for each in client.results[:-1])


@both
@each_kind
async def test_a_call_of_more_questions_continues_with_a_code(transport: Transport, kind: str, tmp_path: Path) -> None:
    async with plain(transport, SERVER, tmp_path / "log", MODERN, {"form": {}}, typed) as client:
        first = await call_as(kind, client, "many", {"questions": 12})
        code = first["_meta"]["midcall/code"]
        rest = await call_as(kind, client, "midcall_continue", {"code": code})
    assert rest["content"][0]["text"] == " ".join("x" * 12)
    assert len(client.asked) == 12
