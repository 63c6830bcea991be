"""FastMCP's background tasks: they stay tasks with midcall installed, and a verb in one says what to do instead."""

from __future__ import annotations

import logging
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest
from fastmcp import Client, Context, FastMCP

import midcall
from midcall import CannotAsk, NoCall, ask
from midcall.testing import run
from tests.kinds import server_with
from tests.skips import needs_tasks

ADVICE = "Ask in a tool without task=True and hand the answers to the task, or return an InputRequiredResult"


async def asks() -> str:
    return str(await ask("How many?", int))


async def falls_back() -> str:
    try:
        return await asks()
    except CannotAsk:
        return "none"


async def elicits(ctx: Context) -> str:
    return str(await ctx.elicit("How many?", int))


async def quiet() -> str:
    return "done"


def with_tasks(*tools: Any, mode: Any = True) -> FastMCP[Any]:
    tasks: Any = import_module("fastmcp_tasks")
    server: FastMCP[Any] = FastMCP("test")
    server.add_extension(tasks.TasksExtension())
    for tool in tools:
        server.tool(tool, task=mode)
    return server


async def as_task(server: FastMCP[Any], tool: str) -> Any:
    tasks: Any = import_module("fastmcp_tasks")
    async with Client(server, mode="auto") as client:
        task = await tasks.call_tool_task(client, tool, {})
        return await task.result()


@needs_tasks()
@pytest.mark.parametrize("required", [True, False])
async def test_a_task_stays_a_task_with_midcall_installed(required: bool) -> None:
    from fastmcp.utilities.tasks import TaskConfig

    server = with_tasks(quiet, mode=TaskConfig(mode="required") if required else True)
    midcall.install(server)
    assert (await as_task(server, "quiet")).data == "done"


@needs_tasks()
async def test_a_verb_in_a_background_task_says_what_to_do_instead(caplog: pytest.LogCaptureFixture) -> None:
    server = with_tasks(asks, falls_back)
    midcall.install(server)
    with pytest.raises(Exception, match="cannot ask for it while it runs as a background task"):
        await as_task(server, "asks")
    assert ADVICE in caplog.text
    assert (await as_task(server, "falls_back")).data == "none"


@needs_tasks()
async def test_an_elicitation_in_a_background_task_fails_as_it_does_without_midcall() -> None:
    server = with_tasks(elicits)
    midcall.install(server)
    with pytest.raises(Exception, match=r"Imperative ctx\.elicit\(\) is not supported inside a background task"):
        await as_task(server, "elicits")


@needs_tasks()
async def test_without_a_task_the_same_tool_asks() -> None:
    server = with_tasks(asks, elicits)
    midcall.install(server)
    assert (await run(server, "asks", {}, [3])).text == "3"
    assert "data=3" in (await run(server, "elicits", {}, [3])).text


async def test_in_a_worker_no_call_is_taken_for_that_of_the_task(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)

    async def tool() -> str:
        worker: Any = ModuleType("fastmcp_tasks.context")
        worker.get_task_context = object
        monkeypatch.setitem(sys.modules, "fastmcp_tasks.context", worker)
        with pytest.raises(NoCall, match=r"ask\(\) was used in a background task, which can't reach the user"):
            await ask("How many?", int)
        return "told"

    assert (await run(server_with(tool), "tool")).text == "told"
