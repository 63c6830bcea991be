"""The server that the hosts of `test_hosts` call: in memory, over HTTP, or over stdio as this script."""

from __future__ import annotations

from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

import midcall
from midcall import approve, ask, choose, confirm
from midcall.portal.app import Portal
from midcall.stores.memory import Memory

KEYS = ["k key of the tests: 0123456789abcdef"]


class Slot(BaseModel):
    hour: int


async def book() -> str:
    """Three questions."""
    days = await ask("How many days will you stay?", int)
    seat = await choose("Where do you like to sit?", {"w": "At the window", "a": "On the aisle"})
    sure = await confirm(f"Book {days} days, seat {seat}?")
    return f"{days} {seat} {sure}"


async def name() -> str:
    """One question that every host can show."""
    return await ask("What is your name?", str)


async def pay() -> str:
    """Only a page can confirm it."""
    return f"Paid: {await approve('Pay 5 EUR to Ada', {'Amount': '5 EUR'})}"


async def plain(ctx: Context[Any, Any]) -> str:
    """The SDK's own way to ask."""
    answer = await ctx.elicit("At which hour?", Slot)
    return f"{answer.action} {answer.data.hour}" if answer.action == "accept" else answer.action


def host_server(*, portal: bool = True, doubt: float = 60.0, **options: Any) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("fjord")
    for tool in (book, name, pay, plain):
        server.add_tool(tool)
    given: dict[str, Any] = {"portal": Portal(), "store": Memory()} if portal else {}
    midcall.install(server, keys=KEYS, doubt=doubt, **given, **options)  # a busy machine is slow
    return server


if __name__ == "__main__":
    host_server().run()
