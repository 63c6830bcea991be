"""MCP calls that keep running while their agent is paused.

Agent frameworks pause by ending the run. The MCP call can't end with it, because it waits for the user. So each call
runs in its own task, under the id that the model gave it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import aclosing
from typing import Any, Self

from mcp import Client, MCPError

from midcall import MalformedAnswer
from midcall.client import DoesNotFit, NotPending, Pending

Question = dict[str, Any]
"""The result of `asked.as_data()`, with what was wrong with the last reply under "problems"."""
Reply = dict[str, Any]
"""`{"action": "accept", "content": {...}}`, or "decline", or "cancel"."""
Person = Callable[[Question], Awaitable[Reply]]


class CallFailed(Exception):
    """The call has no result. The text says why; show it to the model."""


class Calls:
    """The calls of one conversation. Leaving the context cancels any that still run."""

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
        """Start this call, unless it's already running."""
        if id not in self._running:
            self._running[id] = asyncio.create_task(call())

    async def question(self, id: str) -> Question | None:
        """Wait for the next question. Return None once the call has ended."""
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
        """Send the user's reply. If it's invalid, the question comes back with its problems."""
        id = question["id"]
        self._problems.pop(id, None)
        try:
            self._pending.receive({**reply, "id": id})
        except DoesNotFit as error:
            self._problems[id] = error.as_data()
        except MalformedAnswer as error:
            self._problems[id] = [{"field": "", "code": "malformed", "message": str(error)}]
        except NotPending:
            pass  # the server gave up: the call's result reports it

    async def settle(self, id: str, person: Person) -> None:
        """Let this person answer until the call has ended."""
        while question := await self.question(id):
            self.answer(question, await person(question))

    async def result(self, id: str) -> Any:
        """Wait for the result of this call."""
        if id not in self._running:
            raise CallFailed("This call was lost: the process that made it has ended. It may be made again.")
        return await self._running.pop(id)


async def text_of(client: Client, tool: str, arguments: dict[str, Any]) -> str:
    """Call the tool and return its result as text."""
    try:
        result = await client.call_tool(tool, arguments)
    except MCPError as error:
        raise CallFailed(str(error)) from None
    text = "\n".join(block.text for block in result.content if block.type == "text")
    if result.is_error:
        raise CallFailed(text)
    return text
