from midcall.client import Headless, connect


async def nightly(server: str) -> str:
    """Runs where nobody is: forms are sent with their defaults, and cancelled where those are not enough."""
    async with connect(server, Headless("defaults", tell=print)) as client:
        result = await client.call_tool("rate", {})
        return result.content[0].text
