"""A context or session that a tool kept from an earlier call does no harm."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from mcp.server.mcpserver import Context

from midcall.testing import Era, connect
from tests.calling import Word
from tests.kinds import server_with
from tests.rounds import text
from tests.serving import stdio

ANSWERS = {"a?": "1", "b?": "2"}


async def keeping(kept: list[Context], era: Era, use: Any) -> tuple[str, str]:
    """Keep the context of one call, use it in the next; the results of that and of a third."""

    async def keep(ctx: Context) -> str:
        kept.append(ctx)
        answer: Any = await ctx.elicit("a?", Word)
        return answer.data.word

    async def later(ctx: Context) -> str:
        return str(await use(kept[0]))

    async with asyncio.timeout(10), connect(server_with(keep, later), ANSWERS, era=era) as client:
        assert text(await client.call_tool("keep", {})) == "1"
        return text(await client.call_tool("later", {})), text(await client.call_tool("keep", {}))


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
async def test_a_kept_context_asks_through_the_current_call_and_the_server_continues(era: Era) -> None:
    async def use(kept: Context) -> str:
        answer: Any = await kept.elicit("b?", Word)
        return answer.data.word

    assert await keeping([], era, use) == ("2", "1")


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
async def test_progress_by_a_kept_context_goes_nowhere_and_the_server_continues(era: Era) -> None:
    async def use(kept: Context) -> str:
        await kept.report_progress(1, 2)
        return "reported"

    assert await keeping([], era, use) == ("reported", "1")


async def test_a_task_that_outlives_its_call_can_ask_nobody_and_is_told_so() -> None:
    go_on, told = asyncio.Event(), asyncio.Event()
    outcomes: list[object] = []
    tasks: list[asyncio.Task[None]] = []

    async def outlives(ctx: Context) -> None:
        await go_on.wait()
        try:
            outcomes.append(await ctx.elicit("b?", Word))
        except Exception as exc:
            outcomes.append(exc)
        finally:
            told.set()

    async def tool(ctx: Context) -> str:
        tasks.append(asyncio.create_task(outlives(ctx)))
        answer: Any = await ctx.elicit("a?", Word)
        return answer.data.word

    async with asyncio.timeout(10), connect(server_with(tool), ANSWERS) as client:
        assert text(await client.call_tool("tool", {})) == "1"
        go_on.set()
        await told.wait()
        assert text(await client.call_tool("tool", {})) == "1"
    assert isinstance(outcomes[0], Exception)


KEEPING = """
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

import midcall

class Word(BaseModel):
    word: str

kept: list[Any] = []
server = MCPServer("keeping")
midcall.install(server)

@server.tool()
async def keep(ctx: Context) -> str:
    kept.append(ctx.session)
    return (await ctx.elicit("a?", Word)).data.word

@server.tool()
async def later() -> str:
    answer = await kept[0].elicit_form("b?", Word.model_json_schema())
    return answer.content["word"]

server.run()
"""


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
async def test_over_stdio_a_kept_session_does_not_end_the_server(era: Era, tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(KEEPING)
    with (tmp_path / "stderr").open("w") as stderr:
        server = stdio(tmp_path / "server.py", stderr)
        async with asyncio.timeout(30), connect(server, ANSWERS, era=era) as client:
            for tool, word in (("keep", "1"), ("later", "2"), ("keep", "1")):
                assert text(await client.call_tool(tool, {})) == word
