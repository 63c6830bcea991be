import asyncio

from mcp import Client
from mcp.client.session import ClientRequestContext
from mcp_types import ElicitRequestParams, ElicitRequestURLParams, ElicitResult

READ = {"string": str, "number": float, "integer": int, "boolean": lambda line: line.lower() in ("yes", "y", "true")}


async def line(prompt: str) -> str:
    return await asyncio.to_thread(input, prompt)


async def answer(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
    """Asks at the console. Both modes; an empty line cancels."""
    print(params.message)
    if isinstance(params, ElicitRequestURLParams):
        agreed = await line(f"Open {params.url} in your browser? (yes/no) ")
        return ElicitResult(action="accept" if READ["boolean"](agreed) else "decline")
    content = {}
    for name, field in params.requested_schema["properties"].items():
        if not (typed := await line(f"{field.get('title', name)}: ")):
            return ElicitResult(action="cancel")
        content[name] = READ[field["type"]](typed)
    return ElicitResult(action="accept", content=content)


async def play(server: str) -> None:
    async with Client(server, elicitation_callback=answer) as client:
        print((await client.call_tool("guess_the_number")).content[0].text)
