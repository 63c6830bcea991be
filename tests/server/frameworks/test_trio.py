"""On a trio event loop an installed midcall changes nothing: runs are tasks of asyncio's."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

import midcall
from midcall import NoCall, ask
from midcall.stores.memory import Memory

pytest.importorskip("trio", reason="trio is not installed")


class Slot(BaseModel):
    hour: int


def server(*, installed: bool, **options: Any) -> MCPServer:
    mcp = MCPServer("test")

    @mcp.tool()
    async def silent() -> str:
        return "nothing to ask"

    @mcp.tool()
    async def elicits(ctx: Context[Any, Any]) -> str:
        try:
            return str(await ctx.elicit("At which hour?", Slot))
        except MCPError as exc:
            return f"{exc.code} {exc.message}"

    @mcp.tool()
    async def asks() -> str:
        try:
            return await ask("Who?", str)
        except NoCall as exc:
            return str(exc)

    if installed:
        midcall.install(mcp, **options)
    return mcp


async def results(mode: Any, *, installed: bool) -> list[object]:
    async with Client(server(installed=installed), mode=mode) as client:
        return [(await client.call_tool(name, {})).content for name in ("silent", "elicits")]


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_tools_do_what_they_did_without_midcall(mode: str) -> None:
    async def main() -> None:
        assert await results(mode, installed=True) == await results(mode, installed=False)

    anyio.run(main, backend="trio")


def test_a_verb_says_that_it_needs_asyncio() -> None:
    async def main() -> str:
        async with Client(server(installed=True)) as client:
            return str((await client.call_tool("asks", {})).content)

    assert "asyncio" in anyio.run(main, backend="trio")


def test_a_server_with_a_store_ends_even_in_a_thread_that_has_no_loop_of_asyncios() -> None:
    async def main() -> None:
        keys = ["k key of the tests: 0123456789abcdef"]
        async with Client(server(installed=True, store=Memory(), keys=keys)) as client:
            assert not (await client.call_tool("silent", {})).is_error

    with ThreadPoolExecutor(1) as pool:
        pool.submit(anyio.run, main, backend="trio").result(20)
