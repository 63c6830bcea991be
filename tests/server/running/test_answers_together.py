"""A round brings its answers at once: in a replay no branch gets ahead of another that was answered, too."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeAlias

import anyio
import pytest
from mcp import Client

from midcall import Declined, UserDeclined, ask, elicit, from_thread
from midcall.server.running.run import in_thread
from midcall.testing import connect
from tests.kinds import server_with
from tests.rounds import raw_call, text


class Pace:
    """How fast branches come to their questions: the late ones need longer when the tool runs for the last time."""

    runs = 0
    last = 2

    async def early(self) -> None:
        for _ in range(2 if self.runs < self.last else 0):
            await asyncio.sleep(0)

    async def late(self) -> None:
        for _ in range(0 if self.runs < self.last else 30):
            await asyncio.sleep(0)

    async def ask_early(self, message: str) -> str:
        await self.early()
        return await ask(message, str)

    async def ask_late(self, message: str) -> str:
        await self.late()
        return await ask(message, str)

    async def fail_early(self, message: str) -> None:
        raise ValueError(await self.ask_early(message))


Body: TypeAlias = Callable[[Pace], Awaitable[str]]


async def a_sibling_that_does_not_like_its_answer(pace: Pace) -> str:
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(pace.fail_early("First?"))
            group.create_task(pace.ask_late("Second?"))
    except* ValueError:
        pass
    return "caught"


async def so_with_anyio(pace: Pace) -> str:
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(pace.fail_early, "First?")
            group.start_soon(pace.ask_late, "Second?")
    except* ValueError:
        pass
    return "caught"


async def a_body_that_does_not_like_its_answer(pace: Pace) -> str:
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(pace.ask_late("Second?"))
            await pace.fail_early("First?")
    except* ValueError:
        pass
    return "caught"


async def a_decline_that_ends_its_group(pace: Pace) -> str:
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(pace.ask_early("No, first?"))
            group.create_task(pace.ask_late("Second?"))
    except* UserDeclined:
        pass
    return "caught"


async def a_decline_that_cancels_a_thread(pace: Pace) -> str:
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(pace.ask_early("No, first?"))
            group.create_task(asyncio.to_thread(from_thread.ask, "Second?", str))
    except* UserDeclined:
        pass
    return "caught"


async def a_branch_that_an_earlier_decline_left_behind(pace: Pace) -> str:
    pace.last = 3
    try:
        await asyncio.gather(ask("No, first?", str), pace.ask_late("Second?"))
    except UserDeclined:
        pass
    return await pace.ask_early("Third?")


async def so_with_a_thread(pace: Pace) -> str:
    try:
        await asyncio.gather(ask("No, first?", str), asyncio.to_thread(from_thread.ask, "Second?", str))
    except UserDeclined:
        pass
    return await pace.ask_early("Third?")


async def a_decline_that_its_tool_acts_upon(pace: Pace) -> str:
    other = asyncio.create_task(pace.ask_late("Second?"))
    await pace.early()
    if isinstance(await elicit("No, first?", str), Declined):
        other.cancel()
    return str(len(await asyncio.gather(other, return_exceptions=True)))


async def a_task_that_nobody_awaits(pace: Pace) -> str:
    task = asyncio.create_task(pace.ask_late("Second?"))
    answer = await pace.ask_early("First?")
    task.cancel()
    return answer


async def the_first_of_two(pace: Pace) -> str:
    tasks = [asyncio.create_task(pace.ask_early("First?")), asyncio.create_task(pace.ask_late("Second?"))]
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    return ", ".join(sorted(task.result() for task in done))


BODIES: list[Body] = [
    a_sibling_that_does_not_like_its_answer,
    so_with_anyio,
    a_body_that_does_not_like_its_answer,
    a_decline_that_ends_its_group,
    a_decline_that_cancels_a_thread,
    a_branch_that_an_earlier_decline_left_behind,
    so_with_a_thread,
    a_decline_that_its_tool_acts_upon,
    a_task_that_nobody_awaits,
    the_first_of_two,
]

Asked: TypeAlias = Mapping[str, str]
"""The messages of a round, by key."""


def all_at_once(asked: Asked) -> Iterable[str]:
    return asked


def declines_first(asked: Asked) -> Iterable[str]:
    return [key for key, message in asked.items() if message.startswith("No")] or asked


def one_by_one(asked: Asked) -> Iterable[str]:
    return [min(asked, key=lambda key: asked[key])]


async def called(body: Body, answered: Callable[[Asked], Iterable[str]], *, live: bool) -> tuple[bool, str]:
    """What this comes to, if the client answers these questions of each round."""
    pace = Pace()

    async def tool() -> str:
        pace.runs += 1
        return await body(pace)

    async with asyncio.timeout(30), connect(server_with(tool, live=live)) as client:
        result = await raw_call(client, "tool")
        while result["resultType"] == "input_required":
            result = await _answer(client, result, answered)
    return result.get("isError", False), text(result)


async def _answer(client: Client, result: dict[str, Any], answered: Callable[[Asked], Iterable[str]]) -> dict[str, Any]:
    asked = {key: request["params"]["message"] for key, request in result["inputRequests"].items()}
    answers = {key: _answer_to(asked[key]) for key in answered(asked)}
    return await raw_call(client, "tool", answers=answers, state=result["requestState"])


def _answer_to(message: str) -> dict[str, Any]:
    if message.startswith("No"):
        return {"action": "decline"}
    return {"action": "accept", "content": {"answer": f"<{message}>"}}


@pytest.mark.parametrize("answered", [all_at_once, declines_first])
@pytest.mark.parametrize("body", BODIES)
async def test_a_replayed_tool_that_leaves_a_branch_behind_ends_as_a_live_one(
    body: Body, answered: Callable[[Asked], Iterable[str]]
) -> None:
    live = await called(body, answered, live=True)
    assert live[0] is False
    assert await called(body, answered, live=False) == live


@pytest.mark.parametrize("body", [body for body in BODIES if body is not the_first_of_two])
async def test_so_it_does_if_the_answers_come_one_by_one(body: Body) -> None:
    live = await called(body, one_by_one, live=True)
    assert await called(body, one_by_one, live=False) == live


@pytest.mark.parametrize("live", [True, False])
async def test_no_round_leaves_for_a_thread_while_the_tool_gives_it_up(live: bool) -> None:
    async def for_a_thread() -> str:
        in_thread.set(1)
        return await ask("First?", str)

    async def body(pace: Pace) -> str:
        task = asyncio.create_task(for_a_thread())
        for _ in range(12):
            await asyncio.sleep(0)
        return f"given up {task.done()}"

    def none(asked: Asked) -> Iterable[str]:
        raise AssertionError(asked)

    assert await called(body, none, live=live) == (False, "given up False")


async def test_a_branch_that_a_replay_does_not_start_again_is_a_mismatch() -> None:
    async def body(pace: Pace) -> str:
        messages = ["First?", "Second?"] if pace.runs == 1 else ["First?"]
        return " ".join(await asyncio.gather(*map(pace.ask_early, messages)))

    failed, _ = await called(body, all_at_once, live=False)
    assert failed
