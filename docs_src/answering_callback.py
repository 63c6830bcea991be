from mcp import Client

from midcall.client import Terminal, callback


async def book(server: str) -> str:
    async with Client(server, elicitation_callback=callback(Terminal(), timeout=300)) as client:
        result = await client.call_tool("book", {"destination": "Oslo"})
        return result.content[0].text
