from dataclasses import dataclass
from datetime import date

from mcp.server import MCPServer

import midcall
from midcall import confirm, once

mcp = MCPServer("post")
midcall.install(mcp)


@dataclass
class Parcel:
    code: str
    due: date


async def send(to: str) -> Parcel:
    """The return annotation decides how the result is recorded and restored."""
    return Parcel(f"P-{to}", date(2026, 12, 24))


@mcp.tool()
async def post(to: str) -> str:
    """Post a parcel."""
    parcel = await once("send", send, to)
    follow = await confirm(f"It arrives on {parcel.due:%d %B}. Shall I watch it?")
    return f"{parcel.code} {'watched' if follow else 'sent'}"
