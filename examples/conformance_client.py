"""The client for the official conformance suite. It calls every tool and sends each form with its defaults.

    python examples/conformance_client.py http://localhost:3000/mcp

`make conformance` runs the suite with it.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from mcp import Client, MCPError

from midcall.client import Asked, Headless, connect
from midcall.core.outcome import Accepted, Outcome


class Agrees(Headless):
    """Take defaults, and accept fields without one."""

    def __init__(self) -> None:
        super().__init__("defaults")

    async def answer(self, asked: Asked) -> Outcome[Any]:
        if asked.form is not None and asked.form.names == ("confirmed",):
            return Accepted({"confirmed": True})
        return await super().answer(asked)


async def main(url: str, version: str | None) -> None:
    async with connect(url, Agrees(), era="auto" if version == "2026-07-28" else "legacy") as client:
        for tool in (await client.list_tools()).tools:
            print(tool.name, await outcome(client, tool.name))


async def outcome(client: Client, tool: str) -> str:
    """Return how a call ends. A request that this client doesn't support, such as sampling, fails only its own call."""
    try:
        result = await client.call_tool(tool, {})
    except MCPError as error:
        return f"refused: {error}"
    return "failed" if result.is_error else "done"


if __name__ == "__main__":
    asyncio.run(main(sys.argv[-1], os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION")))
