import pytest
from mcp.server import MCPServer

import midcall
from midcall import ask, once
from midcall.testing import run

mcp = MCPServer("garage")
midcall.install(mcp)
calls: list[str] = []


@mcp.tool()
async def repair() -> str:
    """Order a part and make an appointment."""
    part = await ask("Which part?", str)
    await once("order", lambda: calls.append(part))
    return f"{part} on {await ask('Which day?', str)}"


@pytest.mark.parametrize("live", [True, False])
async def test_the_part_is_ordered_once(live: bool) -> None:
    calls.clear()
    done = await run(mcp, "repair", {}, ["lamp", "Monday"], live=live)
    assert done.text == "lamp on Monday"
    assert calls == ["lamp"]
