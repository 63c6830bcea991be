"""Context variables: those of the newest request reach the run, and those that the run changed reach the request."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import Any

import pytest
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

import midcall
from midcall import from_thread
from midcall.testing import connect
from tests.calling import MEANS, Elicit, Means, bare_asking, begin, finish, proceed
from tests.kinds import bare_server
from tests.server.running.middleware import chain_of

ANSWERS = {"a?": "1", "b?": "2"}

REQUEST: ContextVar[int] = ContextVar("request")
"""Which request it is, as the author's middleware counts them."""
OWN: ContextVar[str] = ContextVar("own", default="nothing")


class Counting:
    """Middleware of the author: counts requests, and notes what it finds when each has returned."""

    def __init__(self) -> None:
        self.requests = 0
        self.found: list[str] = []

    async def __call__(self, ctx: ServerRequestContext[Any], call_next: CallNext) -> HandlerResult:
        if ctx.method != "tools/call":
            return await call_next(ctx)
        self.requests += 1
        REQUEST.set(self.requests)
        try:
            return await call_next(ctx)
        finally:
            self.found.append(OWN.get())


def counted(server: Any) -> tuple[Any, Counting]:
    counting = Counting()
    chain_of(server).append(counting)
    midcall.install(server)
    return server, counting


@pytest.mark.parametrize("means", MEANS)
async def test_a_variable_that_newer_middleware_set_reaches_the_run(means: Means) -> None:
    async def tool(elicit: Elicit) -> str:
        seen = [REQUEST.get()]
        for name in "ab":
            await elicit(f"{name}?")
            seen.append(REQUEST.get())
        return str(seen)

    async with connect(counted(bare_asking(means, tool))[0]) as client:
        second = await proceed(client, await begin(client, "tool"), ANSWERS)
        assert await finish(client, second, ANSWERS) == "[1, 2, 3]"


@pytest.mark.parametrize("means", MEANS)
async def test_a_variable_that_the_tool_set_stays_as_the_tool_set_it(means: Means) -> None:
    async def tool(elicit: Elicit) -> str:
        REQUEST.set(100)
        await elicit("a?")
        return str(REQUEST.get())

    async with connect(counted(bare_asking(means, tool))[0]) as client:
        assert await finish(client, await begin(client, "tool"), ANSWERS) == "100"


async def test_a_variable_reaches_the_branches_that_ask_and_no_others() -> None:
    answered = asyncio.Event()

    async def tool(elicit: Elicit) -> str:
        async def asks() -> int:
            await elicit("a?")
            answered.set()
            return REQUEST.get()

        async def waits() -> int:
            await answered.wait()
            return REQUEST.get()

        return str(await asyncio.gather(asks(), waits()))

    async with connect(counted(bare_asking("mcpserver", tool))[0]) as client:
        assert await finish(client, await begin(client, "tool"), ANSWERS) == "[2, 1]"


async def test_a_variable_reaches_the_tool_itself_even_if_only_a_branch_of_it_asked() -> None:
    async def tool(elicit: Elicit) -> str:
        async def asks() -> None:
            await elicit("a?")

        before = REQUEST.get()
        async with asyncio.TaskGroup() as group:
            group.create_task(asks())
        return f"{before} {REQUEST.get()}"

    async with connect(counted(bare_asking("mcpserver", tool))[0]) as client:
        assert await finish(client, await begin(client, "tool"), ANSWERS) == "1 2"


async def test_a_thread_keeps_the_variables_of_the_first_request() -> None:
    def tool() -> str:
        before = REQUEST.get()
        from_thread.ask("a?", str)
        return f"{before} {REQUEST.get()}"

    async with connect(counted(bare_server("mcpserver", tool))[0]) as client:
        assert await finish(client, await begin(client, "tool"), ANSWERS) == "1 1"


@pytest.mark.parametrize("means", ["mcpserver", "lowlevel", "ask"])
async def test_a_variable_that_the_run_changed_is_seen_by_the_middleware_of_each_request(means: Means) -> None:
    async def tool(elicit: Elicit) -> str:
        OWN.set("before the question")
        await elicit("a?")
        OWN.set("after the question")
        return "done"

    server, counting = counted(bare_asking(means, tool))
    async with connect(server) as client:
        assert await finish(client, await begin(client, "tool"), ANSWERS) == "done"
    assert counting.found == ["before the question", "after the question"]


async def test_a_variable_that_the_run_changed_is_seen_by_the_middleware_of_a_call_that_never_asks() -> None:
    async def tool(elicit: Elicit) -> str:
        OWN.set("by the tool")
        return "done"

    server, counting = counted(bare_asking("mcpserver", tool))
    async with connect(server) as client:
        assert not (await client.call_tool("tool", {})).is_error
    assert counting.found == ["by the tool"]


async def test_a_variable_that_a_failing_run_changed_is_seen_too() -> None:
    async def tool(elicit: Elicit) -> str:
        await elicit("a?")
        OWN.set("before it failed")
        raise ValueError("out of stock")

    server, counting = counted(bare_asking("lowlevel", tool))
    async with connect(server) as client:
        first = await begin(client, "tool")
        with pytest.raises(Exception, match=r"."):
            await finish(client, first, ANSWERS)
    assert counting.found[-1] == "before it failed"


async def test_variables_of_one_call_do_not_reach_another() -> None:
    async def tool(elicit: Elicit) -> str:
        before = OWN.get()
        OWN.set(before + "!")
        await elicit("a?")
        return OWN.get()

    async with connect(counted(bare_asking("mcpserver", tool))[0]) as client:
        firsts = [await begin(client, "tool") for _ in range(3)]
        assert [await finish(client, each, ANSWERS) for each in firsts] == ["nothing!"] * 3
