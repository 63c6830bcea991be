import asyncio

from mcp.server import MCPServer

import midcall
from midcall import Question, ask, ask_all

mcp = MCPServer("travel")
midcall.install(mcp)


@mcp.tool()
async def register() -> str:
    """Ask for everything in one round."""
    name, age = await ask_all(Question("What is your name?", str), Question("How old are you?", int))
    more = await ask_all(
        {"city": Question("Where do you live?", str), "news": Question("Do you want our newsletter?", bool)}
    )
    return f"{name}, {age}, {more['city']}, {more['news']}"


@mcp.tool()
async def two_at_once() -> str:
    """Branches share a round if they await nothing else before they ask."""
    home, work = await asyncio.gather(ask("Where do you live?", str), ask("Where do you work?", str))
    return f"{home} to {work}"
