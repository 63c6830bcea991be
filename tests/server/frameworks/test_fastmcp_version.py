"""A FastMCP server with midcall sees the version that was negotiated, and its `ctx.elicit` works all the same."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server import create_proxy
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext

import midcall
from midcall.testing import ERAS, Era, run

ANSWERS = {"Name?": "Ada", "City?": "Oslo"}


def version_in(ctx: Context) -> str:
    assert ctx.request_context is not None
    return ctx.request_context.protocol_version


def server_with(tool: Any) -> FastMCP[Any]:
    mcp: FastMCP[Any] = FastMCP("test")
    mcp.tool(tool, name="tool")
    midcall.install(mcp)
    return mcp


@pytest.mark.parametrize("era", ERAS)
async def test_a_tool_sees_the_version_that_was_negotiated_before_and_after_a_question(era: Era) -> None:
    async def tool(ctx: Context) -> str:
        before = version_in(ctx)
        name = await ctx.elicit("Name?", str)
        return f"{before} {name.data} {version_in(ctx)}"

    done = await run(server_with(tool), "tool", {}, ANSWERS, era=era)
    assert done.text == f"{era} Ada {era}"


@pytest.mark.parametrize("era", ERAS)
async def test_a_branch_sees_it_while_another_one_asks(era: Era) -> None:
    async def tool(ctx: Context) -> str:
        seen: list[str] = []
        asked = asyncio.Event()

        async def asks(message: str) -> str:
            return (await ctx.elicit(message, str)).data

        async def looks() -> None:
            while not asked.is_set():
                seen.append(version_in(ctx))
                await asyncio.sleep(0)

        async with asyncio.TaskGroup() as group:
            group.create_task(looks())
            answers = await asyncio.gather(asks("Name?"), asks("City?"))
            asked.set()
        assert seen
        return f"{answers} {sorted(set(seen))}"

    done = await run(server_with(tool), "tool", {}, ANSWERS, era=era)
    assert done.text == f"['Ada', 'Oslo'] ['{era}']"


@pytest.mark.parametrize("era", ERAS)
async def test_it_is_back_after_a_question_that_can_not_be_sent(era: Era) -> None:
    async def tool(ctx: Context) -> str:
        with pytest.raises(TypeError):
            await ctx.elicit("Name?", None, response_title="A form without a field has none")
        return version_in(ctx)

    assert (await run(server_with(tool), "tool", {}, ANSWERS, era=era)).text == era


class Notes(Middleware):
    def __init__(self) -> None:
        self.seen: list[str] = []

    async def on_call_tool(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        assert context.fastmcp_context is not None
        self.seen.append(version_in(context.fastmcp_context))
        return await call_next(context)


@pytest.mark.parametrize("era", ERAS)
async def test_middleware_sees_it_too(era: Era) -> None:
    async def tool(ctx: Context) -> str:
        return (await ctx.elicit("Name?", str)).data

    mcp = server_with(tool)
    mcp.add_middleware(notes := Notes())
    assert (await run(mcp, "tool", {}, ANSWERS, era=era)).text == "Ada"
    assert set(notes.seen) == {era}


async def test_without_adoption_fastmcp_refuses_as_it_does_without_midcall() -> None:
    async def tool(ctx: Context) -> str:
        try:
            return (await ctx.elicit("Name?", str)).data
        except ToolError as exc:
            return str(exc)

    mcp: FastMCP[Any] = FastMCP("test")
    mcp.tool(tool)
    midcall.install(mcp, adopt=False)
    done = await run(mcp, "tool", {}, ANSWERS, era="2026-07-28")
    assert "2026-07-28" in done.text
    assert "Ada" not in done.text


@pytest.mark.parametrize("line_behind", [True, False])
async def test_a_gateway_passes_questions_on_if_the_server_behind_it_has_the_line(line_behind: bool) -> None:
    """A proxy speaks to its backends on the version of its client, as it does without midcall."""
    behind: FastMCP[Any] = FastMCP("behind")

    @behind.tool
    async def tool(ctx: Context) -> str:
        try:
            return (await ctx.elicit("Name?", str)).data
        except ToolError as exc:
            return str(exc)

    if line_behind:
        midcall.install(behind)
    gateway = create_proxy(behind, name="gateway")
    midcall.install(gateway)
    said = (await run(gateway, "tool", {}, ANSWERS, era="2026-07-28")).text
    assert (said == "Ada") is line_behind
    assert line_behind or "2026-07-28" in said
