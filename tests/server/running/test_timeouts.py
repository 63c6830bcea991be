"""Timeouts, cancellation, and signs of life while somebody thinks."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel
import pytest
from mcp import MCPError
from mcp.client.session import ClientRequestContext
from mcp.server.mcpserver import Context
from mcp_types import (
    ElicitRequestParams,
    ElicitResult,
)

from midcall import (
    TimedOut,
    ask,
)
from midcall.testing import Era, connect
from tests.kinds import server_with
from tests.rounds import accept, raw_call, text
from tests.server.verbs.test_asking import PUSHED


@pytest.mark.parametrize("era", PUSHED)
async def test_a_timeout_ends_the_question_and_notifies_the_client(era: Era) -> None:
    closed = anyio.Event()

    async def slow(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        try:
            await anyio.sleep_forever()
        finally:
            closed.set()
        raise AssertionError

    async def tool() -> str:
        try:
            return await ask("?", str, timeout=0.05)
        except TimedOut as exc:
            return f"timed out: {exc}"

    from mcp import Client

    from midcall.client.transport.offer import Offer
    from midcall.client.transport.target import ConnectOptions
    from midcall.client.transport.target import reach as reached

    transport = Offer(reached(server_with(tool), ConnectOptions()).transport, version=era)
    with anyio.fail_after(10):
        async with Client(transport, mode="legacy", elicitation_callback=slow) as client:
            assert text(await client.call_tool("tool")).startswith("timed out")
            await closed.wait()


@pytest.mark.parametrize(
    ("live", "seconds", "answered", "expected"),
    [
        (True, 20, True, "x"),
        (True, 40, True, "too late"),
        (False, 20, True, "x"),
        (False, 40, True, "too late"),
        (False, 40, False, "too late"),
    ],
)
async def test_in_rounds_an_answer_that_comes_too_late_is_a_timeout(
    live: bool, seconds: float, answered: bool, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    async def tool() -> str:
        try:
            return await ask("?", str, timeout=30)
        except TimedOut:
            return "too late"

    async with connect(server_with(tool, live=live)) as client:
        first = await raw_call(client, "tool", {})
        answers = {key: accept(answer="x") for key in first["inputRequests"]} if answered else None
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + seconds)
        assert text(await raw_call(client, "tool", {}, state=first["requestState"], answers=answers)) == expected


async def test_in_a_live_run_the_time_is_up_between_two_rounds_too() -> None:
    up = anyio.Event()

    async def tool() -> str:
        try:
            return await ask("?", str, timeout=0.3)
        except TimedOut:
            up.set()
            return "too late"

    async with connect(server_with(tool, live=True)) as client:
        first = await raw_call(client, "tool", {})
        with anyio.fail_after(5):
            await up.wait()
        assert text(await raw_call(client, "tool", {}, state=first["requestState"])) == "too late"


async def test_cancelling_the_call_cancels_its_pending_question() -> None:
    shown, closed = anyio.Event(), anyio.Event()
    cleaned = anyio.Event()

    async def slow(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        shown.set()
        try:
            await anyio.sleep_forever()
        finally:
            closed.set()
        raise AssertionError

    async def tool() -> str:
        try:
            return await ask("?", str)
        finally:
            cleaned.set()

    from mcp import Client

    async with Client(server_with(tool), mode="legacy", elicitation_callback=slow) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "tool")
            with anyio.fail_after(5):
                await shown.wait()
            group.cancel_scope.cancel()
        with anyio.fail_after(5):
            await closed.wait()
            await cleaned.wait()


async def test_a_client_that_goes_away_while_asked_ends_the_tool() -> None:
    shown, ended = anyio.Event(), anyio.Event()

    async def slow(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        shown.set()
        await anyio.sleep_forever()
        raise AssertionError

    async def tool() -> str:
        try:
            return await ask("?", str)
        finally:
            ended.set()

    from mcp import Client

    server = server_with(tool)
    async with anyio.create_task_group() as group:
        async with Client(server, mode="legacy", elicitation_callback=slow) as client:
            group.start_soon(_quietly, client, "tool")
            with anyio.fail_after(5):
                await shown.wait()
        with anyio.fail_after(5):
            await ended.wait()


async def _quietly(client: Any, tool: str) -> None:
    try:
        await client.call_tool(tool)
    except (MCPError, anyio.ClosedResourceError):
        pass


async def test_while_a_push_waits_progress_goes_out_if_the_caller_wants_it() -> None:
    seen: list[float] = []
    enough = anyio.Event()

    async def progress(value: float, total: float | None, message: str | None) -> None:
        seen.append(value)
        if len(seen) >= 4:
            enough.set()

    async def slow(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        with anyio.fail_after(5):
            await enough.wait()
        return ElicitResult(action="accept", content={"answer": "x"})

    async def tool(ctx: Context) -> str:
        await ctx.report_progress(1, 2)
        answer = await ask("?", str)
        await ctx.report_progress(2, 2)
        return answer

    from mcp import Client

    server = server_with(tool, heartbeat=0.005)
    async with Client(server, mode="legacy", elicitation_callback=slow) as client:
        assert text(await client.call_tool("tool", progress_callback=progress)) == "x"
    assert seen == sorted(set(seen))
    assert seen[0] == 1
    assert seen[-1] == 2
    assert len(seen) >= 5


async def test_without_a_progress_token_no_progress_is_sent() -> None:
    from mcp_types import ProgressNotification

    received: list[Any] = []

    async def watch(message: Any) -> None:
        received.append(message)

    async def slow(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        for _ in range(50):
            await anyio.lowlevel.checkpoint()
        return ElicitResult(action="accept", content={"answer": "x"})

    async def tool() -> str:
        return await ask("?", str)

    from mcp import Client

    server = server_with(tool, heartbeat=0.0001)
    async with Client(server, mode="legacy", elicitation_callback=slow, message_handler=watch) as client:
        await client.call_tool("tool")
    assert not [message for message in received if isinstance(message, ProgressNotification)]


async def test_in_a_live_run_progress_is_reported_once() -> None:
    seen: list[float] = []

    async def progress(value: float, total: float | None, message: str | None) -> None:
        seen.append(value)

    async def tool(ctx: Context) -> str:
        for step in range(3):
            await ctx.report_progress(step, 3)
            await ask(f"{step}?", str)
        await ctx.report_progress(3, 3)
        return "done"

    async with connect(server_with(tool, live=True), lambda asked: "x") as client:
        await client.call_tool("tool", progress_callback=progress)
    assert seen == [0, 1, 2, 3]
