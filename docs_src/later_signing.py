from mcp.server import MCPServer

import midcall
from midcall import once, visit

mcp = MCPServer("contracts")
midcall.install(mcp)  # MIDCALL_STORE names the store


async def file_away(contract: str) -> str:
    """Replace this with your archive."""
    return f"F-{len(contract)}"


@mcp.tool()
async def sign(contract: str) -> str:
    """Have a contract signed. People read before they sign, so this takes a while."""
    await visit(f"Please sign {contract!r}.", lambda id: f"https://sign.example.com/{id}", wait=True)
    number = await once("file", file_away, contract)
    return f"Signed, and filed as {number}."
