"""Clients give up after nine rounds. A call that asks more often resumes with a code that names its live run."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp_types import CallToolResult

from midcall.stores.memory import Memory
from midcall.testing import Script, connect
from tests.calling import MEANS, Elicit, Means, Round, asking, begin, finish, proceed, retry, send
from tests.rounds import raw_call, text
from tests.server.codes import code_of

ROUNDS = 9
QUESTIONS = 12


class Interview:
    """A tool that asks twelve questions, one after the other."""

    def __init__(self) -> None:
        self.runs = 0
        self.ended = asyncio.Event()

    async def tool(self, elicit: Elicit) -> str:
        self.runs += 1
        try:
            return " ".join([await elicit(f"{n}?") for n in range(QUESTIONS)])
        finally:
            self.ended.set()


ANSWERS = {f"{n}?": str(n) for n in range(QUESTIONS)}
ALL = " ".join(ANSWERS.values())


@pytest.mark.parametrize("means", MEANS)
async def test_the_tenth_question_ends_the_request_with_a_code_and_the_same_run_continues(means: Means) -> None:
    interview = Interview()

    async def ask_much(elicit: Elicit) -> str:
        return await interview.tool(elicit)

    async with connect(asking(means, ask_much)) as client:
        round = await begin(client, "ask_much")
        for _ in range(ROUNDS - 1):
            round = await proceed(client, round, ANSWERS)
        assert round.asked == ["8?"]
        ended = await retry(client, round, ANSWERS)
        assert isinstance(ended, CallToolResult)
        assert ended.is_error
        assert "midcall_continue" in text(ended)
        tenth = await send(client, "midcall_continue", {"code": code_of(ended)})
        assert isinstance(tenth, Round)
        assert tenth.asked == ["9?"]
        eleventh = await proceed(client, tenth, ANSWERS)
        twelfth = await proceed(client, eleventh, ANSWERS)
        assert await finish(client, twelfth, ANSWERS) == ALL
    assert interview.runs == 1


async def test_a_stock_client_never_sees_more_rounds_than_it_takes() -> None:
    interview = Interview()

    async def ask_much(elicit: Elicit) -> str:
        return await interview.tool(elicit)

    async with connect(asking("mcpserver", ask_much), Script(ANSWERS), max_rounds=ROUNDS) as client:
        ended = await client.call_tool("ask_much", {})
        assert ended.is_error
        done = await client.call_tool("midcall_continue", {"code": code_of(ended)})
        assert (text(done), bool(done.is_error)) == (ALL, False)
    assert interview.runs == 1


async def test_the_tool_that_takes_the_code_is_listed() -> None:
    async def ask_much(elicit: Elicit) -> str:
        return await Interview().tool(elicit)

    async with connect(asking("mcpserver", ask_much), Script(ANSWERS)) as client:
        await client.call_tool("ask_much", {})
        assert "midcall_continue" in [tool.name for tool in (await client.list_tools()).tools]


async def test_a_code_lives_as_long_as_its_run() -> None:
    interview = Interview()

    async def ask_much(elicit: Elicit) -> str:
        return await interview.tool(elicit)

    async def other(elicit: Elicit) -> str:
        return await elicit("0?")

    async with asyncio.timeout(20), connect(asking("mcpserver", ask_much, other, max_live=1), ANSWERS) as client:
        ended = await client.call_tool("ask_much", {})
        await begin(client, "other")
        await interview.ended.wait()
        gone = await client.call_tool("midcall_continue", {"code": code_of(ended)})
    assert gone.is_error
    assert "midcall/code" not in (gone.meta or {})
    assert interview.runs == 1


async def test_a_code_continues_once() -> None:
    interview = Interview()

    async def ask_much(elicit: Elicit) -> str:
        return await interview.tool(elicit)

    async with connect(asking("mcpserver", ask_much), ANSWERS) as client:
        ended = await client.call_tool("ask_much", {})
        done = await client.call_tool("midcall_continue", {"code": code_of(ended)})
        assert text(done) == ALL
        again = await client.call_tool("midcall_continue", {"code": code_of(ended)})
        assert (text(again), bool(again.is_error)) == (ALL, False)
    assert interview.runs == 1


@pytest.mark.parametrize("code", ["made-up-by-somebody", "", "\ud800", "\0", "x" * 100_000])
@pytest.mark.parametrize("options", [{}, {"store": Memory()}])
async def test_a_code_that_nobody_gave_out_is_refused(code: str, options: dict[str, Any]) -> None:
    async def ask_much(elicit: Elicit) -> str:
        return await Interview().tool(elicit)

    async with connect(asking("mcpserver", ask_much, **options), ANSWERS) as client:
        await client.call_tool("ask_much", {})
        refused = await raw_call(client, "midcall_continue", {"code": code})
        assert refused["isError"]
        assert "This code does not work" in text(refused)


async def test_a_code_is_for_the_user_whose_call_it_is() -> None:
    interview = Interview()

    def caller(ctx: Any) -> str:
        return str((ctx.params or {}).get("_meta", {}).get("example.com/user"))

    async def ask_much(elicit: Elicit) -> str:
        return await interview.tool(elicit)

    mine: Any = {"meta": {"example.com/user": "me"}}
    others: Any = {"meta": {"example.com/user": "somebody else"}}
    async with connect(asking("mcpserver", ask_much, max_rounds=1, principal=caller)) as client:
        ended = await retry(client, await begin(client, "ask_much", **mine), ANSWERS, **mine)
        assert isinstance(ended, CallToolResult)
        code = {"code": code_of(ended)}
        refused = await send(client, "midcall_continue", code, **others)
        assert isinstance(refused, CallToolResult)
        assert refused.is_error
        resumed = await send(client, "midcall_continue", code, **mine)
        assert isinstance(resumed, Round)
        assert resumed.asked == ["1?"]
