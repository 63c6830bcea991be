"""Time limits around a question are real in a live run: they expire while the user thinks."""

from __future__ import annotations

import asyncio

import anyio
import pytest
from mcp_types import CallToolResult

from midcall import TimedOut, ask
from midcall.testing import connect
from tests.calling import MEANS, Elicit, Means, asking, begin, finish, proceed, retry
from tests.kinds import server_with
from tests.rounds import text

ANSWERS = {"a?": "1", "b?": "2"}


@pytest.mark.parametrize("means", MEANS)
async def test_a_timeout_around_a_question_expires_between_two_rounds(means: Means) -> None:
    limits: list[asyncio.Timeout] = []
    expired = asyncio.Event()

    async def tool(elicit: Elicit) -> str:
        try:
            async with asyncio.timeout(None) as limit:
                limits.append(limit)
                return await elicit("a?")
        except TimeoutError:
            expired.set()
            return "too late"

    async with asyncio.timeout(10), connect(asking(means, tool)) as client:
        first = await begin(client, "tool")
        limits[0].reschedule(asyncio.get_running_loop().time())
        await expired.wait()
        assert await finish(client, first, ANSWERS) == "too late"


@pytest.mark.parametrize("means", MEANS)
async def test_wait_for_around_a_question_expires_between_two_rounds(means: Means) -> None:
    expired = asyncio.Event()

    async def tool(elicit: Elicit) -> str:
        try:
            return await asyncio.wait_for(_awaited(elicit("a?")), 0.2)
        except TimeoutError:
            expired.set()
            return "too late"

    async with asyncio.timeout(10), connect(asking(means, tool)) as client:
        first = await begin(client, "tool")
        await expired.wait()
        assert await finish(client, first, ANSWERS) == "too late"


@pytest.mark.parametrize("means", MEANS)
async def test_a_cancel_scope_around_a_question_expires_and_the_tool_asks_something_else(means: Means) -> None:
    scopes: list[anyio.CancelScope] = []
    expired = asyncio.Event()

    async def tool(elicit: Elicit) -> str:
        with anyio.move_on_after(None) as scope:
            scopes.append(scope)
            return await elicit("a?")
        expired.set()
        return f"instead {await elicit('b?')}"

    async with asyncio.timeout(10), connect(asking(means, tool)) as client:
        first = await begin(client, "tool")
        scopes[0].deadline = anyio.current_time()
        await expired.wait()
        second = await proceed(client, first, ANSWERS)
        assert second.asked == ["b?"]
        assert await finish(client, second, ANSWERS) == "instead 2"


async def test_an_answer_in_time_takes_the_limit_away() -> None:
    limits: list[asyncio.Timeout] = []

    async def tool(elicit: Elicit) -> str:
        async with asyncio.timeout(60) as limit:
            limits.append(limit)
            first = await elicit("a?")
        return f"{first} {await elicit('b?')}"

    async with connect(asking("mcpserver", tool)) as client:
        second = await proceed(client, await begin(client, "tool"), ANSWERS)
        assert await finish(client, second, ANSWERS) == "1 2"
    [limit] = limits
    assert not limit.expired()


async def test_the_timeout_of_a_question_is_a_timer() -> None:
    expired = asyncio.Event()

    async def tool() -> str:
        try:
            return await ask("a?", str, timeout=0.2)
        except TimedOut:
            expired.set()
            return "too late"

    async with asyncio.timeout(10), connect(server_with(tool)) as client:
        first = await begin(client, "tool")
        await expired.wait()
        assert await finish(client, first, ANSWERS) == "too late"


async def test_a_timeout_of_one_branch_leaves_the_question_of_another_open() -> None:
    limits: list[asyncio.Timeout] = []
    expired = asyncio.Event()

    async def tool(elicit: Elicit) -> str:
        async def limited() -> str:
            try:
                async with asyncio.timeout(None) as limit:
                    limits.append(limit)
                    return await elicit("a?")
            except TimeoutError:
                expired.set()
                return "too late"

        return " ".join(await asyncio.gather(limited(), _awaited(elicit("b?"))))

    async with asyncio.timeout(10), connect(asking("mcpserver", tool)) as client:
        first = await begin(client, "tool")
        assert first.asked == ["a?", "b?"]
        limits[0].reschedule(asyncio.get_running_loop().time())
        await expired.wait()
        done = await retry(client, first, ANSWERS)
        assert isinstance(done, CallToolResult)
        assert text(done) == "too late 2"


async def _awaited(question: object) -> str:
    """What is only awaitable, as the coroutine that `wait_for` and `gather` of older Pythons want."""
    return str(await question)  # type: ignore[misc]
