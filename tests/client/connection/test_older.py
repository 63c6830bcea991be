"""Servers that negotiate 2026-07-28 and push all the same, as both Go SDKs let them."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from mcp import MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import TextContent

from midcall.client import Answerer, CannotConnect, Script, connect
from midcall.core.outcome import Accepted
from tests.client.answerers import Answers
from tests.client.raw import round_of
from tests.peer import COMMAND, GO_SDK, MCP_GO, OLD, PUSH, failed, only, play
from tests.peer_server import NEW

ADVICE = 'Pass era="legacy" to connect, or downgrade=True to call again on an older version.'
WORDINGS = [
    GO_SDK,
    MCP_GO,
    f"failed to request elicitation: {MCP_GO}",
    "Cannot send 'elicitation/create': this transport context has no back-channel for server-initiated requests.",
    f"elicitation via server-initiated requests is unavailable on {NEW} connections.",
    "Server-initiated requests are not available in the modern lifecycle (SEP-2575).",
]


def answers() -> Answerer:
    return Script({"Your name?": {"name": "Ada"}})


def error(text: str) -> dict[str, Any]:
    return {"error": {"code": -32603, "message": text}}


@pytest.mark.parametrize("text", WORDINGS)
async def test_an_error_says_what_happened_and_what_to_pass(text: str) -> None:
    async with connect(COMMAND, answers()) as client:
        with pytest.raises(MCPError) as caught:
            await play(client, {"push": PUSH, "refusal": error(text)})
    [note] = caught.value.__notes__
    assert note == f"The server pushes its question, and protocol version {NEW} doesn't allow that. {ADVICE}"


@pytest.mark.parametrize("text", WORDINGS)
async def test_a_failed_result_comes_out_as_it_is_and_the_log_says_the_same(
    text: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with connect(COMMAND, answers()) as client:
        result = await client.call_tool("play", {"steps": [{"push": PUSH, "refusal": failed(text)}]})
    assert result.is_error
    assert [block.text for block in result.content if isinstance(block, TextContent)] == [text]
    assert ADVICE in caplog.text


async def test_other_errors_are_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    async with connect(COMMAND, answers(), downgrade=True) as client:
        with pytest.raises(MCPError) as caught:
            await play(client, error("broken"))
        await client.call_tool("play", {"steps": [failed("broken, too")]})
    assert not hasattr(caught.value, "__notes__")
    assert ADVICE not in caplog.text


async def test_the_older_version_works() -> None:
    async with connect(COMMAND, answers(), era="legacy") as client:
        seen = await play(client, {"push": PUSH, "refusal": error(GO_SDK)})
    assert seen["answers"] == [{"result": {"action": "accept", "content": {"name": "Ada"}}}]


@pytest.mark.parametrize("refusal", [failed(GO_SDK), error(MCP_GO)], ids=["go-sdk", "mcp-go"])
async def test_the_caller_can_allow_the_older_version_for_the_calls_that_need_it(refusal: dict[str, Any]) -> None:
    script = Script({"Your name?": {"name": "Ada"}})
    with anyio.fail_after(60):
        async with connect(COMMAND, script, downgrade=True) as client:
            assert (await play(client))["versions"] == [NEW]
            seen = await play(client, {"push": PUSH, "refusal": refusal})
            assert seen["versions"] == [OLD]
            assert seen["answers"] == [{"result": {"action": "accept", "content": {"name": "Ada"}}}]
            assert (await play(client, {"notify": ["notifications/x", {}]}))["versions"] == [OLD]
    assert [asked.protocol for asked in script.asked] == [OLD]


async def test_both_connections_of_a_call_that_is_made_again_are_the_same_server() -> None:
    answerer = Answers(lambda asked: Accepted({"name": "Ada"}))
    with anyio.fail_after(60):
        async with connect(COMMAND, answerer, downgrade=True) as client:
            await play(client, {"result": round_of({"q": PUSH})})
            await play(client, {"push": PUSH, "refusal": failed(GO_SDK)})
    new, *_, old = answerer.asked
    assert (new.protocol, old.protocol) == (NEW, OLD)
    assert new.sender == old.sender


async def test_calls_at_the_same_time_share_the_second_connection() -> None:
    seen: list[list[str]] = []

    async def run(number: int) -> None:
        refusal = failed(GO_SDK)
        seen.append((await play(client, {"push": {**PUSH, "x": number}, "refusal": refusal}))["versions"])

    script = Script(lambda asked: {"name": "Ada"})
    with anyio.fail_after(60):
        async with connect(COMMAND, script, downgrade=True) as client, anyio.create_task_group() as group:
            for number in range(3):
                group.start_soon(run, number)
    assert seen == [[OLD]] * 3


async def test_a_server_without_an_older_version_is_reported_as_such() -> None:
    with anyio.fail_after(60):
        async with connect(only(NEW), answers(), downgrade=True) as client:
            with pytest.raises(CannotConnect):
                await play(client, {"push": PUSH, "refusal": failed(GO_SDK)})


async def test_what_cannot_be_connected_twice_is_refused_at_once() -> None:
    transport = stdio_client(StdioServerParameters(command=COMMAND[0], args=COMMAND[1:]))
    with pytest.raises(TypeError, match="a transport can be used only once"):
        async with connect(transport, answers(), downgrade=True):
            pass
    with pytest.raises(ValueError, match="leave one of them out"):
        async with connect(COMMAND, answers(), era="2025-11-25", downgrade=True):
            pass
