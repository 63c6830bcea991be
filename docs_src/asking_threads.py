import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

from mcp.server import MCPServer

import midcall
from midcall import from_thread

mcp = MCPServer("travel")
midcall.install(mcp)


def days_in(destination: str) -> int:
    """A blocking function, deep in a library."""
    return from_thread.ask(f"How many days in {destination}?", int)


@mcp.tool()
async def plan(destination: str) -> str:
    """An async tool that runs it in a thread."""
    return f"{await asyncio.to_thread(days_in, destination)} days"


@mcp.tool()
def tour(first: str, second: str) -> str:
    """A `def` tool that starts threads: each one runs in a copy of the call's context."""
    with ThreadPoolExecutor() as pool:
        asked = [pool.submit(copy_context().run, days_in, city) for city in (first, second)]
        return f"{sum(each.result() for each in asked)} days"
