"""One client in Python, in an environment of its own: `python py_client.py KIND URL ANSWERS`.

KIND is langchain, langchain-forms, openai-agents, pydantic-ai or fastmcp. ANSWERS is JSON, from a question's message to
its answer. Reads calls as lines of JSON, {"tool", "arguments"}, and prints a line for each: {"text", "questions"}.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

KIND, URL, ANSWERS = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
asked: list[str] = []
Call = Callable[[str, dict[str, Any]], Awaitable[str]]


def answer(message: str, properties: dict[str, Any]) -> dict[str, Any]:
    """The content for a form. A version without lists asks for a line of text."""
    asked.append(message)
    [(name, field)] = properties.items()
    given = ANSWERS[message]
    return {name: ", ".join(given) if isinstance(given, list) and field["type"] == "string" else given}


def text_of(blocks: Any) -> str:
    return "\n".join(block.text for block in blocks)


@asynccontextmanager
async def langchain(*, forms: bool) -> AsyncIterator[Call]:
    from langchain_mcp_adapters.callbacks import Callbacks
    from langchain_mcp_adapters.client import MultiServerMCPClient
    from mcp.types import ElicitResult

    async def on_elicitation(mcp_context: Any, params: Any, context: Any) -> Any:
        return ElicitResult(action="accept", content=answer(params.message, params.requestedSchema["properties"]))

    more = {"callbacks": Callbacks(on_elicitation=on_elicitation)} if forms else {}
    client = MultiServerMCPClient({"it": {"transport": "streamable_http", "url": URL}}, **more)
    tools = {tool.name: tool for tool in await client.get_tools()}

    async def call(tool: str, arguments: dict[str, Any]) -> str:
        try:
            said = await tools[tool].ainvoke(arguments)
        except Exception as error:  # a result with isError
            return str(error)
        return said if isinstance(said, str) else "\n".join(block["text"] for block in said)

    yield call


@asynccontextmanager
async def openai_agents() -> AsyncIterator[Call]:
    from agents.mcp import MCPServerStreamableHttp

    async with MCPServerStreamableHttp(params={"url": URL}, client_session_timeout_seconds=90) as server:

        async def call(tool: str, arguments: dict[str, Any]) -> str:
            return text_of((await server.call_tool(tool, arguments)).content)

        yield call


@asynccontextmanager
async def pydantic_ai() -> AsyncIterator[Call]:
    from pydantic_ai import ModelRetry
    from pydantic_ai.mcp import MCPToolset

    async with MCPToolset(URL, init_timeout=90) as toolset:

        async def call(tool: str, arguments: dict[str, Any]) -> str:
            try:
                return str(await toolset.direct_call_tool(tool, arguments))
            except ModelRetry as error:  # a result with isError
                return str(error)

        yield call


@asynccontextmanager
async def fastmcp() -> AsyncIterator[Call]:
    from fastmcp import Client

    async def handler(message: str, response_type: Any, params: Any, context: Any) -> Any:
        return answer(message, params.requestedSchema["properties"])

    async with Client(URL, elicitation_handler=handler) as client:

        async def call(tool: str, arguments: dict[str, Any]) -> str:
            return text_of((await client.call_tool(tool, arguments, raise_on_error=False)).content)

        yield call


async def main() -> None:
    kinds = {
        "langchain": lambda: langchain(forms=False),
        "langchain-forms": lambda: langchain(forms=True),
        "openai-agents": openai_agents,
        "pydantic-ai": pydantic_ai,
        "fastmcp": fastmcp,
    }
    async with kinds[KIND]() as call:
        while line := await asyncio.to_thread(sys.stdin.readline):
            wanted = json.loads(line)
            said = await call(wanted["tool"], wanted["arguments"])
            print(json.dumps({"text": said, "questions": len(asked)}), flush=True)


asyncio.run(main())
