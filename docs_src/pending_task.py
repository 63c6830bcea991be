import asyncio

from quickstart import mcp

from midcall.client import Asked, Pending, connect

ANSWERS = {"answer": 3, "choice": "w", "confirmed": True}


async def chat(pending: Pending) -> None:
    """Your user interface: it receives questions and answers them when it wants."""
    async for asked in pending:
        print(f"{asked.server} asks: {asked.message}")
        pending.accept(asked.id, content_for(asked))


def content_for(asked: Asked) -> dict[str, object]:
    return {field.name: ANSWERS[field.name] for field in asked.form or ()}


async def main() -> None:
    pending = Pending()
    chatting = asyncio.create_task(chat(pending))
    async with connect(mcp, pending) as client:
        result = await client.call_tool("book", {"destination": "Oslo"})
        print(result.content[0].text)
    pending.close()
    await chatting


if __name__ == "__main__":
    asyncio.run(main())
