"""A server that nobody holds any more is freed, with midcall on it: some make one per tenant."""

from __future__ import annotations

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
from midcall.testing import run
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
