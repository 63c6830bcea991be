from midcall.client import Answerer, connect


async def call(server: str, answerer: Answerer, tool: str) -> str:
    """Call a tool that may be able to ask on an older version only."""
    async with connect(server, answerer, downgrade=True) as client:
        result = await client.call_tool(tool, {})
        return result.content[0].text
