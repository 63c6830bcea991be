"""Small answerers for tests, and what a tool says to one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from mcp import Client
from mcp.client._memory import InMemoryTransport
from mcp.server import MCPServer
from mcp_types import TextContent

from midcall.client.answerer import Answerer, Waiting
from midcall.client.asked import Asked
from midcall.client.connection.callback import callback
from midcall.client.transport.offer import Offer
from midcall.core.outcome import Accepted, Outcome


class Answers:
    """Answers by a function, and remembers what was asked."""

    def __init__(self, answer: Callable[[Asked], Any] = lambda asked: Accepted({}), **attributes: Any) -> None:
        self._answer = answer
        self.asked: list[Asked] = []
        for name, value in attributes.items():
            setattr(self, name, value)

    async def answer(self, asked: Asked) -> Outcome[Any]:
        self.asked.append(asked)
        outcome = self._answer(asked)
        return await outcome if isinstance(outcome, Awaitable) else outcome


class Watcher(Answers):
    """An answerer with a user who watches the waiting."""

    def __init__(self, word: Callable[[Waiting], Awaitable[bool]], **more: Any) -> None:
        super().__init__(lambda asked: Accepted(None), **more)
        self._word = word
        self.waited: list[Waiting] = []

    async def wait(self, waiting: Waiting) -> bool:
        self.waited.append(waiting)
        return await self._word(waiting)


async def result_of(server: MCPServer, answerer: Answerer, tool: str, era: str) -> str:
    """What this tool returns on this version, to a client of the SDK with this answerer."""
    modern = era == "2026-07-28"
    transport = Offer(InMemoryTransport(server), version=None if modern else era)
    asked = callback(answerer)
    async with Client(transport, mode="auto" if modern else "legacy", elicitation_callback=asked) as client:
        result = await client.call_tool(tool, {})
    return "".join(block.text for block in result.content if isinstance(block, TextContent))
