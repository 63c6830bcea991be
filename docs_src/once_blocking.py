import asyncio

from mcp.server import MCPServer

import midcall
from midcall import confirm, once

mcp = MCPServer("reports")
midcall.install(mcp)


def slow_report(month: str) -> str:
    """Blocks: a driver without async, a large file."""
    return f"report for {month}"


@mcp.tool()
async def report(month: str) -> str:
    """Runs the blocking part in a thread, so that the server goes on serving."""
    text = await once("report", asyncio.to_thread, slow_report, month)
    if not await confirm("Shall I send it?"):
        return "Not sent."
    return f"Sent: {text}"
