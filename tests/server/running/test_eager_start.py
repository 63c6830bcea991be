"""On Python 3.12 and newer a run starts eagerly: a tool that never waits costs no turn of the event loop."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from contextvars import ContextVar
from typing import Any

import pytest

from midcall import Form, Text, ask
from midcall.server.running.run import Run
from midcall.testing import connect
from tests.calling import MEANS, Elicit, Means, asking, begin, finish
from tests.mistakes import mistake_in

ANSWERS = {"a?": "1", "b?": "2"}

EAGER = sys.version_info >= (3, 12)
OWN: ContextVar[object] = ContextVar("own")


def make_run() -> Run:
    run = Run("tool", OWN, None)
    run.on_end = lambda: None
    return run


async def test_a_tool_that_never_waits_has_ended_when_its_run_was_started() -> None:
    async def tool() -> str:
        return "done"

    run = make_run()
    run.start(tool)
    assert run.done is EAGER
    await run.settle()
    assert run.task.result() == "done"


async def test_the_run_knows_its_task_from_the_first_step_on() -> None:
    known: list[bool] = []

    async def tool() -> None:
        known.append(asyncio.current_task() is run.task and run.on_line())
        await asyncio.sleep(0)
        known.append(asyncio.current_task() is run.task and run.on_line())

    run = make_run()
    run.start(tool)
    await run.settle()
    assert known == [True, True]


async def test_the_error_of_a_first_step_is_that_of_the_run() -> None:
    async def tool() -> None:
        raise ValueError("at once")

    run = make_run()
    run.start(tool)
    await run.settle()
    assert isinstance(run.task.exception(), ValueError)


@pytest.mark.parametrize("means", MEANS)
async def test_a_branch_that_starts_before_the_tools_own_question_is_in_the_same_round(means: Means) -> None:
    async def tool(elicit: Elicit) -> str:
        async def branch() -> str:
            return await elicit("b?")

        task = asyncio.create_task(branch())
        return f"{await elicit('a?')} {await task}"

    async with asyncio.timeout(10), connect(asking(means, tool)) as client:
        first = await begin(client, "tool")
        assert first.asked == ["a?", "b?"]
        assert await finish(client, first, ANSWERS) == "1 2"


async def test_a_mistake_in_the_first_step_ends_the_call(caplog: pytest.LogCaptureFixture) -> None:
    async def tool() -> str:
        try:
            return str(await ask("Sign in", Form(Text("password"))))
        except Exception:
            return "approved"

    assert (await mistake_in(tool, caplog)).startswith("SecretInForm in 'tool': ")


async def test_a_loop_with_a_task_factory_makes_the_task_of_a_run_itself() -> None:
    made: list[asyncio.Task[Any]] = []

    def factory(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any], **options: Any) -> asyncio.Task[Any]:
        made.append(asyncio.Task(work, loop=loop, **options))
        return made[-1]

    async def tool() -> str:
        return "done"

    loop, run = asyncio.get_running_loop(), make_run()
    before = loop.get_task_factory()
    loop.set_task_factory(factory)
    try:
        run.start(tool)
    finally:
        loop.set_task_factory(before)
    await run.settle()
    assert made == [run.task]


async def test_a_run_that_is_cancelled_before_its_first_step_leaves_nothing_unawaited() -> None:
    def factory(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any], **options: Any) -> asyncio.Task[Any]:
        return asyncio.Task(work, loop=loop, **options)

    async def tool() -> None:
        raise AssertionError

    loop, run = asyncio.get_running_loop(), make_run()
    before = loop.get_task_factory()
    loop.set_task_factory(factory)
    try:
        run.start(tool)
    finally:
        loop.set_task_factory(before)
    run.task.cancel()
    await run.settle()
    assert run.task.cancelled()
