"""What a tool can do with its session is what it could do without midcall."""

from __future__ import annotations

import copy
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.client.session import ClientRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    LoggingMessageNotificationParams,
    ProgressNotification,
    SamplingMessage,
    TextContent,
)

import midcall
from midcall.testing import Era
from tests.rounds import text


async def talkative(ctx: Context) -> str:
    await ctx.log("debug", "small")  # pyright: ignore[reportDeprecated]
    await ctx.log("warning", {"about": "something"}, logger_name="tool")  # pyright: ignore[reportDeprecated]
    return "done"


async def logged(server: MCPServer, era: Era, level: Any) -> list[tuple[str, Any]]:
    seen: list[tuple[str, Any]] = []

    async def note(params: LoggingMessageNotificationParams) -> None:
        seen.append((params.level, params.data))

    mode = era if era == "2026-07-28" else "legacy"
    async with Client(server, mode=mode, logging_callback=note, log_level=level) as client:
        assert text(await client.call_tool("talkative", {})) == "done"
    return seen


@pytest.mark.filterwarnings("ignore:The logging capability is deprecated")
@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize("level", [None, "debug", "warning"])
async def test_log_messages_reach_the_client_as_they_did_before(era: Era, level: str | None) -> None:
    without, installed = MCPServer("plain"), MCPServer("installed")
    midcall.install(installed)
    for server in (without, installed):
        server.tool()(talkative)
    before = await logged(without, era, level)
    assert await logged(installed, era, level) == before
    assert bool(before) is (era != "2026-07-28" or level is not None)


async def test_a_session_can_be_copied() -> None:
    mcp = MCPServer("server")
    midcall.install(mcp)

    @mcp.tool()
    async def copies(ctx: Context) -> str:
        twin = copy.copy(ctx.session)
        return str(twin.client_params == ctx.session.client_params and twin is not ctx.session)

    async with Client(mcp) as client:
        assert text(await client.call_tool("copies", {})) == "True"


async def test_what_a_session_does_not_have_is_named() -> None:
    mcp = MCPServer("server")
    midcall.install(mcp)

    @mcp.tool()
    async def looks(ctx: Context) -> str:
        with pytest.raises(AttributeError, match="nothing_like_it"):
            _ = ctx.session.nothing_like_it  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType, reportAttributeAccessIssue]
        return "no"

    async with Client(mcp) as client:
        assert text(await client.call_tool("looks", {})) == "no"


# --- progress --------------------------------------------------------------------------------


async def test_progress_that_the_tool_reports_reaches_the_caller_whole() -> None:
    seen: list[tuple[float, float | None, str | None]] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))

    mcp = MCPServer("server")
    midcall.install(mcp)

    @mcp.tool()
    async def reports(ctx: Context) -> str:
        await ctx.report_progress(1, 3, "one of three")
        return "done"

    async with Client(mcp) as client:
        await client.call_tool("reports", {}, progress_callback=heard)
    assert seen == [(1, 3, "one of three")]


async def test_progress_that_is_sent_by_token_leaves_as_it_was_sent() -> None:
    seen: list[tuple[bool, float, float | None, str | None]] = []

    async def note(message: Any) -> None:
        if isinstance(message, ProgressNotification):
            params = message.params
            seen.append((params.progress_token == "another", params.progress, params.total, params.message))

    async def heard(progress: float, total: float | None, message: str | None) -> None: ...

    mcp = MCPServer("server")
    midcall.install(mcp)

    @mcp.tool()
    async def reports(ctx: Context) -> str:
        own = (ctx.request_context.meta or {}).get("progress_token")
        assert own is not None
        for progress in (1, 2, 1, 2, 3):
            await ctx.session.send_progress_notification(own, progress, 3, "own")
        for progress in (2, 1):
            await ctx.session.send_progress_notification("another", progress, 9, "other")
        return "done"

    async with Client(mcp, mode="legacy", message_handler=note) as client:
        await client.call_tool("reports", {}, progress_callback=heard)
    assert [each for each in seen if not each[0]] == [(False, each, 3, "own") for each in (1, 2, 1, 2, 3)]
    assert [each for each in seen if each[0]] == [(True, each, 9, "other") for each in (2, 1)]


# --- other requests --------------------------------------------------------------------------

SAMPLING = CreateMessageRequest(
    params=CreateMessageRequestParams(
        messages=[SamplingMessage(role="user", content=TextContent(text="Say something."))], max_tokens=9
    )
)


async def test_a_request_that_asks_no_user_leaves_as_it_did_and_its_time_is_up_as_it_was() -> None:
    async def never(context: ClientRequestContext, params: CreateMessageRequestParams) -> CreateMessageResult:
        await anyio.sleep_forever()
        raise AssertionError

    mcp = MCPServer("server")
    midcall.install(mcp)

    @mcp.tool()
    async def samples(ctx: Context) -> str:
        with pytest.raises(MCPError, match=r"(?i)timed out"):
            await ctx.session.send_request(SAMPLING, CreateMessageResult, request_read_timeout_seconds=0.01)
        return "timed out"

    async with Client(mcp, mode="legacy", sampling_callback=never) as client:
        with anyio.fail_after(20):
            assert text(await client.call_tool("samples", {})) == "timed out"


@pytest.mark.filterwarnings("ignore:Client-to-server progress is deprecated")
async def test_a_request_that_asks_no_user_gets_the_clients_progress() -> None:
    heard: list[float] = []

    async def samples_slowly(context: ClientRequestContext, params: CreateMessageRequestParams) -> CreateMessageResult:
        token = (context.meta or {}).get("progress_token")
        assert token is not None
        await context.session.send_progress_notification(token, 0.5)  # pyright: ignore[reportDeprecated]
        return CreateMessageResult(role="assistant", content=TextContent(text="Something."), model="m")

    async def note(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    mcp = MCPServer("server")
    midcall.install(mcp)

    @mcp.tool()
    async def samples(ctx: Context) -> str:
        result = await ctx.session.send_request(SAMPLING, CreateMessageResult, progress_callback=note)
        assert isinstance(result.content, TextContent)
        return result.content.text

    async with Client(mcp, mode="legacy", sampling_callback=samples_slowly) as client:
        assert text(await client.call_tool("samples", {})) == "Something."
    assert heard == [0.5]
