"""A pydantic-ai agent: a tool that asks becomes a deferred tool call, and a later run gets its result.

    python examples/recipes/pydantic_ai_agent.py

Needs: pip install midcall "pydantic-ai-slim[mcp]"
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from fastmcp import Client
from pydantic_ai import Agent, CallDeferred, DeferredToolRequests, DeferredToolResults, RunContext
from pydantic_ai.exceptions import ModelRetry, ToolFailed
from pydantic_ai.mcp import CallToolFunc, MCPToolset
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, FunctionModel

from calls import CallFailed, Calls, Person
from midcall.client import Pending, attach
from person import person
from travel import mcp

BookingAgent = Agent[None, str | DeferredToolRequests]


def build(model: Model, client: Client[Any], calls: Calls) -> BookingAgent:
    """Give the agent this client's tools. Those that ask are deferred."""

    async def call(context: RunContext[Any], call_tool: CallToolFunc, name: str, arguments: dict[str, Any]) -> Any:
        id = context.tool_call_id or ""
        calls.begin(id, partial(call_tool, name, arguments))
        if question := await calls.question(id):
            raise CallDeferred(metadata=question)
        return await calls.result(id)

    # "failed", not "retry": if the user declines, there's nothing for the model to correct.
    toolset = MCPToolset(client, process_tool_call=call, tool_error_behavior="failed")
    return Agent(model, toolsets=[toolset], output_type=[str, DeferredToolRequests])


async def chat(agent: BookingAgent, calls: Calls, text: str, person: Person) -> str:
    """Between two runs, only the history remains: store it and resume in another request."""
    run = await agent.run(text)
    while isinstance(run.output, DeferredToolRequests):
        results = DeferredToolResults()
        for deferred in run.output.calls:
            await calls.settle(deferred.tool_call_id, person)
            results.calls[deferred.tool_call_id] = await result(calls, deferred.tool_call_id)
        run = await agent.run(message_history=run.all_messages(), deferred_tool_results=results)
    return run.output


async def result(calls: Calls, id: str) -> Any:
    try:
        return await calls.result(id)
    except (ToolFailed, ModelRetry) as told:
        return told
    except CallFailed as failed:
        return ToolFailed(str(failed))


async def scripted(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Use your model instead. This one books Oslo and repeats the tool's result."""
    last = messages[-1].parts[-1]
    if isinstance(last, ToolReturnPart):
        return ModelResponse(parts=[TextPart(str(last.content))])
    return ModelResponse(parts=[ToolCallPart("book", {"destination": "Oslo"}, tool_call_id="1")])


async def main() -> None:
    pending = Pending(modes=["form"])
    calls = Calls(pending)
    agent = build(FunctionModel(scripted), attach(Client(mcp), pending), calls)
    async with agent, calls:  # keep the connection open between runs
        print("You: Book me a trip to Oslo.")
        print("Agent:", await chat(agent, calls, "Book me a trip to Oslo.", person))


if __name__ == "__main__":
    asyncio.run(main())
