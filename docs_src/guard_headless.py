from midcall.client import Headless, connect


async def nightly(server: str) -> str:
    """Send forms with their defaults; cancel those whose defaults aren't enough."""
    async with connect(server, Headless("defaults", tell=print)) as client:
        result = await client.call_tool("rate", {})
        return result.content[0].text
