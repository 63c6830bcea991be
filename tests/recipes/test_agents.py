"""A tool asks in the middle of an agent's run, and the agent gets the outcome of any answer."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from contextlib import AbstractContextManager, aclosing, nullcontext
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from mcp.server import MCPServer

import midcall
from midcall.client.connection.callback import fastmcp_handler
from midcall.client.connection.connect import Era
from midcall.client.pending import Pending
from midcall.errors import TimedOut, UserCancelled, UserDeclined
from tests.recipes.agents import AGENTS, Talking, langgraph, openai_agents, pydantic_ai, recipe, two_at_once
from tests.warm import PYTHON

ERAS: tuple[Era, ...] = ("2025-11-25", "2026-07-28")
DAYS = "How many days will you stay in Oslo?"
SURE = "Book 3 days in Oslo?"
BOOKED = "Booked 3 days in Oslo."
MORTAL = [*PYTHON, str(Path(__file__).parent / "mortal_server.py")]

every_agent = pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.__name__)
on_every_version = pytest.mark.parametrize("era", ERAS)


def travel() -> Any:
    return import_module("travel").mcp


def accept(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


class Person:
    """Replies in order and records the questions."""

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)
        self.asked: list[dict[str, Any]] = []

    async def __call__(self, question: dict[str, Any]) -> Any:
        self.asked.append(json.loads(json.dumps(question)))  # all of it is JSON
        return self.replies.pop(0)

    @property
    def messages(self) -> list[str]:
        return [question["message"] for question in self.asked]


async def nobody(question: dict[str, Any]) -> Any:
    raise AssertionError(f"was asked: {question['message']}")


async def withdrawn(pending: Pending, id: str) -> None:
    """Return when this question is no longer pending."""
    async with aclosing(pending.changes()) as changes, asyncio.timeout(10):
        while pending.get(id) is not None:
            await anext(changes)


# --- what the user may say -----------------------------------------------------------------------


@every_agent
@on_every_version
async def test_the_answers_of_the_user_book_the_trip(agent: Talking, era: Era) -> None:
    person = Person(accept(answer=3), accept(confirmed=True))
    async with agent(travel(), era) as talk:
        assert await talk.say(person) == BOOKED
    assert person.messages == [DAYS, SURE]
    assert {question["protocol"] for question in person.asked} == {era}
    assert {question["server"]["name"] for question in person.asked} == {"Fjord Travel"}


@every_agent
@on_every_version
@pytest.mark.parametrize(("action", "told"), [("decline", UserDeclined.for_model), ("cancel", UserCancelled.for_model)])
async def test_a_user_who_does_not_answer_ends_the_call_and_not_the_agent(
    agent: Talking, era: Era, action: str, told: str
) -> None:
    person = Person({"action": action})
    async with agent(travel(), era) as talk:
        assert told in await talk.say(person)
    assert person.messages == [DAYS]


@every_agent
@on_every_version
async def test_a_user_who_declines_at_the_end_books_nothing(agent: Talking, era: Era) -> None:
    async with agent(travel(), era) as talk:
        assert await talk.say(Person(accept(answer=3), accept(confirmed=False))) == "Nothing was booked."


@every_agent
@on_every_version
async def test_an_invalid_answer_is_asked_again_with_its_problems(agent: Talking, era: Era) -> None:
    wrong = [accept(answer=0), accept(answer="x"), accept(), {"action": "yes"}]
    person = Person(*wrong, accept(answer=3), accept(confirmed=True))
    async with agent(travel(), era) as talk:
        assert await talk.say(person) == BOOKED
    assert person.messages == [DAYS] * 5 + [SURE]
    assert [[each["code"] for each in question["problems"]] for question in person.asked] == [
        [],
        ["too_small"],
        ["type"],
        ["required"],
        ["malformed"],
        [],
    ]
    assert len({question["id"] for question in person.asked}) == 2


# --- what the server may do ----------------------------------------------------------------------


@every_agent
async def test_a_question_that_the_server_gives_up_ends_the_call_and_a_late_answer_does_no_harm(
    agent: Talking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("travel"), "PATIENCE", 0.05)
    async with agent(travel(), "2025-11-25") as talk:

        async def slow(question: dict[str, Any]) -> dict[str, Any]:
            await withdrawn(talk.pending, question["id"])
            return accept(answer=3)

        assert TimedOut.for_model in await talk.say(slow)


@every_agent
async def test_an_answer_in_rounds_that_comes_too_late_is_not_taken(
    agent: Talking, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def slow(question: dict[str, Any]) -> dict[str, Any]:
        later = time.time() + import_module("travel").PATIENCE + 1
        monkeypatch.setattr(time, "time", lambda: later)
        return accept(answer=3)

    async with agent(travel(), "2026-07-28") as talk:
        assert TimedOut.for_model in await talk.say(slow)


@every_agent
@on_every_version
async def test_a_server_that_ends_while_it_asks_ends_the_call_and_not_the_agent(agent: Talking, era: Era) -> None:
    asked: list[str] = []

    async def deadly(question: dict[str, Any]) -> dict[str, Any]:
        asked.append(question["id"])
        os.kill(int(question["message"]), signal.SIGKILL)
        return accept(answer="too late")

    async with agent(MORTAL, era) as talk, asyncio.timeout(20):
        assert "losed" in await talk.say(deadly)
    assert len(asked) == 1


@every_agent
async def test_a_tool_that_does_not_ask_does_not_pause_the_agent(agent: Talking) -> None:
    plain = MCPServer("plain")
    midcall.install(plain)

    @plain.tool()
    async def book(destination: str) -> str:
        return f"Nobody asks about {destination}."

    async with agent(plain, "2026-07-28") as talk:
        assert await talk.say(nobody) == "Nobody asks about Oslo."


@every_agent
@on_every_version
async def test_two_calls_at_once_get_their_own_answers(agent: Talking, era: Era) -> None:
    async def knows(question: dict[str, Any]) -> dict[str, Any]:
        if question["message"].startswith("Book"):
            return accept(confirmed=True)
        return accept(answer=3 if "Oslo" in question["message"] else 7)

    async with agent(travel(), era, two_at_once(agent)) as talk:
        assert await talk.say(knows) == "Booked 3 days in Oslo. Booked 7 days in Rome."


@on_every_version
async def test_a_pydantic_ai_run_can_wait_while_another_task_answers(era: Era) -> None:
    module, pending = recipe("pydantic_ai_agent"), Pending(modes=["form"])
    person = Person(accept(answer=3), accept(confirmed=True))

    async def answering() -> None:
        async for asked in pending:
            pending.receive({**await person(asked.as_data()), "id": asked.id})

    toolset = module.MCPToolset(travel(), elicitation_handler=fastmcp_handler(pending))
    toolset.client.mode = "auto" if era == "2026-07-28" else "legacy"
    agent, task = (
        module.Agent(module.FunctionModel(module.scripted), toolsets=[toolset]),
        asyncio.create_task(answering()),
    )
    # Without FastMCP's tasks, pydantic-ai warns that nothing will be asked on the newest version.
    with warns_of_rounds(era):
        assert (await agent.run("Oslo")).output == BOOKED
    assert {question["protocol"] for question in person.asked} == {era}
    pending.close()
    await task


def warns_of_rounds(era: Era) -> AbstractContextManager[Any]:
    if era != "2026-07-28" or find_spec("fastmcp_tasks") is not None:
        return nullcontext()
    return pytest.warns(UserWarning, match="will never be called")


# --- an agent that is stored while the user thinks -------------------------------------------------

ADA = {"configurable": {"thread_id": "ada"}}


@on_every_version
async def test_a_paused_graph_resumes_from_its_checkpointer(era: Era) -> None:
    async with langgraph(travel(), era) as talk:
        paused = await talk.agent.ainvoke({"messages": [("user", "Oslo")]}, ADA)
        assert paused["__interrupt__"][0].value["message"] == DAYS
        assert (await talk.agent.aget_state(ADA)).next == ("ask",)
        paused = await talk.agent.ainvoke(talk.module.Command(resume=accept(answer=3)), ADA)
        assert paused["__interrupt__"][0].value["message"] == SURE
        done = await talk.agent.ainvoke(talk.module.Command(resume=accept(confirmed=True)), ADA)
    assert [message.type for message in done["messages"]] == ["human", "ai", "tool", "ai"]
    assert done["messages"][-2].status == "success"


async def test_a_graph_whose_process_has_ended_reports_the_lost_call_to_the_model() -> None:
    saver = recipe_saver()
    async with langgraph(travel(), "2026-07-28", checkpointer=saver) as talk:
        await talk.agent.ainvoke({"messages": [("user", "Oslo")]}, ADA)
    async with langgraph(travel(), "2026-07-28", checkpointer=saver) as talk:
        done = await talk.agent.ainvoke(talk.module.Command(resume=accept(answer=3)), ADA)
    assert "This call was lost" in done["messages"][-1].content
    assert done["messages"][-2].status == "error"


def recipe_saver() -> Any:
    return pytest.importorskip("langgraph.checkpoint.memory").InMemorySaver()


@on_every_version
async def test_a_deferred_call_can_wait_in_a_stored_history(era: Era) -> None:
    async with pydantic_ai(travel(), era) as talk:
        run = await talk.agent.run("Oslo")
        assert run.output.metadata["1"]["message"] == DAYS
        history = stored_history(run)
        await talk.calls.settle("1", Person(accept(answer=3), accept(confirmed=True)))
        results = talk.module.DeferredToolResults(calls={"1": await talk.module.result(talk.calls, "1")})
        run = await talk.agent.run(message_history=history, deferred_tool_results=results)
    assert run.output == BOOKED


async def test_a_deferred_call_whose_process_has_ended_is_reported_to_the_model_as_lost() -> None:
    async with pydantic_ai(travel(), "2026-07-28") as talk:
        history = stored_history(await talk.agent.run("Oslo"))
    async with pydantic_ai(travel(), "2026-07-28") as talk:
        await talk.calls.settle("1", nobody)
        results = talk.module.DeferredToolResults(calls={"1": await talk.module.result(talk.calls, "1")})
        run = await talk.agent.run(message_history=history, deferred_tool_results=results)
    assert "This call was lost" in run.output


def stored_history(run: Any) -> Any:
    adapter = import_module("pydantic_ai.messages").ModelMessagesTypeAdapter
    return adapter.validate_json(run.all_messages_json())


@on_every_version
async def test_an_interrupted_run_can_wait_as_a_stored_state(era: Era) -> None:
    async with openai_agents(travel(), era) as talk:
        run = await talk.module.Runner.run(talk.agent, "Oslo")
        state = await stored_state(talk.agent, run)
        [interruption] = state.get_interruptions()
        await talk.calls.settle(interruption.call_id, Person(accept(answer=3), accept(confirmed=True)))
        state.approve(interruption)
        assert (await talk.module.Runner.run(talk.agent, state)).final_output == BOOKED


async def test_an_interrupted_run_whose_process_has_ended_is_reported_to_the_model_as_lost() -> None:
    async with openai_agents(travel(), "2026-07-28") as talk:
        run, model = await talk.module.Runner.run(talk.agent, "Oslo"), talk.agent.model
    async with openai_agents(travel(), "2026-07-28", model) as talk:
        state = await stored_state(talk.agent, run)
        [interruption] = state.get_interruptions()
        await talk.calls.settle(interruption.call_id, nobody)
        state.approve(interruption)
        assert "This call was lost" in (await talk.module.Runner.run(talk.agent, state)).final_output


async def stored_state(agent: Any, run: Any) -> Any:
    text = json.dumps(run.to_state().to_json())
    return await import_module("agents.run_state").RunState.from_json(agent, json.loads(text))
