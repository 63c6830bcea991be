"""The OpenAI Agents SDK: a tool that asks interrupts the run, which resumes with the call's result.

    python examples/recipes/openai_agents.py

Needs: pip install midcall openai-agents
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from agents import Agent, FunctionTool, RunContextWrapper, Runner, Tool, set_tracing_disabled
from agents.models.interface import Model
from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message, function_call
from agents.tool_context import ToolContext
from mcp import Client

from calls import CallFailed, Calls, Person, text_of
from midcall.client import Pending, connect
from person import person
from travel import mcp


async def build(model: Model, client: Client, calls: Calls) -> Agent[None]:
    """Give the agent this client's tools. Those that ask interrupt it."""
    tools: list[Tool] = [as_function(tool, client, calls) for tool in (await client.list_tools()).tools]
    return Agent("booking", model=model, tools=tools)


def as_function(tool: Any, client: Client, calls: Calls) -> FunctionTool:
    async def asks(context: RunContextWrapper[Any], arguments: dict[str, Any], id: str) -> bool:
        """Tell the SDK whether this call must wait for a person: start it to find out."""
        calls.begin(id, partial(text_of, client, tool.name, arguments))
        return await calls.question(id) is not None

    async def invoke(context: ToolContext[Any], arguments: str) -> str:
        try:
            return await calls.result(context.tool_call_id)
        except CallFailed as failed:
            return str(failed)

    return FunctionTool(
        name=tool.name,
        description=tool.description or "",
        params_json_schema=tool.input_schema,
        strict_json_schema=False,  # keep the server's schema unchanged
        needs_approval=asks,
        on_invoke_tool=invoke,
    )


async def chat(agent: Agent[None], calls: Calls, text: str, person: Person) -> str:
    """Between two runs, only the state remains: store `state.to_json()` and resume in another request."""
    run = await Runner.run(agent, text)
    while run.interruptions:
        state = run.to_state()
        for interruption in run.interruptions:
            await calls.settle(interruption.call_id or "", person)
            # The result already holds the user's answer. Approving passes it to the model.
            state.approve(interruption)
        run = await Runner.run(agent, state)
    return str(run.final_output)


def scripted() -> Model:
    """Use your model instead. This one books Oslo and repeats the tool's result."""

    def repeat(call: ModelCall) -> ModelStep:
        return ModelStep(output=[assistant_message(call.input[-1]["output"])])

    return ScriptedModel([[function_call("book", {"destination": "Oslo"}, call_id="1")], ModelStep.respond(repeat)])


async def main() -> None:
    set_tracing_disabled(True)  # traces go to OpenAI
    pending = Pending(modes=["form"])
    async with connect(mcp, pending) as client, Calls(pending) as calls:
        agent = await build(scripted(), client, calls)
        print("You: Book me a trip to Oslo.")
        print("Agent:", await chat(agent, calls, "Book me a trip to Oslo.", person))


if __name__ == "__main__":
    asyncio.run(main())
