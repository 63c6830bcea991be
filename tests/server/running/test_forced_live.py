"""Live runs at replicas that share keys and no store: `live=True` needs sticky routing.

Without it, a replica doesn't know what the others do, and relies on the state that the client sends.
"""

from __future__ import annotations

import asyncio
import logging

import pytest
from mcp import MCPError

from midcall.testing import connect
from tests.calling import MEANS, Elicit, Means, asking, begin, finish, proceed

ANSWERS = {"a?": "1", "b?": "2", "c?": "3"}
KEYS = ["k key of the tests: 0123456789abcdef"]


@pytest.mark.parametrize("means", MEANS)
async def test_a_call_that_comes_back_from_another_replica_is_replayed(
    means: Means, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "midcall")
    ended: list[str] = []

    async def tool(elicit: Elicit) -> str:
        try:
            return f"{await elicit('a?')} {await elicit('b?')} {await elicit('c?')}"
        finally:
            ended.append("ended")

    async with (
        asyncio.timeout(20),
        connect(asking(means, tool, keys=KEYS, live=True)) as here,
        connect(asking(means, tool, keys=KEYS, live=True)) as there,
    ):
        second = await proceed(there, await begin(here, "tool"), ANSWERS)
        third = await proceed(here, second, ANSWERS)
        assert third.asked == ["c?"]
        assert ended == ["ended"]  # the run that waited here for an older turn, before its replay began
        assert await finish(here, third, ANSWERS) == "1 2 3"
    said = [record.getMessage() for record in caplog.records if "Replaying a call" in record.getMessage()]
    assert len(said) == 2
    assert "(another replica, or a restart)" in said[0]
    assert "(continued elsewhere)" in said[1]


async def test_a_state_that_its_call_is_past_is_refused_with_what_is_known() -> None:
    async def tool(elicit: Elicit) -> str:
        return f"{await elicit('a?')} {await elicit('b?')} {await elicit('c?')}"

    async with (
        asyncio.timeout(20),
        connect(asking("mcpserver", tool, keys=KEYS, live=True)) as here,
        connect(asking("mcpserver", tool, keys=KEYS, live=True)) as there,
    ):
        first = await begin(here, "tool")
        second = await proceed(here, first, ANSWERS)
        third = await proceed(there, second, ANSWERS)
        with pytest.raises(MCPError, match="already continued, and its result is gone"):
            await finish(there, first, ANSWERS)
        assert await finish(there, third, ANSWERS) == "1 2 3"


async def test_a_state_that_was_too_large_to_travel_names_the_run_that_is_elsewhere() -> None:
    async def tool(elicit: Elicit) -> str:
        return f"{len(await elicit('a?'))} {await elicit('b?')}"

    async with (
        asyncio.timeout(20),
        connect(asking("ask", tool, keys=KEYS, live=True)) as here,
        connect(asking("ask", tool, keys=KEYS, live=True)) as there,
    ):
        second = await proceed(here, await begin(here, "tool"), {"a?": "x" * 100_000})
        with pytest.raises(MCPError, match="its run is not in this process"):
            await finish(there, second, ANSWERS)
        assert await finish(here, second, ANSWERS) == "100000 2"
