"""A server may ask a person 30 questions a minute, unless the host says otherwise."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from midcall.client import Answerer, Guard, Headless, Lines, Pending, Rate, Script, Terminal, attach, callback, connect
from midcall.client.browser import views
from midcall.client.lines.keyboard import Keyboard
from midcall.client.lines.screen import Ink
from midcall.settings.client import RATE_QUESTIONS
from tests.client.browser.test_site import Visitor, let_in
from tests.client.browsing import desk
from tests.peer import COMMAND, OLD, play
from tests.peer_server import NEW
from tests.terminals import Desk, Hands, form

ASKS: dict[str, Any] = {"message": "Agree?", "requestedSchema": {"type": "object", "properties": {}}}
TOLD = "Peer asks too often: its questions are cancelled until it slows down."
MORE = 8

Connect = Callable[[Answerer, str], Any]


async def flood(client: Client) -> list[str]:
    """How the questions of a call end that asks more than a server may."""
    if client.protocol_version == OLD:
        seen = await play(client, *[{"push": ASKS}] * (RATE_QUESTIONS + MORE))
        return [answer["result"]["action"] for answer in seen["answers"]]
    rounds = [
        {
            "result": {
                "resultType": "input_required",
                "requestState": str(number),
                "inputRequests": {"q": {"method": "elicitation/create", "params": ASKS}},
            }
        }
        for number in range(RATE_QUESTIONS + MORE)
    ]
    calls = (await play(client, *rounds))["calls"]
    return [call["inputResponses"]["q"]["action"] for call in calls[1:]]


def is_limited(actions: list[str]) -> bool:
    """A few more may pass, while a slow machine takes its time."""
    return set(actions[:RATE_QUESTIONS]) == {"accept"} and "cancel" in actions and "decline" not in actions


def yes_sayer(shown: list[str]) -> Lines:
    return Lines(keyboard=Keyboard(lambda *_: "yes\n"), write=shown.append, ink=Ink(False), width=200)


@asynccontextmanager
async def by_connect(answerer: Answerer, era: Any) -> AsyncIterator[Client]:
    async with connect(COMMAND, answerer, era=era) as client:
        yield client


@asynccontextmanager
async def by_attach(answerer: Answerer, era: Any) -> AsyncIterator[Client]:
    target = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:])
    async with attach(Client(target, mode="auto" if era == NEW else "legacy"), answerer) as client:
        yield client


@asynccontextmanager
async def by_callback(answerer: Answerer, era: Any) -> AsyncIterator[Client]:
    target = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:])
    mode = "auto" if era == NEW else "legacy"
    async with Client(target, mode=mode, elicitation_callback=callback(answerer)) as client:
        yield client


WAYS = [(by_connect, OLD), (by_connect, NEW), (by_attach, OLD), (by_callback, OLD)]
"""The SDK's client stops after ten rounds, so it can't be flooded with them."""


@pytest.mark.parametrize(("way", "era"), WAYS)
async def test_line_prompts_are_limited_and_the_user_sees_why(way: Connect, era: str) -> None:
    shown: list[str] = []
    async with asyncio.timeout(60), way(yes_sayer(shown), era) as client:
        assert is_limited(await flood(client))
    assert "".join(shown).count(TOLD) == 1


async def test_so_is_the_terminal() -> None:
    shown: list[str] = []
    terminal = Terminal(place=lambda: "lines", lines=yes_sayer(shown))
    async with asyncio.timeout(60), connect(COMMAND, terminal, era=OLD) as client:
        assert is_limited(await flood(client))
    assert TOLD in "".join(shown)


async def test_the_terminal_says_it_when_the_form_is_gone() -> None:
    async def person(hands: Hands) -> None:
        at.terminal.tell(TOLD)
        assert at.left == []
        await hands.press("ctrl+s")

    at = Desk(person)
    await at.answer(form(message="Agree?", id="1"))
    assert any(TOLD in line for line in at.left)


async def answer(pending: Pending, visitor: Visitor) -> None:
    async for asked in pending:
        await visitor.press(asked.id, "send")


async def test_the_browser_is_limited_and_its_page_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "PAGE_CONFIRM_SECONDS", 0)  # this user clicks faster than people
    async with desk() as at, asyncio.timeout(60), connect(COMMAND, at.browser, era=OLD) as client:
        call = asyncio.create_task(flood(client))
        async with let_in(at) as visitor:
            assert at.browser._session is not None
            answering = asyncio.create_task(answer(at.browser._session.board.pending, visitor))
            assert is_limited(await call)
            answering.cancel()
            assert TOLD in await visitor.see()
    assert TOLD in at.told


async def test_pending_questions_are_limited_and_the_host_can_show_why() -> None:
    told: list[str] = []
    pending = Pending(tell=told.append)

    async def accept() -> None:
        async for asked in pending:
            pending.accept(asked.id)

    task = asyncio.create_task(accept())
    async with asyncio.timeout(60), connect(COMMAND, pending) as client:
        assert is_limited(await flood(client))
    task.cancel()
    assert told == [TOLD]


async def test_without_a_function_to_tell_it_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    Pending().tell(TOLD)
    assert TOLD in caplog.text


@pytest.mark.parametrize("answerer", [Script(lambda asked: {}), Headless("decline")])
async def test_scripts_and_policies_are_not_limited(answerer: Answerer) -> None:
    async with asyncio.timeout(60), connect(COMMAND, answerer, era=OLD) as client:
        assert "cancel" not in await flood(client)


@pytest.mark.parametrize("rate", [None, Rate(1000)])
async def test_a_guard_of_the_hosts_own_replaces_the_limit(rate: Rate | None) -> None:
    shown: list[str] = []
    async with asyncio.timeout(60), connect(COMMAND, Guard(yes_sayer(shown), rate=rate), era=OLD) as client:
        assert set(await flood(client)) == {"accept"}
