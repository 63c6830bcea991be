"""A state continues once: the same retry joins the first, and other answers are refused."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp import MCPError
from mcp.server.mcpserver import Context
from mcp_types import INVALID_PARAMS, CallToolResult, ElicitResult
from pydantic import BaseModel

import midcall
from midcall.server.running import turn
from midcall.testing import connect
from tests.calling import MEANS, Elicit, Means, Round, asking, begin, finish, proceed, retry, send
from tests.kinds import server_with
from tests.rounds import raw_call, text

ANSWERS = {"a?": "1", "b?": "2"}


class Person(BaseModel):
    name: str
    town: str


REFUSED = "^This request was already continued with other answers"


@pytest.mark.parametrize("means", MEANS)
async def test_the_same_retry_again_gets_the_same_result_and_runs_nothing(means: Means) -> None:
    effects: list[str] = []

    async def pay(elicit: Elicit) -> str:
        answer = await elicit("a?")
        effects.append("paid")
        return f"{answer} {len(effects)}"

    async with connect(asking(means, pay)) as client:
        first = await begin(client, "pay")
        results = [await finish(client, first, ANSWERS) for _ in range(3)]
    assert results == ["1 1"] * 3
    assert effects == ["paid"]


@pytest.mark.parametrize("means", MEANS)
async def test_the_same_retry_at_the_same_time_joins_the_first(means: Means) -> None:
    effects: list[str] = []
    paying, paid = asyncio.Event(), asyncio.Event()

    async def pay(elicit: Elicit) -> str:
        answer = await elicit("a?")
        effects.append("paid")
        paying.set()
        await paid.wait()
        return f"{answer} {len(effects)}"

    async with asyncio.timeout(10), connect(asking(means, pay)) as client:
        first = await begin(client, "pay")
        retries = [asyncio.create_task(finish(client, first, ANSWERS)) for _ in range(3)]
        await paying.wait()
        later = asyncio.create_task(finish(client, first, ANSWERS))
        await client.list_tools()  # all retries have reached the server by now
        paid.set()
        assert await asyncio.gather(*retries, later) == ["1 1"] * 4
    assert effects == ["paid"]


async def test_the_same_retry_of_a_call_that_asks_again_gets_the_same_round() -> None:
    effects: list[str] = []

    async def tool(elicit: Elicit) -> str:
        first = await elicit("a?")
        effects.append("paid")
        return f"{first} {await elicit('b?')}"

    async with connect(asking("mcpserver", tool)) as client:
        first = await begin(client, "tool")
        again = [await proceed(client, first, ANSWERS) for _ in range(2)]
        assert [each.asked for each in again] == [["b?"]] * 2
        assert again[0].requests == again[1].requests
        assert await finish(client, again[0], ANSWERS) == "1 2"
        assert await finish(client, again[1], ANSWERS) == "1 2"
    assert effects == ["paid"]


async def test_a_retry_of_an_earlier_round_still_gets_what_it_got() -> None:
    async def tool(elicit: Elicit) -> str:
        return f"{await elicit('a?')} {await elicit('b?')}"

    async with connect(asking("mcpserver", tool)) as client:
        first = await begin(client, "tool")
        second = await proceed(client, first, ANSWERS)
        assert await finish(client, second, ANSWERS) == "1 2"
        late = await retry(client, first, ANSWERS)
        assert isinstance(late, Round)
        assert late.asked == ["b?"]


@pytest.mark.parametrize("means", MEANS)
async def test_another_answer_to_a_state_that_was_continued_is_refused(means: Means) -> None:
    paid: list[str] = []

    async def pay(elicit: Elicit) -> str:
        paid.append(await elicit("a?"))
        return paid[-1]

    async with connect(asking(means, pay)) as client:
        first = await begin(client, "pay")
        assert await finish(client, first, {"a?": "10"}) == "10"
        with pytest.raises(MCPError, match=REFUSED) as refused:
            await retry(client, first, {"a?": "1000"})
    assert refused.value.error.code == INVALID_PARAMS
    assert paid == ["10"]


async def test_another_answer_while_the_first_is_served_is_refused_and_the_first_continues() -> None:
    paying, go_on = asyncio.Event(), asyncio.Event()

    async def pay(elicit: Elicit) -> str:
        amount = await elicit("a?")
        paying.set()
        await go_on.wait()
        return amount

    async with asyncio.timeout(10), connect(asking("mcpserver", pay)) as client:
        first = await begin(client, "pay")
        served = asyncio.create_task(finish(client, first, {"a?": "10"}))
        await paying.wait()
        with pytest.raises(MCPError, match=REFUSED):
            await retry(client, first, {"a?": "1000"})
        go_on.set()
        assert await served == "10"


async def test_of_two_different_retries_at_the_same_time_one_is_refused() -> None:
    paid: list[str] = []

    async def pay(elicit: Elicit) -> str:
        amount = await elicit("a?")
        await asyncio.sleep(0)
        paid.append(amount)
        return amount

    async with asyncio.timeout(10), connect(asking("mcpserver", pay)) as client:
        first = await begin(client, "pay")
        sent = [finish(client, first, {"a?": amount}) for amount in ("10", "1000")]
        results = await asyncio.gather(*sent, return_exceptions=True)
    [refused] = [each for each in results if isinstance(each, MCPError)]
    assert refused.error.code == INVALID_PARAMS
    assert [each for each in results if each is not refused] == paid


async def test_other_answers_to_an_earlier_round_are_refused_and_the_call_continues() -> None:
    async def tool(elicit: Elicit) -> str:
        return f"{await elicit('a?')} {await elicit('b?')}"

    async with connect(asking("mcpserver", tool)) as client:
        first = await begin(client, "tool")
        second = await proceed(client, first, ANSWERS)
        with pytest.raises(MCPError, match=REFUSED):
            await retry(client, first, {"a?": "another"})
        assert await finish(client, second, ANSWERS) == "1 2"


async def test_a_retry_that_cannot_be_read_does_not_use_up_its_state() -> None:
    async def tool(elicit: Elicit) -> str:
        return await elicit("a?")

    async with connect(asking("mcpserver", tool)) as client:
        first = await begin(client, "tool")
        [key] = first.requests
        with pytest.raises(MCPError):
            await raw_call(client, "tool", {}, state=first.state, answers={key: {"action": "nonsense"}})
        assert await finish(client, first, ANSWERS) == "1"


async def test_a_state_does_not_continue_another_tool_or_other_arguments() -> None:
    runs: list[str] = []

    async def tool(name: str) -> str:
        runs.append(name)
        return f"{name} {await midcall.ask('a?', str)}"

    async def other(name: str) -> str:
        runs.append(f"other {name}")
        return f"other {await midcall.ask('a?', str)}"

    async with connect(server_with(tool, other)) as client:
        first = await begin(client, "tool", {"name": "one"})
        answers = first.responses(ANSWERS)
        for wrong, arguments in (("other", {"name": "one"}), ("tool", {"name": "two"})):
            with pytest.raises(MCPError):
                await send(client, wrong, arguments, responses=answers, state=first.state)
        assert await finish(client, first, ANSWERS) == "one 1"
    assert runs == ["one"]


async def test_fewer_answers_to_a_state_that_was_continued_are_other_answers() -> None:
    async def tool(elicit: Elicit) -> str:
        return await elicit("a?")

    async with connect(asking("mcpserver", tool)) as client:
        first = await begin(client, "tool")
        assert await finish(client, first, ANSWERS) == "1"
        with pytest.raises(MCPError, match=REFUSED):
            await retry(client, first, {})


async def test_a_decline_cannot_become_an_accept() -> None:
    deleted: list[str] = []

    async def delete(elicit: Elicit) -> str:
        if await elicit("Delete it?") == "decline":
            return "kept"
        deleted.append("it")
        return "deleted"

    async with connect(asking("mcpserver", delete)) as client:
        first = await begin(client, "delete")
        assert await finish(client, first, {"Delete it?": ElicitResult(action="decline")}) == "kept"
        with pytest.raises(MCPError, match=REFUSED):
            await retry(client, first, {"Delete it?": "yes"})
    assert deleted == []


async def test_an_error_is_the_result_of_its_retry_however_often_it_is_sent() -> None:
    effects: list[str] = []

    async def fail(elicit: Elicit) -> str:
        await elicit("a?")
        effects.append("tried")
        raise ValueError("out of stock")

    async with connect(asking("mcpserver", fail)) as client:
        first = await begin(client, "fail")
        results = [await retry(client, first, ANSWERS) for _ in range(2)]
    assert all(isinstance(each, CallToolResult) and each.is_error for each in results)
    assert text(results[0]) == text(results[1])  # type: ignore[arg-type]
    assert effects == ["tried"]


async def test_answers_are_the_same_however_their_fields_are_ordered() -> None:
    runs: list[str] = []

    async def tool(ctx: Context) -> str:
        runs.append("run")
        answer: Any = await ctx.elicit("Who?", Person)
        return f"{answer.data.name} {answer.data.town} {len(runs)}"

    async with connect(server_with(tool)) as client:
        first = await begin(client, "tool")
        one, other = {"name": "Ada", "town": "London"}, {"town": "London", "name": "Ada"}
        for content in (one, other):
            answer = ElicitResult(action="accept", content=dict(content))
            assert await finish(client, first, {"Who?": answer}) == "Ada London 1"


async def test_a_retry_gets_its_result_again_only_as_long_as_all_results_together_are_not_too_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else one client could fill the memory with large answers that a tool repeats."""
    monkeypatch.setattr(turn, "OUTCOME_BYTES", 1_000_000)

    async def repeat(elicit: Elicit) -> str:
        return await elicit("a?")

    async with connect(asking("mcpserver", repeat)) as client:
        rounds = [await begin(client, "repeat") for _ in range(3)]
        small, *large = rounds
        assert await finish(client, small, ANSWERS) == "1"
        assert await finish(client, small, ANSWERS) == "1"
        for each in large:
            assert len(await finish(client, each, {"a?": "x" * 700_000})) == 700_000
        assert len(await finish(client, large[-1], {"a?": "x" * 700_000})) == 700_000
        for each, answer in ((small, "1"), (large[0], "x" * 700_000)):
            with pytest.raises(MCPError, match="its result is gone"):
                await retry(client, each, {"a?": answer})


def test_a_result_that_python_cannot_read_back_is_gone() -> None:
    kept = turn.Outcome({"digits": 10**5_000}).pack()
    with pytest.raises(MCPError, match="its result is gone"):
        kept.again()
