"""Branches that ask at once: their questions leave in one round, and each continues where it waits."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import anyio
import pytest
from mcp_types import ElicitResult

from midcall.testing import connect
from tests.calling import MEANS, Elicit, Means, asking, begin, finish, proceed

ANSWERS = {"a?": "1", "b?": "2", "c?": "3"}

Branch = Callable[[str], Coroutine[Any, Any, str]]
Together = Callable[[Branch], Awaitable[list[str]]]


async def gathered(branch: Branch) -> list[str]:
    return await asyncio.gather(*(branch(name) for name in "abc"))


async def gathered_with_exceptions(branch: Branch) -> list[str]:
    return [str(each) for each in await asyncio.gather(*(branch(name) for name in "abc"), return_exceptions=True)]


async def in_a_task_group(branch: Branch) -> list[str]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(branch(name)) for name in "abc"]
    return [task.result() for task in tasks]


async def in_an_anyio_group(branch: Branch) -> list[str]:
    answers: dict[str, str] = {}

    async def put(name: str) -> None:
        answers[name] = await branch(name)

    async with anyio.create_task_group() as group:
        for name in "abc":
            group.start_soon(put, name)
    return [answers[name] for name in "abc"]


async def in_nested_groups(branch: Branch) -> list[str]:
    async with asyncio.TaskGroup() as outer:
        first = outer.create_task(branch("a"))
        async with asyncio.TaskGroup() as inner:
            second = inner.create_task(branch("b"))
            third = await branch("c")
    return [first.result(), second.result(), third]


async def as_they_come(branch: Branch) -> list[str]:
    return sorted([await each for each in asyncio.as_completed([branch(name) for name in "abc"])])


TOGETHER = [
    *(gathered, gathered_with_exceptions, in_a_task_group, in_an_anyio_group, in_nested_groups, as_they_come),
]


@pytest.mark.parametrize("means", MEANS)
@pytest.mark.parametrize("together", TOGETHER)
async def test_questions_of_branches_leave_in_one_round_and_every_branch_runs_once(
    together: Together, means: Means
) -> None:
    runs: Counter[str] = Counter()

    async def tool(elicit: Elicit) -> str:
        async def branch(name: str) -> str:
            runs[name] += 1
            return await elicit(f"{name}?")

        return " ".join(await together(branch))

    async with connect(asking(means, tool)) as client:
        first = await begin(client, "tool")
        assert first.asked == ["a?", "b?", "c?"]
        assert await finish(client, first, ANSWERS) == "1 2 3"
    assert runs == {"a": 1, "b": 1, "c": 1}


@pytest.mark.parametrize("means", MEANS)
async def test_a_branch_that_is_declined_does_not_end_the_others(means: Means) -> None:
    runs: Counter[str] = Counter()

    async def tool(elicit: Elicit) -> str:
        async def branch(name: str) -> str:
            runs[name] += 1
            return await elicit(f"{name}?")

        results = await asyncio.gather(*(branch(name) for name in "abc"), return_exceptions=True)
        return " ".join("no" if isinstance(each, Exception) or each == "decline" else str(each) for each in results)

    async with connect(asking(means, tool)) as client:
        first = await begin(client, "tool")
        answers = {**ANSWERS, "b?": ElicitResult(action="decline")}
        assert await finish(client, first, answers) == "1 no 3"
    assert runs == {"a": 1, "b": 1, "c": 1}


async def test_a_group_that_a_failing_branch_ends_takes_its_open_questions_along() -> None:
    async def tool(elicit: Elicit) -> str:
        async def fails() -> None:
            await elicit("a?")
            raise OSError("out of stock")

        async def waits() -> None:
            await elicit("b?")

        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(fails())
                group.create_task(waits())
        except* OSError as failed:
            [reason] = failed.exceptions
        return f"{reason} {await elicit('c?')}"

    async with connect(asking("mcpserver", tool)) as client:
        second = await proceed(client, await begin(client, "tool"), {"a?": "1"})
        assert second.asked == ["c?"]
        assert await finish(client, second, ANSWERS) == "out of stock 3"


async def test_a_task_that_the_tool_does_not_wait_for_asks_in_its_call_too() -> None:
    kept: set[asyncio.Task[str]] = set()

    async def tool(elicit: Elicit) -> str:
        async def aside() -> str:
            return await elicit("a?")

        task = asyncio.create_task(aside())
        kept.add(task)
        second = await elicit("b?")
        return f"{await task} {second}"

    async with connect(asking("mcpserver", tool)) as client:
        first = await begin(client, "tool")
        assert first.asked == ["a?", "b?"]
        assert await finish(client, first, ANSWERS) == "1 2"
    assert len(kept) == 1
