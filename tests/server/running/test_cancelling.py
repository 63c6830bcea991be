"""A client that cancels the request being served cancels the run; a call that was cancelled is never replayed."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import anyio
import anyio.from_thread
import pytest
from mcp import Client, MCPError
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

import midcall
from midcall import once
from midcall.testing import Era, Script, connect
from tests import waiting
from tests.calling import MEANS, Elicit, Means, asking, bare_asking, begin, finish, retry
from tests.kinds import Kind, server_with
from tests.serving import stdio

ANSWERS = {"a?": "1", "b?": "2"}
CANCELLED = "^This call was cancelled"
_SECONDS = 20


class Trail:
    """A tool that works on after its answer, and what became of it."""

    def __init__(self) -> None:
        self.working, self.ended, self.go_on = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.steps: list[str] = []

    async def tool(self, elicit: Elicit) -> str:
        self.steps.append("began")
        await elicit("a?")
        self.working.set()
        try:
            await self.go_on.wait()
            self.steps.append("worked")
        except asyncio.CancelledError:
            self.steps.append("cancelled")
            raise
        finally:
            self.ended.set()
        return "done"


async def cancelled(task: asyncio.Task[object]) -> None:
    """Cancel this request of the client, and wait until the client knows."""
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("means", MEANS)
async def test_cancelling_the_request_that_is_served_cancels_the_run(means: Means) -> None:
    trail = Trail()

    async def tool(elicit: Elicit) -> str:
        return await trail.tool(elicit)

    async with asyncio.timeout(10), connect(asking(means, tool)) as client:
        first = await begin(client, "tool")
        served = asyncio.create_task(retry(client, first, ANSWERS))
        await trail.working.wait()
        await cancelled(served)
        await trail.ended.wait()
    assert trail.steps == ["began", "cancelled"]


async def test_cancelling_the_first_request_cancels_the_run() -> None:
    working, ended = asyncio.Event(), asyncio.Event()

    async def tool(elicit: Elicit) -> str:
        working.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return "never"

    async with asyncio.timeout(10), connect(asking("mcpserver", tool)) as client:
        served = asyncio.create_task(client.call_tool("tool", {}))
        await working.wait()
        await cancelled(served)
        await ended.wait()


async def test_cancelling_works_for_a_client_that_is_connected_without_a_transport() -> None:
    trail = Trail()

    async def tool(elicit: Elicit) -> str:
        return await trail.tool(elicit)

    direct = Client(asking("mcpserver", tool), mode="2026-07-28", elicitation_callback=Script())
    async with asyncio.timeout(10), direct as client:
        first = await begin(client, "tool")
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(retry, client, first, ANSWERS)
                await trail.working.wait()
                scope.cancel()
        await trail.ended.wait()
    assert trail.steps == ["began", "cancelled"]


@pytest.mark.parametrize("means", MEANS)
async def test_a_state_whose_run_the_client_cancelled_is_refused_and_never_replayed(means: Means) -> None:
    trail = Trail()

    async def tool(elicit: Elicit) -> str:
        return await trail.tool(elicit)

    async with asyncio.timeout(10), connect(asking(means, tool)) as client:
        first = await begin(client, "tool")
        served = asyncio.create_task(retry(client, first, ANSWERS))
        await trail.working.wait()
        await cancelled(served)
        await trail.ended.wait()
        with pytest.raises(MCPError, match=CANCELLED) as refused:
            await retry(client, first, ANSWERS)
        with pytest.raises(MCPError) as other:
            await retry(client, first, {"a?": "another"})
        assert refused.value.error.code == other.value.error.code == INVALID_PARAMS
    assert trail.steps == ["began", "cancelled"]


async def test_cancelling_one_of_two_same_retries_leaves_the_run_to_the_other() -> None:
    trail = Trail()

    async def tool(elicit: Elicit) -> str:
        return await trail.tool(elicit)

    async with asyncio.timeout(10), connect(asking("mcpserver", tool)) as client:
        first = await begin(client, "tool")
        one = asyncio.create_task(retry(client, first, ANSWERS))
        await trail.working.wait()
        other = asyncio.create_task(finish(client, first, ANSWERS))
        await client.list_tools()  # the other has reached the server by now
        await cancelled(one)
        await client.list_tools()  # and so has the cancellation
        trail.go_on.set()
        assert await other == "done"
    assert trail.steps == ["began", "worked"]


async def test_an_effect_that_is_running_finishes_before_the_run_is_cancelled() -> None:
    paying, go_on, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()
    steps: list[str] = []

    async def pay() -> str:
        paying.set()
        await go_on.wait()
        steps.append("paid")
        return "receipt"

    async def tool() -> str:
        try:
            await once("pay", pay)
            steps.append("continued")
            await asyncio.Event().wait()
        finally:
            steps.append("ended")
            ended.set()
        return "never"

    async with asyncio.timeout(10), connect(server_with(tool)) as client:
        served = asyncio.create_task(client.call_tool("tool", {}))
        await paying.wait()
        await cancelled(served)
        for _ in range(100):  # the server has heard of it by then, and waits for the effect
            await asyncio.sleep(0)
        before = list(steps)
        go_on.set()
        await ended.wait()
    assert (before, steps[0], steps[-1]) == ([], "paid", "ended")


async def test_middleware_of_the_author_that_gives_up_cancels_the_run() -> None:
    trail, scopes = Trail(), list[anyio.CancelScope]()

    async def limit(ctx: ServerRequestContext[Any], call_next: CallNext) -> HandlerResult:
        with anyio.CancelScope() as scope:
            scopes.append(scope)
            return await call_next(ctx)
        raise MCPError(INTERNAL_ERROR, "This took too long")

    async def tool(elicit: Elicit) -> str:
        return await trail.tool(elicit)

    server = bare_asking("mcpserver", tool)
    server.middleware.append(limit)
    midcall.install(server)
    async with asyncio.timeout(10), connect(server) as client:
        first = await begin(client, "tool")
        served = asyncio.create_task(retry(client, first, ANSWERS))
        await trail.working.wait()
        scopes[-1].cancel()
        with pytest.raises(MCPError, match="too long"):
            await served
        await trail.ended.wait()
    assert trail.steps == ["began", "cancelled"]


async def test_cancelling_over_stdio_cancels_the_run(tmp_path: Path) -> None:
    trail = tmp_path / "trail"
    with (tmp_path / "stderr").open("w") as stderr:
        transport = stdio(Path(waiting.__file__), stderr, "--trail", str(trail))
        async with asyncio.timeout(30), connect(transport) as client:
            first = await begin(client, "works")
            served = asyncio.create_task(retry(client, first, ANSWERS))
            await waiting.written(trail, "working")
            await cancelled(served)
            await waiting.written(trail, "ended")
            with pytest.raises(MCPError, match=CANCELLED):
                await retry(client, first, ANSWERS)
    assert waiting.read(trail) == ["began", "working", "ended", "closed"]


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize("kind", ["mcpserver", "fastmcp"])
async def test_a_def_tool_that_checks_for_cancellation_is_told_of_it(kind: Kind, era: Era) -> None:
    started, ended, checked = asyncio.Event(), asyncio.Event(), threading.Event()
    steps: list[object] = []
    loop = asyncio.get_running_loop()

    def tool() -> str:
        try:
            for step in range(3):
                anyio.from_thread.check_cancelled()
                steps.append(step)
                loop.call_soon_threadsafe(started.set)
                checked.wait(_SECONDS)
        finally:
            steps.append("cleaned up")
            loop.call_soon_threadsafe(ended.set)
        return "done"

    async with connect(server_with(tool, kind=kind), era=era) as client:
        task = asyncio.ensure_future(client.call_tool("tool", {}))
        async with asyncio.timeout(_SECONDS):
            await started.wait()
            await cancelled(task)
            await anyio.wait_all_tasks_blocked()
            checked.set()
            await ended.wait()
    assert steps == [0, "cleaned up"]
