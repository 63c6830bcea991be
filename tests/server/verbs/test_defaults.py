"""Defaults: what is taken where nobody can be asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from enum import IntEnum
from typing import Annotated, Any, Literal, TypedDict

import pytest
from pydantic import BaseModel, BeforeValidator, Field

import midcall
from midcall import (
    Choices,
    Form,
    Question,
    Text,
    ask,
    choose,
    elicit,
)
from midcall.errors import InvalidQuestion
from midcall.testing import connect, run
from tests.kinds import server_with
from tests.rounds import accept, raw_call, text
from tests.server.verbs.test_asking import Trip
from tests.server.verbs.test_choosing import Size


class Rank(IntEnum):
    FIRST = 1
    SECOND = 2


@dataclass
class Stay:
    since: date


class Dated(BaseModel):
    since: date


class Pair(TypedDict):
    first: int
    second: int


async def test_a_default_is_taken_if_nobody_can_be_asked() -> None:
    async def days() -> str:
        outcome = await elicit("Days?", int, default=7)
        return f"{outcome.value if outcome else None} via {outcome.via}"

    assert (await run(server_with(days), "days", era="2025-11-25", modes=())).text == "7 via default"
    assert (await run(server_with(days), "days", {}, [2])).text == "2 via round"


async def test_a_default_that_was_taken_is_recorded_and_takes_no_answer_later() -> None:
    async def tool() -> str:
        days = await elicit("Days?", int, default=7, key="days", timeout=30)
        await midcall.visit("Go", "https://example.com/x")
        return f"{days}"

    async with connect(server_with(tool), modes=("url",)) as client:
        first = await raw_call(client, "tool", {})
        [key] = first["inputRequests"]
        answers = {key: {"action": "accept"}, "days": accept(answer=99)}
        done = await raw_call(client, "tool", {}, state=first["requestState"], answers=answers)
    assert text(done) == "Accepted(value=7, via='default')"


@pytest.mark.parametrize(
    "make",
    [
        lambda: Question("?", int, default="seven"),  # pyright: ignore[reportArgumentType]
        lambda: Question("?", Annotated[int, Field(ge=18)], default=3),
        lambda: Question("?", Form(Text("a")), default={"b": 1}),
        lambda: Question("?", Literal[1, 2], default="3"),  # pyright: ignore[reportArgumentType]
        lambda: Question("?", list[Literal["Oslo"]], default=["Paris"]),  # pyright: ignore[reportArgumentType]
        lambda: Question("?", int, default=[]),  # pyright: ignore[reportArgumentType]
        lambda: Question("?", int, default=None),  # pyright: ignore[reportArgumentType]
        lambda: Question("?", date, default=3.5),  # pyright: ignore[reportArgumentType]
        lambda: Question("?", Trip, default=date(2026, 1, 1)),  # pyright: ignore[reportArgumentType]
        lambda: Question("?", Trip, default=object()),  # pyright: ignore[reportArgumentType]
        lambda: Question("?", Dated, default={"since": date(2026, 1, 1)}),  # pyright: ignore[reportArgumentType]
        lambda: Question("?", Pair, default={}),  # pyright: ignore[reportArgumentType]
        lambda: Question("?", Annotated[str, BeforeValidator(str.strip)], default=5),  # pyright: ignore[reportArgumentType]
    ],
)
def test_a_default_that_the_form_would_not_take_is_refused(make: Callable[[], Any]) -> None:
    with pytest.raises(InvalidQuestion, match="default="):
        make()


@pytest.mark.parametrize(
    ("type", "default", "taken"),
    [
        (Literal[1, 2], 1, 1),
        (Literal[1, 2], "1", 1),
        (date, date(2026, 1, 1), date(2026, 1, 1)),
        (date, "2026-01-01", date(2026, 1, 1)),
        (datetime, datetime(2026, 1, 1), datetime(2026, 1, 1)),
        (Size, Size.SMALL, Size.SMALL),
        (Size, "s", Size.SMALL),
        (Rank, Rank.FIRST, Rank.FIRST),
        (int | None, None, None),
        (float, 3, 3.0),
        (list[Literal["Oslo", "Rome"]], ["Rome"], ["Rome"]),
        (Stay, Stay(date(2026, 1, 1)), Stay(date(2026, 1, 1))),
        (Stay, {"since": "2026-01-01"}, Stay(date(2026, 1, 1))),
        (Form(Text("a"), Text("b", default="y")), {"a": "x"}, {"a": "x", "b": "y"}),
    ],
)
async def test_a_default_is_a_value_of_the_type_or_what_a_user_could_answer(
    type: Any, default: Any, taken: object
) -> None:
    seen: list[object] = []

    async def tool() -> None:
        question = Question("?", type, default=default)
        seen.extend([await ask(question), await ask(question)])

    assert not (await run(server_with(tool), "tool", modes=())).failed
    assert seen == [taken, taken]
    assert [each.__class__ for each in seen] == [taken.__class__] * 2


class Towns(TypedDict):
    towns: list[Literal["Oslo", "Rome"]]


@pytest.mark.parametrize(
    "question",
    [
        Question("?", list[Literal["Oslo", "Rome"]], default=["Oslo"]),
        Question("?", Towns, default={"towns": ["Oslo"]}),
        Question("?", Form(Choices("towns", ["Oslo", "Rome"])), default={"towns": ["Oslo"]}),
    ],
)
async def test_what_a_tool_does_to_a_default_it_does_not_do_to_the_next_one(question: Question[Any]) -> None:
    async def tool() -> str:
        taken = await ask(question)
        towns = taken if isinstance(taken, list) else taken["towns"]
        towns.append("Rome")
        return ", ".join(towns)

    for _ in range(2):
        assert (await run(server_with(tool), "tool", modes=())).text == "Oslo, Rome"


async def test_a_default_choice_must_be_one_of_the_options() -> None:
    async def tool(default: str) -> str:
        return await choose("Seat?", ["a", "b"], default=default)

    server = server_with(tool)
    assert (await run(server, "tool", {"default": "b"}, era="2025-11-25", modes=())).text == "b"
    assert (await run(server, "tool", {"default": "z"}, era="2025-11-25", modes=())).failed
