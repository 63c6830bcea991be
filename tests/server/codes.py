"""Codes and states of calls that continue later, as tests read them."""

from __future__ import annotations

import re

from mcp import Client
from mcp_types import CallToolResult, TextContent

KEYS = ["k key of the tests: 0123456789abcdef"]


def shown(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


def code_of(result: CallToolResult) -> str:
    found = re.search(r'"code": "([\w-]+)"', shown(result))
    assert found, shown(result)
    assert (result.meta or {})["midcall/code"] == found[1]
    return found[1]


async def go_on(client: Client, result: CallToolResult) -> CallToolResult:
    return await client.call_tool("midcall_continue", {"code": code_of(result)})
