from fastmcp import Client

from midcall.client import Terminal, fastmcp_handler


async def book(server: str) -> str:
    async with Client(server, elicitation_handler=fastmcp_handler(Terminal())) as client:
        result = await client.call_tool("book", {"destination": "Oslo"})
        return result.content[0].text
