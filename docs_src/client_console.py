import asyncio
import sys

from midcall.client import Terminal, connect


def heard(id: str) -> None:
    print(f"Visit {id} is done.")


async def play(server: str) -> None:
    """Both modes, every version, and -32042: shown, agreed to, waited for, and called again."""
    async with connect(server, Terminal(), on_complete=heard) as client:
        print((await client.call_tool("guess_the_number")).content[0].text)


if __name__ == "__main__":
    asyncio.run(play(sys.argv[1]))
