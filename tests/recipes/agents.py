"""The recipes' agents, each connected to a server on one protocol version, with one way to talk to all."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

from midcall.client.connection.attach import attach
from midcall.client.connection.connect import Era, connect
from midcall.client.pending import Pending

HELLO = "Book me a trip."
CITIES = ("Oslo", "Rome")


@dataclass
class Talk:
    """A conversation with an agent: its parts, and its last message."""

    pending: Pending
    calls: Any
    agent: Any
    module: Any
    say: Callable[[Any], Awaitable[str]]


Talking = Callable[..., AbstractAsyncContextManager[Talk]]


def needs(name: str) -> None:
    """Skip if this recipe's framework is missing, without loading it, which takes seconds."""
    needed = {"langgraph_interrupt": "langgraph", "pydantic_ai_agent": "pydantic_ai", "openai_agents": "agents"}
    if find_spec(needed[name]) is None:
        pytest.skip(f"{needed[name]} is missing: make venv")


def recipe(name: str) -> Any:
    """This recipe's module."""
    needs(name)
    return import_module(name)


@asynccontextmanager
async def langgraph(server: Any, era: Era, model: Any = None, checkpointer: Any = None) -> AsyncIterator[Talk]:
    module, pending = recipe("langgraph_interrupt"), Pending()
    async with connect(server, pending, era=era) as client, module.Calls(pending) as calls:
        saver = checkpointer or module.InMemorySaver()
        graph = await module.build(model or module.Scripted(), client, calls, saver)
        yield Talk(pending, calls, graph, module, partial(module.chat, graph, "ada", HELLO))


@asynccontextmanager
async def pydantic_ai(server: Any, era: Era, model: Any = None) -> AsyncIterator[Talk]:
    module, pending = recipe("pydantic_ai_agent"), Pending()
    mode = "auto" if era == "2026-07-28" else "legacy"
    client = attach(module.Client(transport(server), mode=mode), pending)
    calls = module.Calls(pending)
    agent = module.build(module.FunctionModel(model or module.scripted), client, calls)
    async with agent, calls:
        yield Talk(pending, calls, agent, module, partial(module.chat, agent, calls, HELLO))


def transport(server: Any) -> Any:
    """FastMCP's client takes commands in its own format."""
    if not isinstance(server, list):
        return server
    return import_module("fastmcp.client.transports").StdioTransport(server[0], server[1:])


@asynccontextmanager
async def openai_agents(server: Any, era: Era, model: Any = None) -> AsyncIterator[Talk]:
    module, pending = recipe("openai_agents"), Pending()
    module.set_tracing_disabled(True)
    async with connect(server, pending, era=era) as client, module.Calls(pending) as calls:
        agent = await module.build(model or module.scripted(), client, calls)
        yield Talk(pending, calls, agent, module, partial(module.chat, agent, calls, HELLO))


AGENTS: tuple[Talking, ...] = (langgraph, pydantic_ai, openai_agents)


# --- models that book two trips at once ----------------------------------------------------------


def two_at_once(agent: Talking) -> Any:
    return {langgraph: _langgraph_two, pydantic_ai: _pydantic_ai_two, openai_agents: _openai_agents_two}[agent]()


def _langgraph_two() -> Any:
    module = recipe("langgraph_interrupt")

    class Two(module.Scripted):
        def _generate(self, messages: list[Any], *_: Any, **__: Any) -> Any:
            told = [message.content for message in messages if isinstance(message, module.ToolMessage)]
            made = [{"id": city, "name": "book", "args": {"destination": city}} for city in CITIES]
            message = module.AIMessage(" ".join(told), tool_calls=[] if told else made)
            return module.ChatResult(generations=[module.ChatGeneration(message=message)])

    return Two()


def _pydantic_ai_two() -> Any:
    module = recipe("pydantic_ai_agent")

    async def two(messages: list[Any], info: Any) -> Any:
        told = [str(part.content) for part in messages[-1].parts if isinstance(part, module.ToolReturnPart)]
        made = [module.ToolCallPart("book", {"destination": city}, tool_call_id=city) for city in CITIES]
        return module.ModelResponse(parts=[module.TextPart(" ".join(told))] if told else made)

    return two


def _openai_agents_two() -> Any:
    module = recipe("openai_agents")

    def repeat(call: Any) -> Any:
        told = [item["output"] for item in call.input if item.get("type") == "function_call_output"]
        return module.ModelStep(output=[module.assistant_message(" ".join(told))])

    made = [module.function_call("book", {"destination": city}, call_id=city) for city in CITIES]
    return module.ScriptedModel([made, module.ModelStep.respond(repeat)])
