import asyncio
import sys

from midcall.client import Terminal, connect


def heard(id: str, known: bool) -> None:
    print(f"Visit {id} is done." if known else f"The server reports a visit that it never asked for: {id!r}.")


async def play(server: str) -> None:
    """Answer forms and visits on every version, and repeat calls after -32042."""
    async with connect(server, Terminal(), on_complete=heard) as client:
        print((await client.call_tool("guess_the_number")).content[0].text)


if __name__ == "__main__":
    asyncio.run(play(sys.argv[1]))
