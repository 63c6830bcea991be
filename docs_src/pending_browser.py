import asyncio

from quickstart import mcp

from midcall.client import Browser, connect


async def main() -> None:
    async with Browser() as browser, connect(mcp, browser) as client:
        result = await client.call_tool("book", {"destination": "Oslo"})
        print(result.content[0].text)


if __name__ == "__main__":
    asyncio.run(main())
