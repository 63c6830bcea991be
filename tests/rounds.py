"""A client that does each round by hand, to send what no stock client would."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp import Client
from mcp_types import CallToolResult, ElicitRequest, InputRequiredResult, TextContent
from pydantic import TypeAdapter

ANY: TypeAdapter[Any] = TypeAdapter(Any)


async def raw_call(
    client: Client,
    tool: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    answers: Mapping[str, Any] | None = None,
    state: str | None = None,
    method: str = "tools/call",
) -> dict[str, Any]:
    """Send one request with exactly these params and return the raw result."""
    params: dict[str, Any] = {"uri": tool} if method == "resources/read" else {"name": tool}
    if arguments is not None:
        params["arguments"] = dict(arguments)
    if answers is not None:
        params["inputResponses"] = dict(answers)
    if state is not None:
        params["requestState"] = state
    session: Any = client.session
    session._stamp(data := {"method": method, "params": params}, opts := {})
    result: dict[str, Any] = await session._dispatcher.send_raw_request(method, data["params"], opts)
    return result


def accept(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


def text(result: CallToolResult | Mapping[str, Any]) -> str:
    if isinstance(result, CallToolResult):
        return "".join(block.text for block in result.content if isinstance(block, TextContent))
    return "".join(block["text"] for block in result["content"])


def asked(result: InputRequiredResult) -> dict[str, str]:
    """A round's messages by key."""
    found: dict[str, str] = {}
    for key, request in (result.input_requests or {}).items():
        assert isinstance(request, ElicitRequest)
        found[key] = request.params.message
    return found
