"""A server that nobody holds any more is freed, with midcall on it: some make one per tenant."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from typing import Any
from weakref import ref

import pytest
from fastmcp import FastMCP
from mcp.server.lowlevel.server import Server
from mcp.server.mcpserver import MCPServer

import midcall
from midcall import ask
from midcall.server.call import current_call
from midcall.testing import connect, run
from tests.calling import begin, finish
from tests.kinds import KINDS, Kind, server_with


@pytest.mark.parametrize("make", [MCPServer, Server, FastMCP])
def test_an_installed_server_is_freed(make: Callable[[str], Any]) -> None:
    server = make("test")
    midcall.install(server)
    freed = ref(server)
    del server
    gc.collect()
    assert freed() is None


@pytest.mark.parametrize("kind", KINDS)
async def test_a_server_whose_tools_have_asked_is_freed(kind: Kind) -> None:
    async def tool() -> str:
        return await ask("Who?", str)

    server = server_with(tool, kind=kind)
    assert (await run(server, "tool", {}, {"Who?": "Ada"})).text == "Ada"
    freed = ref(server)
    del server
    gc.collect()
    assert freed() is None


@pytest.mark.parametrize("live", [True, False])
async def test_a_call_is_freed_when_it_has_ended_without_the_garbage_collector(live: bool) -> None:
    calls: list[ref[Any]] = []

    async def tool() -> str:
        calls.append(ref(current_call.get()))
        return await ask("Who?", str)

    server = MCPServer("test")
    midcall.install(server, live=live)
    server.add_tool(tool)
    async with connect(server) as client:
        gc.disable()
        try:
            first = await begin(client, "tool")
            await asyncio.sleep(0)
            assert [call() is None for call in calls] == [not live]
            assert await finish(client, first, {"Who?": "Ada"}) == "Ada"
            await asyncio.sleep(0)
            assert [call() for call in calls] == [None] * (1 if live else 2)
        finally:
            gc.enable()
