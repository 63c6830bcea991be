"""A retry may answer some questions. The next round has those still open and any new ones."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from midcall import ask_all
from midcall.core.question import Question
from midcall.testing import connect
from tests.calling import MEANS, Elicit, Means, asking, begin, finish, proceed
from tests.kinds import server_with

ANSWERS = {"a?": "1", "b?": "2", "c?": "3"}


@pytest.mark.parametrize("means", MEANS)
async def test_only_what_was_not_answered_is_asked_again(means: Means) -> None:
    runs: Counter[str] = Counter()

    async def tool(elicit: Elicit) -> str:
        async def branch(name: str) -> str:
            runs[name] += 1
            return await elicit(f"{name}?")

        return " ".join(await asyncio.gather(*(branch(name) for name in "abc")))

    async with connect(asking(means, tool)) as client:
        first = await begin(client, "tool")
        second = await proceed(client, first, {"b?": "2"})
        assert second.asked == ["a?", "c?"]
        third = await proceed(client, second, {"c?": "3"})
        assert third.asked == ["a?"]
        assert await finish(client, third, {"a?": "1"}) == "1 2 3"
    assert runs == {"a": 1, "b": 1, "c": 1}


async def test_an_open_question_keeps_its_key_from_round_to_round() -> None:
    async def tool(elicit: Elicit) -> str:
        async def branch(name: str) -> str:
            return await elicit(f"{name}?")

        return " ".join(await asyncio.gather(branch("a"), branch("b")))

    async with connect(asking("mcpserver", tool)) as client:
        first = await begin(client, "tool")
        second = await proceed(client, first, {"b?": "2"})
        assert set(second.requests) < set(first.requests)


async def test_a_retry_without_answers_gets_the_same_questions_again_and_runs_nothing() -> None:
    effects: list[str] = []

    async def tool(elicit: Elicit) -> str:
        effects.append("charged")
        return await elicit("a?")

    async with connect(asking("mcpserver", tool)) as client:
        first = await begin(client, "tool")
        second = await proceed(client, first, {})
        assert (second.asked, list(second.requests)) == (first.asked, list(first.requests))
        assert await finish(client, second, ANSWERS) == "1"
    assert effects == ["charged"]


async def test_questions_of_ask_all_that_were_not_answered_are_asked_again() -> None:
    effects: list[str] = []

    async def tool() -> str:
        effects.append("charged")
        return " ".join(await ask_all(Question("a?", str), Question("b?", str)))

    async with connect(server_with(tool)) as client:
        second = await proceed(client, await begin(client, "tool"), {"b?": "2"})
        assert second.asked == ["a?"]
        assert await finish(client, second, {"a?": "1"}) == "1 2"
    assert effects == ["charged"]


@pytest.mark.parametrize("means", MEANS)
async def test_a_branch_that_asks_between_two_rounds_joins_the_next_one(means: Means) -> None:
    go_on, about_to_ask = asyncio.Event(), asyncio.Event()

    async def tool(elicit: Elicit) -> str:
        async def late() -> str:
            await go_on.wait()
            about_to_ask.set()
            return await elicit("b?")

        async def at_once() -> str:
            return await elicit("a?") + await elicit("c?")

        return " ".join(await asyncio.gather(at_once(), late()))

    async with asyncio.timeout(10), connect(asking(means, tool)) as client:
        first = await begin(client, "tool")
        assert first.asked == ["a?"]
        go_on.set()
        await about_to_ask.wait()
        second = await proceed(client, first, ANSWERS)
        assert second.asked == ["b?", "c?"]
        assert await finish(client, second, ANSWERS) == "13 2"


@pytest.mark.parametrize("means", MEANS)
async def test_a_run_that_finishes_between_two_rounds_gives_its_result_to_the_next_retry(means: Means) -> None:
    give_up, done = asyncio.Event(), asyncio.Event()

    async def tool(elicit: Elicit) -> str:
        async def asked() -> str:
            return await elicit("a?")

        question = asyncio.create_task(asked())
        await give_up.wait()
        question.cancel()
        await asyncio.wait([question])
        done.set()
        return "without an answer"

    async with asyncio.timeout(10), connect(asking(means, tool)) as client:
        first = await begin(client, "tool")
        give_up.set()
        await done.wait()
        assert await finish(client, first, ANSWERS) == "without an answer"


async def test_a_retry_that_comes_while_the_run_works_waits_for_it() -> None:
    give_up, working, go_on = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def tool(elicit: Elicit) -> str:
        async def asked(message: str) -> str:
            return await elicit(message)

        question = asyncio.create_task(asked("a?"))
        await give_up.wait()
        question.cancel()
        working.set()
        await go_on.wait()
        return await asked("b?")

    async with asyncio.timeout(10), connect(asking("mcpserver", tool)) as client:
        first = await begin(client, "tool")
        give_up.set()
        await working.wait()
        retried = asyncio.create_task(proceed(client, first, ANSWERS))
        await client.list_tools()  # the retry has reached the server by now
        assert not retried.done()
        go_on.set()
        second = await retried
        assert second.asked == ["b?"]
        assert await finish(client, second, ANSWERS) == "2"


async def test_a_run_that_fails_between_two_rounds_gives_its_error_to_the_next_retry() -> None:
    give_up, failed = asyncio.Event(), asyncio.Event()

    async def tool(elicit: Elicit) -> str:
        async def fails() -> None:
            await give_up.wait()
            failed.set()
            raise ValueError("out of stock")

        async with asyncio.TaskGroup() as group:
            group.create_task(fails())
            await elicit("a?")
        return "never"

    async with asyncio.timeout(10), connect(asking("mcpserver", tool)) as client:
        first = await begin(client, "tool")
        give_up.set()
        await failed.wait()
        result = await client.session.call_tool(
            "tool", {}, input_responses=first.responses(ANSWERS), request_state=first.state, allow_input_required=True
        )
    assert getattr(result, "is_error", False)


async def test_a_round_does_not_wait_for_io_of_another_branch() -> None:
    """A branch counts as quiet after some turns of the loop, even if it is waiting for I/O."""
    never = asyncio.Event()

    async def tool(elicit: Elicit) -> str:
        async def slow() -> None:
            await never.wait()

        task = asyncio.create_task(slow())
        try:
            return await elicit("a?")
        finally:
            task.cancel()

    async with asyncio.timeout(10), connect(asking("mcpserver", tool)) as client:
        first = await begin(client, "tool")
        assert await finish(client, first, ANSWERS) == "1"


async def test_a_question_that_comes_a_few_turns_after_another_is_in_the_same_round() -> None:
    async def tool(elicit: Elicit) -> str:
        async def soon() -> str:
            for _ in range(3):
                await asyncio.sleep(0)
            return await elicit("b?")

        async def at_once() -> str:
            return await elicit("a?")

        return " ".join(await asyncio.gather(at_once(), soon()))

    async with connect(asking("mcpserver", tool)) as client:
        first = await begin(client, "tool")
        assert first.asked == ["a?", "b?"]
        assert await finish(client, first, ANSWERS) == "1 2"
