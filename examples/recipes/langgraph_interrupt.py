"""A LangGraph agent: a tool's question becomes an `interrupt`, and `Command(resume=...)` answers it.

    python examples/recipes/langgraph_interrupt.py

Needs: pip install midcall langgraph
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, interrupt
from mcp import Client

from calls import CallFailed, Calls, Person, Question, text_of
from midcall.client import Pending, connect
from person import person
from travel import mcp


class State(MessagesState):
    question: Question


async def build(
    model: BaseChatModel, client: Client, calls: Calls, checkpointer: BaseCheckpointSaver[Any]
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """think -> begin -> wait -> think, with wait -> ask -> wait for each question."""
    bound = model.bind_tools([as_function(tool) for tool in (await client.list_tools()).tools])

    async def think(state: State) -> dict[str, Any]:
        return {"messages": [await bound.ainvoke(state["messages"])]}

    def then(state: State) -> str:
        return "begin" if made(state) else END

    async def begin(state: State) -> None:
        for id, call in made(state).items():
            calls.begin(id, partial(text_of, client, call["name"], call["args"]))

    async def wait(state: State) -> Command[Literal["ask", "think"]]:
        for id in made(state):
            if question := await calls.question(id):
                return Command(goto="ask", update={"question": question})
        return Command(goto="think", update={"messages": [await said(calls, id) for id in made(state)]})

    async def ask(state: State) -> None:
        # On resume, LangGraph runs a node again from the top: do nothing before its one interrupt.
        reply = interrupt(state["question"])
        calls.answer(state["question"], reply)

    graph = StateGraph(State)
    for node in (think, begin, wait, ask):
        graph.add_node(node)
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", then, ["begin", END])
    graph.add_edge("begin", "wait")
    graph.add_edge("ask", "wait")
    return graph.compile(checkpointer)


def as_function(tool: Any) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description or "", "parameters": tool.input_schema}
    return {"type": "function", "function": function}


def made(state: State) -> dict[str, ToolCall]:
    """The model's latest calls, by id."""
    last = state["messages"][-1]
    return {str(call["id"]): call for call in last.tool_calls} if isinstance(last, AIMessage) else {}


async def said(calls: Calls, id: str) -> ToolMessage:
    try:
        return ToolMessage(await calls.result(id), tool_call_id=id)
    except CallFailed as failed:
        return ToolMessage(str(failed), tool_call_id=id, status="error")


async def chat(graph: CompiledStateGraph[Any, Any, Any, Any], thread: str, text: str, person: Person) -> str:
    """Between two turns, the graph rests in its checkpointer, so each turn can be a separate request."""
    config: RunnableConfig = {"configurable": {"thread_id": thread}}
    state = await graph.ainvoke({"messages": [("user", text)]}, config)
    while interrupts := state.get("__interrupt__"):
        reply = await person(interrupts[0].value)
        state = await graph.ainvoke(Command(resume=reply), config)
    return str(state["messages"][-1].content)


class Scripted(BaseChatModel):
    """Use your chat model instead. This one books Oslo and repeats the tool's result."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        if isinstance(messages[-1], ToolMessage):
            message = AIMessage(messages[-1].content)
        else:
            message = AIMessage("", tool_calls=[{"id": "1", "name": "book", "args": {"destination": "Oslo"}}])
        return ChatResult(generations=[ChatGeneration(message=message)])


async def main() -> None:
    pending = Pending(modes=["form"])
    async with connect(mcp, pending) as client, Calls(pending) as calls:
        graph = await build(Scripted(), client, calls, InMemorySaver())
        print("You: Book me a trip to Oslo.")
        print("Agent:", await chat(graph, "ada", "Book me a trip to Oslo.", person))


if __name__ == "__main__":
    asyncio.run(main())
