import asyncio

from mcp import Client
from mcp.client.session import ClientRequestContext
from mcp_types import ElicitRequestParams, ElicitResult
from quickstart import mcp

REPLIES = iter([("answer", 3), ("choice", "w"), ("confirmed", True)])


async def answer(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
    field, value = next(REPLIES)  # a real client would show a form here
    print(params.message, value)
    return ElicitResult(action="accept", content={field: value})


async def main() -> None:
    async with Client(mcp, elicitation_callback=answer) as client:
        result = await client.call_tool("book", {"destination": "Oslo"})
        print(result.content[0].text)


if __name__ == "__main__":
    asyncio.run(main())
