"""A tool that swallows everything after a mistake still ends its call with that mistake, and rests.

Nothing can end such a tool: its task outlives the call, and keeps its event loop from closing. So each of these runs
in a separate process.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import anyio
import pytest
from mcp.server.mcpserver import Context
from pydantic import BaseModel

from midcall import ask, from_thread
from midcall.testing import Era
from tests.mistakes import BROKEN

HALF = "half \ud83d"
"""No transport can write it."""

TRIES: list[None] = []
"""How often a tool has gone around its loop."""


class Sure(BaseModel):
    sure: bool


async def endless() -> str:
    while True:
        TRIES.append(None)
        with suppress(BaseException):
            return await ask("", str)


async def polite() -> str:
    return await ask("Beside?", str)


async def in_the_tool() -> str:
    return await endless()


async def after_an_answer() -> str:
    return await ask("Beside?", str) + await endless()


async def in_gather() -> str:
    return "".join(await asyncio.gather(endless(), polite()))


async def in_gather_for_exceptions() -> str:
    return str(await asyncio.gather(endless(), polite(), return_exceptions=True))


async def in_a_task_group() -> str:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(endless())
        group.create_task(polite())
    return task.result()


async def in_an_anyio_group() -> str:
    async with anyio.create_task_group() as group:
        group.start_soon(endless)
        group.start_soon(polite)
    return "approved"


async def in_wait() -> str:
    task = asyncio.create_task(endless())
    await asyncio.wait([task])
    return task.result()


async def around_an_adopted_question(ctx: Context) -> str:
    while True:
        TRIES.append(None)
        with suppress(BaseException):
            return str(await ctx.elicit(HALF, Sure))


def in_a_def_tool() -> str:
    while True:
        TRIES.append(None)
        with suppress(BaseException):
            return from_thread.ask("", str)


async def in_a_thread_of_its_own() -> str:
    return await asyncio.to_thread(in_a_def_tool)


TOOLS: list[Callable[..., Any]] = [
    in_the_tool,
    after_an_answer,
    in_gather,
    in_gather_for_exceptions,
    in_a_task_group,
    in_an_anyio_group,
    in_wait,
    around_an_adopted_question,
    in_a_def_tool,
    in_a_thread_of_its_own,
]

CALLED = """
import asyncio, logging, os, sys
from midcall.testing import run
from tests.kinds import server_with
from tests.server.running import test_swallowed_mistakes as swallowed

era, live = sys.argv[1], sys.argv[2] == "live"
logging.basicConfig(format="%(message)s")

async def rest():
    tries = None
    while tries != len(swallowed.TRIES):
        tries = len(swallowed.TRIES)
        await asyncio.to_thread(sum, range(100_000))
        for _ in range(200):
            await asyncio.sleep(0)

async def main():
    for tool in swallowed.TOOLS:
        print(f"-- {tool.__name__}", file=sys.stderr, flush=True)
        server = server_with(tool, live=live)
        async with asyncio.timeout(4):  # what is left to cleanup has five seconds: none of that is needed
            done = await run(server, tool.__name__, {}, {"Beside?": "x"}, era=era)
            await rest()
        print(tool.__name__, done.failed, done.text, flush=True)

try:
    asyncio.new_event_loop().run_until_complete(main())
finally:
    sys.stdout.flush()
    os._exit(0)  # nothing ends those tasks
"""


@pytest.mark.timeout(100)
@pytest.mark.parametrize(("era", "mode"), [("2025-11-25", "live"), ("2026-07-28", "live"), ("2026-07-28", "replayed")])
def test_a_tool_that_swallows_everything_after_a_mistake_ends_its_call_with_it(era: Era, mode: str) -> None:
    ran = subprocess.run([sys.executable, "-c", CALLED, era, mode], capture_output=True, text=True, timeout=90)
    assert ran.stdout.splitlines() == [f"{tool.__name__} True {BROKEN}" for tool in TOOLS], ran.stderr
    for said in ran.stderr.split("-- ")[1:]:
        name = said.splitlines()[0]
        assert said.count(f"InvalidQuestion in {name!r}: ") + said.count(f"InvalidForm in {name!r}: ") == 1
