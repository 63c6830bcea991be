"""An answer that no code consumes: a replay that ends without it ends the call, never with the tool's result."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp_types import CallToolResult, ElicitResult

from midcall import from_thread
from midcall.testing import connect
from tests.calling import MEANS, Elicit, Means, asking, begin, retry
from tests.kinds import server_with
from tests.mistakes import logged_mistake

NO = ElicitResult(action="decline")


async def last(server: Any, tool: str, answers: dict[str, Any]) -> CallToolResult:
    """What a call comes to that has one round."""
    async with asyncio.timeout(20), connect(server) as client:
        result = await retry(client, await begin(client, tool), answers)
    assert isinstance(result, CallToolResult)
    return result


@pytest.mark.parametrize("answer", ["yes", NO], ids=["accepted", "declined"])
@pytest.mark.parametrize("means", MEANS)
async def test_a_tool_that_does_not_ask_when_it_is_replayed_has_no_result(
    means: Means, answer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    runs: list[None] = []

    async def tool(elicit: Elicit) -> str:
        runs.append(None)
        if len(runs) == 1:
            return await elicit("Keep changes?")
        return "committed"

    result = await last(asking(means, tool, live=False), "tool", {"Keep changes?": answer})
    assert result.is_error
    assert "committed" not in str(result.content)
    assert "ReplayMismatch in 'tool': The tool did not ask again what was answered: 'Keep changes?'" in logged_mistake(
        caplog
    )


async def test_so_has_a_def_tool(caplog: pytest.LogCaptureFixture) -> None:
    runs: list[None] = []

    def tool() -> str:
        runs.append(None)
        if len(runs) == 1:
            return from_thread.ask("Keep changes?", str)
        return "committed"

    result = await last(server_with(tool, live=False), "tool", {"Keep changes?": "no"})
    assert result.is_error
    assert "ReplayMismatch" in logged_mistake(caplog)


async def test_so_has_one_that_asks_in_a_branch(caplog: pytest.LogCaptureFixture) -> None:
    runs: list[None] = []

    async def tool(elicit: Elicit) -> str:
        runs.append(None)
        if len(runs) == 1:
            return (await asyncio.gather(elicit("Keep changes?")))[0]
        return "committed"

    result = await last(asking("mcpserver", tool, live=False), "tool", {"Keep changes?": "no"})
    assert result.is_error
    assert "ReplayMismatch" in logged_mistake(caplog)
