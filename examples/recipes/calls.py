"""MCP calls that go on while the agent that made them is paused.

An agent framework pauses by ending the run. The MCP call cannot end with it: it waits for the user. So it gets a
task of its own, and is found again by the id that the model gave it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import aclosing
from typing import Any, Self

from mcp import Client, MCPError

from midcall.client.pending import DoesNotFit, NotPending, Pending
from midcall.errors import MalformedAnswer

Question = dict[str, Any]
"""What `asked.as_data()` gives, and under "problems" what was wrong with the last reply."""
Reply = dict[str, Any]
"""`{"action": "accept", "content": {...}}`, or "decline", or "cancel"."""
Person = Callable[[Question], Awaitable[Reply]]


class CallFailed(Exception):
    """The call has no result. The text says why, for the model."""


class Calls:
    """The calls of one conversation. Leaving the context cancels those that still run."""

    def __init__(self, pending: Pending) -> None:
        self._pending = pending
        self._running: dict[str, asyncio.Task[Any]] = {}
        self._problems: dict[str, list[dict[str, str]]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for call in self._running.values():
            call.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    def begin(self, id: str, call: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        """Make this call, unless it is under way."""
        if id not in self._running:
            self._running[id] = asyncio.create_task(call())

    async def question(self, id: str) -> Question | None:
        """Wait until the user is asked something, and return it; or None, once the call has ended."""
        if id not in self._running:
            return None
        asking = asyncio.create_task(self._next_question())
        try:
            await asyncio.wait([self._running[id], asking], return_when=asyncio.FIRST_COMPLETED)
            return None if self._running[id].done() else asking.result()
        finally:
            asking.cancel()

    async def _next_question(self) -> Question | None:
        async with aclosing(self._pending.changes()) as changes:
            async for change in changes:
                if change.kind == "opened":
                    return {**change.asked.as_data(), "problems": self._problems.get(change.asked.id, [])}
        return None

    def answer(self, question: Question, reply: Reply) -> None:
        """Pass the user's reply on. If it does not fit, the question stays open, and says what is wrong."""
        id = question["id"]
        self._problems.pop(id, None)
        try:
            self._pending.receive({**reply, "id": id})
        except DoesNotFit as error:
            self._problems[id] = error.as_data()
        except MalformedAnswer as error:
            self._problems[id] = [{"field": "", "code": "malformed", "message": str(error)}]
        except NotPending:
            pass  # the server has given it up: the call goes on, and says so

    async def settle(self, id: str, person: Person) -> None:
        """Have this person answer until the call has ended."""
        while question := await self.question(id):
            self.answer(question, await person(question))

    async def result(self, id: str) -> Any:
        """Wait for the result of this call."""
        if id not in self._running:
            raise CallFailed("This call was lost: the process that made it has ended. It may be made again.")
        return await self._running.pop(id)


async def text_of(client: Client, tool: str, arguments: dict[str, Any]) -> str:
    """Call the tool. Its result as text."""
    try:
        result = await client.call_tool(tool, arguments)
    except MCPError as error:
        raise CallFailed(str(error)) from None
    text = "\n".join(block.text for block in result.content if block.type == "text")
    if result.is_error:
        raise CallFailed(text)
    return text
