import asyncio

from mcp.server import MCPServer

import midcall
from midcall import confirm, once

mcp = MCPServer("reports")
midcall.install(mcp)


def slow_report(month: str) -> str:
    """A blocking function: a synchronous driver, a large file."""
    return f"report for {month}"


@mcp.tool()
async def report(month: str) -> str:
    """Run the blocking part in a thread, so that the server stays responsive."""
    text = await once("report", asyncio.to_thread, slow_report, month)
    if not await confirm("Shall I send it?"):
        return "Not sent."
    return f"Sent: {text}"
