"""A server with a portal whose tool asks three questions, over stdio or HTTP; a test says where its records go."""

from __future__ import annotations

import sys

from mcp.server import MCPServer

import midcall
from midcall import ask, choose, confirm
from midcall.portal import Portal

mcp = MCPServer("travel", log_level="WARNING")
runs = 0


@mcp.tool()
async def book(city: str) -> str:
    """Book a trip."""
    global runs
    runs += 1
    days = await ask("How many days?", int)
    seat = await choose("Which seat?", {"w": "Window", "a": "Aisle"})
    sure = await confirm("Really?")
    return f"{city}: {days} days, seat {seat}, {sure}, in {runs} run(s)"


def main() -> None:
    *port, store = sys.argv[1:]
    midcall.install(mcp, keys="a key of the tests: 0123456789abcdef", store=store, portal=Portal())
    if port:
        mcp.run("streamable-http", port=int(port[-1]))
    else:
        mcp.run()


if __name__ == "__main__":
    main()
