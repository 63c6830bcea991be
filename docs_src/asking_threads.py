import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

from mcp.server import MCPServer

import midcall
from midcall import from_thread

mcp = MCPServer("travel")
midcall.install(mcp)


def days_in(destination: str) -> int:
    """A function that blocks, somewhere in a library of yours."""
    return from_thread.ask(f"How many days in {destination}?", int)


@mcp.tool()
async def plan(destination: str) -> str:
    """An async tool that runs it in a thread."""
    return f"{await asyncio.to_thread(days_in, destination)} days"


@mcp.tool()
def tour(first: str, second: str) -> str:
    """A `def` tool with threads of its own: each is given the context of the call."""
    with ThreadPoolExecutor() as pool:
        asked = [pool.submit(copy_context().run, days_in, city) for city in (first, second)]
        return f"{sum(each.result() for each in asked)} days"
