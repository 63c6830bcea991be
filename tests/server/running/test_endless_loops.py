"""A loop that catches everything cannot be ended. Its question leaves all the same, and nothing hangs or spins.

In a live run nothing has to end it. A replay abandons the run, with an error that names the tool: such a task outlives
its call, so these tests run in separate processes.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from midcall import ask, from_thread
from midcall.testing import connect, run
from tests.kinds import server_with

TRIES: list[None] = []
"""How often a loop has caught something."""


async def endless() -> str:
    while True:
        try:
            return await ask("a?", str)
        except:
            TRIES.append(None)


async def in_the_tool() -> str:
    return await endless()


async def in_gather() -> str:
    return (await asyncio.gather(endless()))[0]


async def in_gather_for_exceptions() -> str:
    return str((await asyncio.gather(endless(), return_exceptions=True))[0])


async def in_a_task() -> str:
    return await asyncio.create_task(endless())


async def in_a_task_group() -> str:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(endless())
    return task.result()


async def in_an_anyio_group() -> str:
    answers: list[str] = []

    async def branch() -> None:
        answers.append(await endless())

    async with anyio.create_task_group() as group:
        group.start_soon(branch)
    return answers[0]


async def in_wait() -> str:
    task = asyncio.create_task(endless())
    await asyncio.wait([task])
    return task.result()


async def in_wait_for() -> str:
    return await asyncio.wait_for(endless(), 300)


async def in_shield() -> str:
    return await asyncio.shield(endless())


async def in_as_completed() -> str:
    [first] = asyncio.as_completed([endless()])
    return await first


async def two_deep() -> str:
    async def branch() -> str:
        return (await asyncio.gather(endless()))[0]

    return (await asyncio.gather(branch()))[0]


async def beside_others() -> str:
    async def polite() -> str:
        return await ask("b?", str)

    return "".join(await asyncio.gather(endless(), polite()))[:1]


def in_a_thread() -> str:
    while True:
        try:
            return from_thread.ask("a?", str)
        except:
            TRIES.append(None)


ASYNC: list[Callable[[], Awaitable[str]]] = [
    in_the_tool,
    in_gather,
    in_gather_for_exceptions,
    in_a_task,
    in_a_task_group,
    in_an_anyio_group,
    in_wait,
    in_wait_for,
    in_shield,
    in_as_completed,
    two_deep,
    beside_others,
]


@pytest.mark.parametrize("tool", ASYNC, ids=lambda tool: tool.__name__)
async def test_the_question_of_a_loop_that_catches_everything_leaves_soon(tool: Callable[[], Awaitable[str]]) -> None:
    with anyio.fail_after(4):  # what is left to its cleanup has five seconds: none of that is needed
        assert (await run(server_with(tool), tool.__name__, {}, {"a?": "x", "b?": "y"})).text == "x"


@pytest.mark.parametrize("tool", ASYNC, ids=lambda tool: tool.__name__)
async def test_a_loop_that_catches_everything_rests_once_its_question_has_left(
    tool: Callable[[], Awaitable[str]],
) -> None:
    await run(server_with(tool), tool.__name__, {}, {"a?": "x", "b?": "y"})
    caught = len(TRIES)
    for _ in range(200):
        await asyncio.sleep(0)
    assert len(TRIES) == caught


@pytest.mark.parametrize("tool", [in_gather, in_an_anyio_group], ids=lambda tool: tool.__name__)
async def test_the_connection_serves_on_after_such_a_loop(tool: Callable[[], Awaitable[str]]) -> None:
    async with connect(server_with(tool), lambda asked: "x") as client:
        for _ in range(2):
            result: Any = await client.call_tool(tool.__name__, {})
            assert result.content[0].text == "x"


LAST = """
import asyncio, sys
import midcall
from mcp.server import MCPServer
from midcall.testing import run
from tests.server.running import test_endless_loops as loops

server = MCPServer("endless")
midcall.install(server)
for tool in loops.ASYNC:
    server.add_tool(tool)

async def main():
    for tool in loops.ASYNC:
        print((await run(server, tool.__name__, {}, {"a?": "x", "b?": "y"})).text, end=" ")

asyncio.run(main())
print("ended")
"""


def test_a_process_with_such_loops_in_its_tasks_ends() -> None:
    ran = subprocess.run([sys.executable, "-c", LAST], capture_output=True, text=True, timeout=60)
    assert ran.stdout.split() == [*["x"] * len(ASYNC), "ended"], ran.stderr
    assert not [word for word in ("Traceback", "never retrieved", "destroyed") if word in ran.stderr]


REPLAYED = """
import asyncio, os, time
import midcall
from mcp.server import MCPServer
from midcall.testing import run
from tests.server.running import test_endless_loops as loops

server = MCPServer("endless")
midcall.install(server, live=False)
for tool in loops.ASYNC:
    server.add_tool(tool)

async def main():
    for tool in loops.ASYNC:
        began = time.monotonic()
        done = await run(server, tool.__name__, {}, {"a?": "x", "b?": "y"})
        caught = len(loops.TRIES)
        for _ in range(200):
            await asyncio.sleep(0)
        print(done.text, len(loops.TRIES) - caught, time.monotonic() - began < 4, flush=True)
    os._exit(0)  # nothing ends those tasks

asyncio.run(main())
"""


def test_a_replay_abandons_such_a_loop_soon_and_names_its_tool() -> None:
    ran = subprocess.run([sys.executable, "-c", REPLAYED], capture_output=True, text=True, timeout=100)
    assert ran.stdout.splitlines() == ["x 0 True"] * len(ASYNC), ran.stderr
    assert [tool.__name__ for tool in ASYNC if f"{tool.__name__} did not end" not in ran.stderr] == []  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]


THREAD = """
import asyncio, os, time
import midcall
from mcp.server import MCPServer
from midcall.testing import run
from tests.server.running import test_endless_loops as loops

server = MCPServer("endless")
midcall.install(server)
server.add_tool(loops.in_a_thread)

async def main():
    print((await asyncio.wait_for(run(server, "in_a_thread", {}, ["x"]), 30)).text)
    caught = len(loops.TRIES)
    for _ in range(200):
        await asyncio.sleep(0)
    print(len(loops.TRIES) - caught, flush=True)
    os._exit(0)  # nothing ends that thread

asyncio.run(main())
"""


@pytest.mark.usefixtures("both_modes")
def test_a_loop_in_a_thread_rests_too() -> None:
    ran = subprocess.run([sys.executable, "-c", THREAD], capture_output=True, text=True, timeout=60)
    assert ran.stdout.split() == ["x", "0"], ran.stderr
