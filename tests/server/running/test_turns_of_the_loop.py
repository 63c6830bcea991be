"""How soon a request sees what its run came to, in turns of the event loop."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar

import pytest

from midcall.server.running.run import Run
from midcall.testing import connect
from tests.calling import MEANS, Elicit, Means, asking, begin, finish, proceed

ANSWERS = {"a?": "1", "b?": "2", "c?": "3"}
OWN: ContextVar[object] = ContextVar("own")


async def answer(run: Run, key: str) -> int:
    """Answer this question, as a request does. The turns of the loop until the run has ended, or has gone quiet."""
    loop, turns = asyncio.get_running_loop(), 0

    def tick() -> None:
        nonlocal turns, ticking
        turns += 1
        ticking = loop.call_soon(tick)

    ticking = loop.call_soon(tick)
    run.resume([key])
    await run.settle()
    ticking.cancel()
    return turns


def make_run() -> Run:
    run = Run("tool", OWN, None)
    run.on_end = lambda: None
    return run


async def test_a_request_whose_answer_ends_the_tool_takes_one_turn() -> None:
    run = make_run()

    async def tool() -> str:
        await run.ask({"a?": {}})
        return "done"

    run.start(tool)
    await run.settle()
    assert await answer(run, "a?") == 1
    assert run.task.result() == "done"


async def test_a_request_whose_answer_leads_to_a_question_takes_two_turns() -> None:
    run = make_run()

    async def tool() -> None:
        await run.ask({"a?": {}})
        await run.ask({"b?": {}})

    run.start(tool)
    await run.settle()
    assert await answer(run, "a?") == 2
    assert list(run.requests()) == ["b?"]
    await run.end("the test is over")


@pytest.mark.parametrize("means", MEANS)
async def test_a_branch_that_starts_after_an_answer_is_in_the_same_round_as_the_next_question(means: Means) -> None:
    async def tool(elicit: Elicit) -> str:
        async def branch() -> str:
            return await elicit("c?")

        first = await elicit("a?")
        task = asyncio.create_task(branch())
        return f"{first} {await elicit('b?')} {await task}"

    async with asyncio.timeout(10), connect(asking(means, tool)) as client:
        first = await begin(client, "tool")
        second = await proceed(client, first, ANSWERS)
        assert (first.asked, second.asked) == (["a?"], ["b?", "c?"])
        assert await finish(client, second, ANSWERS) == "1 2 3"
