"""Which tools have their own App is learnt from the lists that callers see, and those may differ."""

from __future__ import annotations

from typing import Any

import mcp_types
import pytest
from mcp import MCPError
from mcp.client.extension import advertise
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

import midcall
from midcall.server.installation import installation_on
from midcall.stores.memory import Memory
from midcall.testing import connect
from tests.kinds import bare_server


def caller(ctx: Any) -> str:
    return str((ctx.params or {}).get("_meta", {}).get("example.com/user"))


@pytest.mark.usefixtures("never_shown")
async def test_who_cannot_see_a_tool_decides_nothing_about_it_for_those_who_can() -> None:
    lists: list[str] = []

    async def book() -> str:
        return await midcall.ask("Where to?", str)

    async def hide(ctx: ServerRequestContext[Any], call_next: CallNext) -> HandlerResult:
        result: Any = await call_next(ctx)
        if ctx.method == "tools/list":
            lists.append(caller(ctx))
            if caller(ctx) == "mallory":
                tools = result.tools if isinstance(result, mcp_types.ListToolsResult) else result["tools"]
                tools.clear()
        return result

    server = bare_server("mcpserver", book)
    midcall.install(server, store=Memory(), principal=caller)
    server._lowlevel_server.middleware.append(hide)
    known = installation_on(server)
    assert known is not None
    apps = advertise(EXTENSION_ID, {"mimeTypes": [APP_MIME_TYPE]})
    async with connect(server, modes=(), extensions=[apps]) as client:
        for name in ("mallory", "mallory", "ada"):
            try:
                await client.call_tool("book", {}, meta={"example.com/user": name})
            except MCPError:
                continue
            assert known.own_apps.get("book") is (False if name == "ada" else None)
    assert lists[:2] == ["mallory", "ada"]  # the client lists them, too
