"""A decision on a page counts once, for exactly what the page showed, in one continuation of its call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from midcall import approve, ask, complete, secret
from midcall.testing import Era, connect
from tests.portal.sites import Visitor
from tests.server.test_out_of_band import TOKEN, WITH_URLS, Person, fills, installed, presses
from tests.server.test_store import shown

pytestmark = pytest.mark.usefixtures("both_modes")

WITHIN = 60.0


@pytest.fixture(autouse=True)
async def in_time() -> AsyncIterator[None]:
    """A call that hangs fails its test."""
    async with asyncio.timeout(WITHIN):
        yield


def in_turn(*acts: Callable[[Visitor, str], Awaitable[None]]) -> Callable[[Visitor, str], Awaitable[None]]:
    """One person who does something else on each page."""
    left = list(acts)

    async def act(visitor: Visitor, id: str) -> None:
        await left.pop(0)(visitor, id)

    return act


# --- several in one call -----------------------------------------------------------------------


@pytest.mark.parametrize("era", WITH_URLS)
@pytest.mark.parametrize("decisions", ["accept decline", "decline accept", "accept accept"])
async def test_equal_approvals_one_after_the_other_are_two_decisions(era: Era, decisions: str) -> None:
    async def tool() -> str:
        first = await approve("Pay ACME", {"amount": 40})
        second = await approve("Pay ACME", {"amount": 40})
        return f"{first} {second} {await ask('Why?', str)}"

    buttons = decisions.split()
    person = Person(in_turn(*map(presses, buttons)))
    async with installed(tool) as (server, _), connect(server, person, era=era) as client:
        result = shown(await client.call_tool("tool", {}))
    assert result == f"{buttons[0] == 'accept'} {buttons[1] == 'accept'} x"
    assert len({asked.url for asked in person.asked if asked.mode == "url"}) == 2


@pytest.mark.parametrize("era", WITH_URLS)
async def test_equal_approvals_at_the_same_time_are_two_decisions(era: Era) -> None:
    async def tool() -> str:
        both = await asyncio.gather(*(approve("Pay ACME", {"amount": 40}) for _ in range(2)))
        return f"{sorted(both)} {await ask('Why?', str)}"

    person = Person(in_turn(presses("accept"), presses("decline")))
    async with installed(tool) as (server, _), connect(server, person, era=era) as client:
        assert shown(await client.call_tool("tool", {})) == "[False, True] x"
    assert len({asked.url for asked in person.asked if asked.mode == "url"}) == 2


@pytest.mark.parametrize("era", WITH_URLS)
async def test_many_approvals_with_one_message_are_all_asked_for(era: Era) -> None:
    async def tool() -> str:
        return str([await approve("Pay ACME", {"amount": amount}) for amount in (1, 2, 3)])

    person = Person(in_turn(presses("accept"), presses("decline"), presses("accept")))
    async with installed(tool) as (server, _), connect(server, person, era=era) as client:
        assert shown(await client.call_tool("tool", {})) == "[True, False, True]"
    assert len({asked.url for asked in person.asked}) == 3


# --- complete ----------------------------------------------------------------------------------


@pytest.mark.parametrize("era", WITH_URLS)
@pytest.mark.parametrize("button", ["accept", "decline"])
async def test_completing_the_visit_to_an_approval_decides_nothing(era: Era, button: str) -> None:
    async def tool() -> str:
        return str(await approve("Pay ACME", {"amount": 40}))

    async def act(visitor: Visitor, id: str) -> None:
        assert await complete(id) is False
        await presses(button)(visitor, id)
        assert await complete(id) is False

    async with installed(tool) as (server, _), connect(server, Person(act), era=era) as client:
        assert shown(await client.call_tool("tool", {})) == str(button == "accept")


async def test_completing_the_visit_to_a_secret_enters_nothing() -> None:
    async def tool() -> str:
        return str(len(await secret("github", "A token")))

    async def act(visitor: Visitor, id: str) -> None:
        assert await complete(id) is False
        await fills(TOKEN)(visitor, id)

    async with installed(tool) as (server, _), connect(server, Person(act)) as client:
        assert shown(await client.call_tool("tool", {})) == str(len(TOKEN))
