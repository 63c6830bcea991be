"""A server that says exactly what a test wants, in plain JSON-RPC."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

MODERN = "2026-07-28"
Handler = Callable[["Raw", dict[str, Any]], Awaitable[dict[str, Any]]]


class Refusal(Exception):
    """What the server answers instead of a result."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message} | ({} if data is None else {"data": data})


class Raw:
    """The server's end. `handle` gets the params of each call, prompt and resource."""

    def __init__(self, handle: Handler, version: str = "2025-11-25") -> None:
        self._handle = handle
        self._version = version
        self._ids = itertools.count(1)
        self._answers: dict[Any, tuple[anyio.Event, list[dict[str, Any]]]] = {}
        self.received: list[dict[str, Any]] = []
        self._send: Callable[[dict[str, Any]], Awaitable[None]]

    def calls(self, method: str = "tools/call") -> list[dict[str, Any]]:
        """The params of every such request."""
        return [message["params"] for message in self.received if message.get("method") == method]

    async def ask(self, **params: Any) -> dict[str, Any]:
        """Push a question with these very params; the whole response."""
        id = f"q{next(self._ids)}"
        self._answers[id] = (event := anyio.Event(), answer := [])
        await self._send({"id": id, "method": "elicitation/create", "params": params})
        with anyio.fail_after(10):
            await event.wait()
        return answer[0]

    async def complete(self, *ids: str) -> None:
        for id in ids:
            await self._send({"method": "notifications/elicitation/complete", "params": {"elicitationId": id}})

    def transport(self) -> AbstractAsyncContextManager[Any]:
        return self._transport()

    @asynccontextmanager
    async def _transport(self) -> AsyncIterator[Any]:
        async with create_client_server_memory_streams() as (client, (read, write)):

            async def send(message: dict[str, Any]) -> None:
                parsed = jsonrpc_message_adapter.validate_python({"jsonrpc": "2.0", **message}, by_name=False)
                await write.send(SessionMessage(parsed))

            self._send = send
            async with anyio.create_task_group() as group:
                group.start_soon(self._serve, read, group)
                yield client
                group.cancel_scope.cancel()

    async def _serve(self, read: Any, group: anyio.abc.TaskGroup) -> None:
        async for item in read:
            message = item.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
            self.received.append(message)
            if "method" in message and "id" in message:
                group.start_soon(self._answer, message)
            elif message.get("id") in self._answers:
                event, answer = self._answers[message["id"]]
                answer.append(message)
                event.set()

    async def _answer(self, message: dict[str, Any]) -> None:
        try:
            await self._send({"id": message["id"], "result": await self._result(message)})
        except Refusal as refusal:
            await self._send({"id": message["id"], "error": refusal.error})

    async def _result(self, message: dict[str, Any]) -> dict[str, Any]:
        info = {"name": "raw", "title": "Raw server", "version": "7"}
        modern = self._version == MODERN
        extra = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if modern else {}
        match message["method"]:
            case "initialize" if not modern:
                return {"protocolVersion": self._version, "capabilities": {"tools": {}}, "serverInfo": info}
            case "server/discover" if modern:
                meta = {"io.modelcontextprotocol/serverInfo": info}
                return {"supportedVersions": [MODERN], "capabilities": {"tools": {}}, "_meta": meta, **extra}
            case "tools/list":
                return {"tools": [{"name": "it", "inputSchema": {"type": "object"}}], **extra}
            case "tools/call" | "prompts/get" | "resources/read":
                return await self._handle(self, message["params"])
            case method:
                raise Refusal(-32601, f"no {method} here")


def told(text: str = "done", **more: Any) -> dict[str, Any]:
    """A tool's result."""
    return {"content": [{"type": "text", "text": text}], **more}


def final(text: str = "done") -> dict[str, Any]:
    """A tool's result on the newest version."""
    return told(text, resultType="complete")


def round_of(questions: dict[str, dict[str, Any]], state: str | None = None) -> dict[str, Any]:
    """A round that asks these, given as params."""
    requests = {key: {"method": "elicitation/create", "params": params} for key, params in questions.items()}
    return {"resultType": "input_required", "inputRequests": requests} | (
        {} if state is None else {"requestState": state}
    )


def form(message: str = "Your name?", **fields: Any) -> dict[str, Any]:
    """The params of a form."""
    properties = fields or {"name": {"type": "string"}}
    return {"message": message, "requestedSchema": {"type": "object", "properties": properties}}
