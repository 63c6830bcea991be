"""Resume codes of hosts with Apps: waiting uses none up, and one link leads through all questions."""

from __future__ import annotations

import asyncio
import re
import time

import pytest

from midcall import ask
from midcall.server.channels.apps import channel
from midcall.server.resuming import visits
from midcall.stores.memory import Memory
from midcall.testing import ERAS, Era
from tests.kinds import server_with
from tests.server.channels.test_apps import book, two
from tests.server.channels.test_one_page import Trip, browser, links
from tests.server.codes import KEYS, code_of, go_on, shown
from tests.server.frames import Frame, host
from tests.server.people import installed

each_era = pytest.mark.parametrize("era", ERAS)


@pytest.fixture(autouse=True)
def with_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host shows Apps only with the result, or never. Nobody is waited for too long."""
    monkeypatch.setattr(channel, "APP_SECONDS", 0.02)
    monkeypatch.setattr(visits, "HOLD_SECONDS", 20.0)
    monkeypatch.setattr(visits, "BRIEF_HOLD_SECONDS", 20.0)
    monkeypatch.setenv("MIDCALL_PORTAL_PAUSE", "0")  # tests click faster than people


@each_era
async def test_three_questions_are_one_link_for_a_host_that_declares_apps_and_shows_none(era: Era) -> None:
    trip = Trip()
    async with installed(trip.book) as (server, _), host(server, era=era) as client, browser() as tab:
        first = await client.call_tool("book", {"city": "Oslo"})
        [link] = links(first)
        await tab.show(link)
        for asked, answer in (("How many days?", 3), ("Which seat?", "w"), ("Really?", "yes")):
            assert tab.message == asked
            await tab.send(answer=answer)
        assert tab.heading == "You are done here"
        for _ in range(2):
            assert shown(await go_on(client, first)) == "Oslo: 3 days, seat w"
    assert (trip.runs, trip.paid) == (1, ["Oslo"])


@each_era
async def test_questions_that_are_asked_together_are_one_link_too(era: Era) -> None:
    from midcall import Question, ask_all

    async def both() -> str:
        return str(await ask_all(Question("One?", int), Question("Two?", int)))

    async with installed(both) as (server, _), host(server, era=era) as client, browser() as tab:
        first = await client.call_tool("both", {})
        assert "- Two?" in shown(first)
        [link] = links(first)
        await tab.show(link)
        await tab.send(answer=1)
        assert tab.message == "Two?"
        await tab.send(answer=2)
        assert shown(await go_on(client, first)) == "(1, 2)"


@each_era
@pytest.mark.parametrize("portal", [True, False], ids=["portal", "alone"])
async def test_without_a_progress_token_the_code_is_held_briefly_and_still_works(
    era: Era, portal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visits, "BRIEF_HOLD_SECONDS", 0.2)
    async with asyncio.timeout(15):  # less than HOLD_SECONDS
        server = server_with(book, store=Memory(), keys=KEYS)
        if portal:
            from midcall.portal import Portal

            server = server_with(book, store=Memory(), keys=KEYS, portal=Portal())
        async with host(server, era=era) as client:
            first = await client.call_tool("book", {})
            await Frame(client, "first").result(first)
            early = first
            for _ in range(2):
                begun = time.monotonic()
                early = await go_on(client, first)
                assert time.monotonic() - begun >= 0.2
                assert "The user has not filled in the form yet." in shown(early)
                assert code_of(early) == code_of(first)
                assert re.findall(r"http\S+", shown(early)) == re.findall(r"http\S+", shown(first))
            frame = Frame(client)
            assert (await frame.result(early))["state"] == "asking", "the App may be shown with this result"
            await frame.answers("Oslo", 3)
            for _ in range(2):
                assert shown(await go_on(client, first)) == "Oslo 3 app"


@each_era
async def test_a_client_that_gives_up_waiting_loses_nothing(era: Era) -> None:
    async with host(server_with(book, store=Memory()), era=era) as client:
        first = await client.call_tool("book", {})
        frame = Frame(client)
        await frame.result(first)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await go_on(client, first)
        held = [asyncio.create_task(go_on(client, first)) for _ in range(2)]
        await asyncio.wait(held, timeout=0.1)
        await frame.answers("Oslo", 3)
        assert [shown(await each) for each in held] == ["Oslo 3 app"] * 2


@each_era
async def test_a_form_that_nobody_can_see_yet_comes_with_the_next_result_at_once(era: Era) -> None:
    async with asyncio.timeout(15), host(server_with(book, store=Memory()), era=era) as client:
        first = await client.call_tool("book", {})
        early = await go_on(client, first)
        assert "The user has not filled in the form yet." in shown(early)
        frame = Frame(client)
        assert (await frame.result(early))["state"] == "asking"
        await frame.answers("Oslo", 3)
        assert shown(await go_on(client, first)) == "Oslo 3 app"


@each_era
async def test_the_result_with_the_next_form_isnt_held_back_if_nobody_can_see_that_yet(era: Era) -> None:
    async with asyncio.timeout(15), host(server_with(two, store=Memory()), era=era) as client:
        first = await client.call_tool("two", {})
        frame = Frame(client)
        await frame.result(first)
        await frame.answers(7)
        second = await go_on(client, first)
        assert "Second?" in shown(second)
        other = Frame(client, "other")
        await other.result(second)
        await other.answers("x")
        assert shown(await go_on(client, second)) == "7 x"


async def test_the_next_question_comes_to_a_frame_that_stays_while_the_code_is_held() -> None:
    async with asyncio.timeout(15), host(server_with(two, store=Memory())) as client:
        first = await client.call_tool("two", {})
        frame = Frame(client)
        await frame.result(first)
        held = asyncio.create_task(go_on(client, first))
        await frame.answers(7)
        assert "Second?" in (await frame.looks_on())["html"]
        await frame.answers("x")
        result = await held
        if "NOT FINISHED" in shown(result):
            result = await go_on(client, first)
        assert shown(result) == "7 x"


async def test_a_question_that_expires_ends_the_wait() -> None:
    async def tool() -> str:
        return await ask("Name?", str, timeout=0.3)

    async with asyncio.timeout(15), host(server_with(tool, store=Memory())) as client:
        first = await client.call_tool("tool", {})
        await Frame(client).result(first)
        assert "in time" in shown(await go_on(client, first))
