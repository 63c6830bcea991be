"""Run the raw peer of `peer_server.py`, and what other SDKs' servers send."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any, Final

from mcp import Client
from mcp_types import TextContent

from tests.peer_server import NEW

COMMAND: Final = [sys.executable, "-I", "-S", str(Path(__file__).with_name("peer_server.py"))]
LINE: Final = shlex.join(COMMAND)
OLD: Final = "2025-11-25"

URL: Final = "https://example.com/connect"
NAME: Final[dict[str, Any]] = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
PUSH: Final[dict[str, Any]] = {"message": "Your name?", "requestedSchema": NAME}

GO_SDK: Final = (
    f'"elicitation/create" cannot be sent while serving a request on protocol version {NEW}: '
    "return an InputRequests map instead (multi round-trip requests, SEP-2322)"
)
MCP_GO: Final = (
    f'"elicitation/create": server-initiated requests are not supported in protocol version {NEW} or later: '
    "return an InputRequests map from the handler instead (multi round-trip requests, SEP-2322)"
)


def only(*versions: str) -> list[str]:
    """A peer that speaks these versions."""
    return [*COMMAND, ",".join(versions)]


def busy(state: str, **more: Any) -> dict[str, Any]:
    """A server that sheds load: call again later."""
    return {"result": {"resultType": "input_required", "content": [], "requestState": state, **more}}


def failed(text: str) -> dict[str, Any]:
    """A tool's error, as its result."""
    return {"result": {"content": [{"type": "text", "text": text}], "isError": True, "resultType": "complete"}}


def needs(*ids: str | None, url: str = URL, then: tuple[Any, ...] = ()) -> dict[str, Any]:
    """The error -32042."""
    listed = [
        {"mode": "url", "message": "Please connect", "url": url} | ({} if id is None else {"elicitationId": id})
        for id in ids
    ]
    error = {"code": -32042, "message": "URL elicitation required", "data": {"elicitations": listed}}
    return {"error": error, "then": list(then)}


def completed(*ids: str) -> tuple[Any, ...]:
    return tuple(("notifications/elicitation/complete", {"elicitationId": id}) for id in ids)


async def play(client: Client, *steps: dict[str, Any]) -> dict[str, Any]:
    """Let the peer play these steps; what it has seen."""
    [block] = (await client.call_tool("play", {"steps": list(steps)})).content
    assert isinstance(block, TextContent)
    return json.loads(block.text)
