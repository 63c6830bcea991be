"""What a tool can do with its session is what it could do without midcall."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from mcp import Client
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import LoggingMessageNotificationParams

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
