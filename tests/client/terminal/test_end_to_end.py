"""Forms in the terminal, asked by real servers through the SDK's client."""

from __future__ import annotations

from typing import Literal

import pytest
from mcp.server import MCPServer
from pydantic import BaseModel, Field

import midcall
from midcall import Question, ask, ask_all, visit
from midcall.testing import ERAS
from tests.client.answerers import result_of
from tests.terminals import Desk, Hands


class Guest(BaseModel):
    name: str = Field(min_length=2)
    vip: bool
    room: Literal["single", "double"] = "double"
    wishes: str | None = None


def hotel() -> MCPServer:
    mcp = MCPServer("hotel", title="Grand Hotel", version="2.0")
    midcall.install(mcp)

    @mcp.tool()
    async def check_in() -> str:
        guest = await ask("Who stays?", Guest)
        return repr(guest)

    @mcp.tool()
    async def both() -> str:
        name, nights = await ask_all(Question("Your name?", str), Question("How many nights?", int))
        return f"{name}, {nights}"

    @mcp.tool()
    async def pay() -> str:
        await visit("Pay here", "https://pay.example.com/1")
        return "paid"

    return mcp


async def call(desk: Desk, tool: str, era: str) -> str:
    result = await result_of(hotel(), desk.terminal, tool, era)
    for failure in desk.hall.failures:
        raise failure
    return result


@pytest.mark.parametrize("era", ERAS)
async def test_a_form_is_asked_filled_and_read_on_every_version(era: str) -> None:
    async def person(hands: Hands) -> None:
        assert f"Grand Hotel asks  version 2.0 · MCP {era}" in hands.screen
        await hands.type("Ada")
        await hands.press("enter", "y", "ctrl+s")

    assert await call(Desk(person), "check_in", era) == repr(Guest(name="Ada", vip=True))


@pytest.mark.parametrize(("key", "said"), [("ctrl+d", "declined"), ("ctrl+c", "dismissed the question")])
@pytest.mark.parametrize("era", ERAS[1:])
async def test_decline_and_cancel_reach_the_tool_as_two_things(era: str, key: str, said: str) -> None:
    async def person(hands: Hands) -> None:
        await hands.press(key)

    assert said in await call(Desk(person), "check_in", era)


async def test_a_round_is_one_flow() -> None:
    async def person(hands: Hands) -> None:
        await hands.type("Ada")
        await hands.press("ctrl+s", "3", "ctrl+s")
        assert "Your answers to 2 questions" in hands.screen
        await hands.press("ctrl+s")

    assert await call(Desk(person), "both", "2026-07-28") == "Ada, 3"


async def test_pushed_questions_come_one_after_the_other() -> None:
    async def first(hands: Hands) -> None:
        await hands.type("Ada")
        await hands.press("ctrl+s")

    async def second(hands: Hands) -> None:
        await hands.press("3", "ctrl+s")

    assert await call(Desk(first, second), "both", "2025-11-25") == "Ada, 3"


@pytest.mark.parametrize("era", ERAS[1:])
async def test_a_visit_is_agreed_to_on_every_version_that_has_it(era: str) -> None:
    async def person(hands: Hands) -> None:
        assert "Grand Hotel asks you to open a web page" in hands.screen
        await hands.press("ctrl+s")

    desk = Desk(person)
    assert await call(desk, "pay", era) == "paid"
    assert desk.opened == ["https://pay.example.com/1"]
