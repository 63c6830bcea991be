import asyncio
import sys

from midcall.client import Terminal, connect


async def main(target: str) -> None:
    async with connect(target, Terminal()) as client:
        result = await client.call_tool("book", {"destination": "Oslo"})
        print(result.content[0].text)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
