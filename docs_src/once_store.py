from mcp.server import MCPServer

import midcall
from midcall import OnceUnknown, confirm, once

mcp = MCPServer("post")
midcall.install(mcp)  # MIDCALL_STORE names the store

SENT: list[str] = []


async def send(to: str) -> str:
    """Must not run twice, and the post office has no idempotency keys."""
    SENT.append(to)
    return f"L-{len(SENT)}"


async def look_up(to: str) -> str | None:
    """May run twice: it only reads."""
    return next((f"L-{number}" for number, each in enumerate(SENT, 1) if each == to), None)


@mcp.tool()
async def send_letter(to: str) -> str:
    """Send a letter."""
    if not await confirm(f"Send a letter to {to}?"):
        return "Nothing was sent."
    try:
        number = await once("send", send, to)
    except OnceUnknown:
        number = await once.retry("look up", look_up, to)
        return f"Found: {number}." if number else "It is not known whether the letter was sent. Please ask the post."
    return f"Sent: {number}."
