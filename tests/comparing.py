"""The same server with and without midcall: what its client sees and gets."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from mcp import Client, MCPError
from mcp_types import ElicitRequestParams, ElicitResult, ErrorData

from midcall.client.transport.offer import Offer
from midcall.client.transport.target import ConnectOptions, reach
from midcall.testing import Era
from tests.rounds import text

Reply = Callable[[ElicitRequestParams], ElicitResult | ErrorData | Awaitable[ElicitResult | ErrorData]]


@dataclass(frozen=True, slots=True)
class Seen:
    """One tool call, as its client sees it."""

    asked: list[dict[str, Any]]
    """The params of each question, unchanged."""
    text: str = ""
    failed: bool = False
    code: int | None = None
    data: Any = None


async def seen(server: Any, tool: str, reply: Reply | None, *, era: Era = "2025-11-25", **arguments: Any) -> Seen:
    """Call a tool as a stock client does; without `reply` it declares no elicitation."""
    asked: list[dict[str, Any]] = []

    async def answer(context: Any, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        asked.append(_as_it_came(params))
        assert reply is not None
        replied = reply(params)
        return replied if isinstance(replied, (ElicitResult, ErrorData)) else await replied

    modern = era == "2026-07-28"
    client = Client(
        Offer(reach(server, ConnectOptions()).transport, version=None if modern else era),
        mode=era if modern else "legacy",
        elicitation_callback=None if reply is None else answer,
    )
    async with client:
        try:
            result = await client.call_tool(tool, arguments)
        except MCPError as exc:
            return Seen(asked, exc.message, True, exc.code, exc.data)
    return Seen(asked, text(result), bool(result.is_error))


def _as_it_came(params: ElicitRequestParams) -> dict[str, Any]:
    """These params, without the trace that the SDK adds when it pushes."""
    wire = params.model_dump(by_alias=True, mode="json", exclude_none=True)
    meta = {name: value for name, value in wire.pop("_meta", {}).items() if name != "traceparent"}
    return {"_meta": meta, **wire}


def accepting(**content: Any) -> Reply:
    """A client that accepts with this content."""
    return lambda params: ElicitResult(action="accept", content=content)
