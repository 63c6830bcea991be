"""Rounds that an author wrote by hand keep their answers and their state, alone and beside questions."""

from __future__ import annotations

from typing import Any

import pytest
from mcp.server.mcpserver import Context
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult

from midcall.testing import connect
from tests.calling import WORD, Word, begin, finish, proceed
from tests.kinds import server_with

ANSWERS = {"a?": "1", "b?": "2", "By hand?": "3", "Again?": "4"}
RUNS: list[str] = []


@pytest.fixture(autouse=True)
def fresh() -> None:
    RUNS.clear()


def by_hand(key: str, message: str, state: str | None) -> InputRequiredResult:
    request = ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=WORD))
    return InputRequiredResult(input_requests={key: request}, request_state=state)


def said(ctx: Context, key: str) -> str | None:
    response = (ctx.input_responses or {}).get(key)
    return str((response.content or {})["word"]) if isinstance(response, ElicitResult) else None


async def elicited(ctx: Context, message: str) -> str:
    answer: Any = await ctx.elicit(message, Word)
    return answer.data.word


async def alone(ctx: Context) -> str | InputRequiredResult:
    RUNS.append("run")
    if ctx.request_state is None:
        return by_hand("mine", "By hand?", "page 1")
    if ctx.request_state == "page 1":
        return by_hand("more", "Again?", f"page 2 {said(ctx, 'mine')}")
    return f"{ctx.request_state} {said(ctx, 'more')}"


async def asks_then_by_hand(ctx: Context) -> str | InputRequiredResult:
    RUNS.append("run")
    if ctx.request_state is None:
        first = await elicited(ctx, "a?")
        second = await elicited(ctx, "b?")
        return by_hand("mine", "By hand?", f"{first} {second}")
    return f"{ctx.request_state} {said(ctx, 'mine')}"


async def by_hand_then_asks(ctx: Context) -> str | InputRequiredResult:
    RUNS.append("run")
    if ctx.request_state is None:
        return by_hand("mine", "By hand?", "page 1")
    first = await elicited(ctx, "a?")
    second = await elicited(ctx, "b?")
    return f"{first} {second} {ctx.request_state} {said(ctx, 'mine')}"


async def asks_on_both_sides(ctx: Context) -> str | InputRequiredResult:
    RUNS.append("run")
    if ctx.request_state is None:
        return by_hand("mine", "By hand?", await elicited(ctx, "a?"))
    return f"{ctx.request_state} {said(ctx, 'mine')} {await elicited(ctx, 'b?')}"


CASES: list[tuple[Any, list[str], str, int]] = [
    (alone, ["By hand?", "Again?"], "page 2 3 4", 3),
    (asks_then_by_hand, ["a?", "b?", "By hand?"], "1 2 3", 2),
    (by_hand_then_asks, ["By hand?", "a?", "b?"], "1 2 page 1 3", 2),
    (asks_on_both_sides, ["a?", "By hand?", "b?"], "1 3 2", 2),
]


@pytest.mark.parametrize(("tool", "asked", "expected", "runs"), CASES, ids=lambda value: getattr(value, "__name__", ""))
async def test_rounds_by_hand_keep_their_answers_and_state_and_questions_beside_them_wait_in_their_run(
    tool: Any, asked: list[str], expected: str, runs: int
) -> None:
    async with connect(server_with(tool)) as client:
        round = await begin(client, tool.__name__)
        seen = round.asked
        while len(seen) < len(asked):
            round = await proceed(client, round, ANSWERS)
            seen = [*seen, *round.asked]
        assert await finish(client, round, ANSWERS) == expected
    assert seen == asked
    assert len(RUNS) == runs  # one for each round by hand, and none for a question


async def test_the_authors_own_state_is_there_for_the_whole_run() -> None:
    async def tool(ctx: Context) -> str | InputRequiredResult:
        if ctx.request_state is None:
            return by_hand("mine", "By hand?", "page 1")
        seen = [(ctx.request_state, said(ctx, "mine"))]
        for message in ("a?", "b?"):
            await elicited(ctx, message)
            seen.append((ctx.request_state, said(ctx, "mine")))
        return str(len(set(seen)))

    async with connect(server_with(tool)) as client:
        second = await proceed(client, await begin(client, "tool"), ANSWERS)
        third = await proceed(client, second, ANSWERS)
        assert await finish(client, third, ANSWERS) == "1"


async def test_an_answer_to_the_authors_own_round_does_not_answer_a_question_of_midcall() -> None:
    """The author's key is the one that our question would have had."""

    async def asks(ctx: Context) -> str:
        return await elicited(ctx, "a?")

    async with connect(server_with(asks)) as client:
        [key] = (await begin(client, "asks")).requests

    async def tool(ctx: Context) -> str | InputRequiredResult:
        if ctx.request_state is None:
            return by_hand(key, "By hand?", "page 1")
        return f"{await elicited(ctx, 'a?')} {said(ctx, key)}"

    async with connect(server_with(tool)) as client:
        second = await proceed(client, await begin(client, "tool"), ANSWERS)
        assert second.asked == ["a?"]
        assert await finish(client, second, ANSWERS) == "1 3"
