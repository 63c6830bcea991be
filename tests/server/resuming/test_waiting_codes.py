"""Waiting uses no resume code up, with a store and without, whoever's page it is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client
from mcp_types import CallToolResult, ElicitResult

from midcall import UrlElicitationRequired, Visit, complete, visit
from midcall.portal import Portal
from midcall.server.resuming import visits
from midcall.stores.memory import Memory
from midcall.testing import ERAS, Era, connect
from tests.kinds import server_with
from tests.server.codes import code_of, go_on, shown

PLACE = "https://files.example.com/connect/"
KEYS = ["waiting codes: 0123456789abcdef0123"]


class Files:
    """Tools that need their user on a page of the author's."""

    def __init__(self) -> None:
        self.connected = False
        self.sent: list[str] = []

    def place(self, id: str) -> str:
        self.sent.append(id)
        return f"{PLACE}{id}"

    async def waits(self) -> str:
        """Waits inside."""
        await visit("Connect your files.", self.place, wait=True)
        return "a.txt"

    async def requires(self) -> str:
        """Finds out for itself whether its user is done."""
        if not self.connected:
            raise UrlElicitationRequired([Visit("Connect your files.", self.place)])
        return "a.txt"

    async def connect(self) -> None:
        self.connected = True
        assert await complete(self.sent[0])


HOW = ["url-no store", "url-store", "link-store"]


@pytest.fixture(params=HOW)
def how(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(visits, "HOLD_SECONDS", 0.02)
    monkeypatch.setattr(visits, "PUSH_HOLD_SECONDS", 0.02)
    return request.param


@asynccontextmanager
async def begun(
    tool: str, how: str, monkeypatch: pytest.MonkeyPatch, era: Era = "2026-07-28", hold: float = 20.0
) -> AsyncGenerator[tuple[Files, Client, CallToolResult]]:
    """A call that has returned its first code. A request with a code is held for so long from then on."""
    files, options = Files(), dict[str, Any]()
    if "no store" not in how:
        options["store"] = Memory()
    if "link" in how:
        options["portal"] = Portal()
    server = server_with(files.waits, files.requires, keys=KEYS if options else None, heartbeat=0.05, **options)
    modes: Any = ["url"] if "url" in how else []
    async with connect(server, lambda asked: ElicitResult(action="accept"), era=era, modes=modes) as client:
        first = await client.call_tool(tool, {})
        monkeypatch.setattr(visits, "HOLD_SECONDS", hold)
        monkeypatch.setattr(visits, "BRIEF_HOLD_SECONDS", hold)
        async with asyncio.timeout(30):
            yield files, client, first


def each_way(test: Any) -> Any:
    ways = [("waits", era) for era in ERAS[1:]] + [("requires", "2026-07-28")]
    return pytest.mark.parametrize(("tool", "era"), ways)(test)


@each_way
async def test_the_code_still_works_after_it_has_waited_in_vain(
    tool: str, era: Era, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with begun(tool, how, monkeypatch, era, hold=0.02) as (files, client, first):
        for _ in range(3):
            early = await go_on(client, first)
            assert "not finished on the web page yet" in shown(early)
            assert f"{PLACE}{files.sent[0]}" in shown(early)
        await files.connect()
        assert shown(await go_on(client, first)) == "a.txt"
        assert shown(await go_on(client, first)) == "a.txt"


@each_way
async def test_a_request_with_the_code_is_held_until_the_user_is_done(
    tool: str, era: Era, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with begun(tool, how, monkeypatch, era, hold=0.3) as (files, client, first):
        at = time.monotonic()
        early = await go_on(client, first)
        assert time.monotonic() - at >= 0.3
        monkeypatch.setattr(visits, "BRIEF_HOLD_SECONDS", 20.0)
        monkeypatch.setattr(visits, "HOLD_SECONDS", 20.0)
        held = asyncio.create_task(go_on(client, early))
        await asyncio.sleep(0)
        await files.connect()
        assert shown(await held) == "a.txt"


@each_way
async def test_equal_codes_at_the_same_time_get_the_same_result(
    tool: str, era: Era, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with begun(tool, how, monkeypatch, era) as (files, client, first):
        held = [asyncio.create_task(go_on(client, first)) for _ in range(3)]
        await asyncio.wait(held, timeout=0.1)
        await files.connect()
        assert [shown(await each) for each in held] == ["a.txt"] * 3


@each_way
async def test_a_client_that_gives_up_waiting_loses_nothing(
    tool: str, era: Era, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with begun(tool, how, monkeypatch, era) as (files, client, first):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await go_on(client, first)
        await files.connect()
        assert shown(await go_on(client, first)) == "a.txt"


@each_way
async def test_the_progress_of_a_wait_names_the_page(
    tool: str, era: Era, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []
    came = asyncio.Event()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(str(message))
        came.set()

    async with begun(tool, how, monkeypatch, era) as (files, client, first):
        assert f"{PLACE}{files.sent[0]}" in shown(first)
        held = asyncio.create_task(
            client.call_tool("midcall_continue", {"code": code_of(first)}, progress_callback=hear)
        )
        await came.wait()
        await files.connect()
        assert shown(await held) == "a.txt"
    assert heard[0] == f"Waiting for the user at {PLACE}{files.sent[0]}"


@pytest.mark.parametrize("tool", ["waits", "requires"])
async def test_the_progress_of_the_first_request_names_the_page_too(tool: str) -> None:
    files, heard, came = Files(), list[str](), asyncio.Event()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(str(message))
        came.set()

    server = server_with(files.waits, files.requires, heartbeat=0.05)
    async with connect(server, lambda asked: ElicitResult(action="accept"), modes=["url"]) as client:
        held = asyncio.create_task(client.call_tool(tool, {}, progress_callback=hear))
        async with asyncio.timeout(20):
            await came.wait()
            await files.connect()
            assert shown(await held) == "a.txt"
    assert heard[0] == f"Waiting for the user at {PLACE}{files.sent[0]}"


@pytest.mark.parametrize("how", HOW, indirect=True)
async def test_a_tool_that_finds_its_user_done_continues_though_nobody_says_so(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with begun("requires", how, monkeypatch, hold=0.02) as (files, client, first):
        early = await go_on(client, first)
        files.connected = True
        assert shown(await go_on(client, early)) == "a.txt"
        assert shown(await go_on(client, first)) == "a.txt"


@pytest.mark.parametrize("how", HOW, indirect=True)
async def test_a_tool_that_still_requires_a_page_that_is_done_asks_for_it_again(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with begun("requires", how, monkeypatch, hold=0.02) as (files, client, first):
        await complete(files.sent[0])
        again = await go_on(client, first)
        assert "NOT FINISHED YET" in shown(again)
        assert "not finished on the web page" not in shown(again)
        files.connected = True
        assert shown(await go_on(client, again)) == "a.txt"


async def test_the_code_of_another_user_is_refused_while_it_waits_and_after(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "HOLD_SECONDS", 0.02)
    who, files = ["ada"], Files()

    def user(ctx: Any) -> str:
        return who[0]

    server = server_with(files.waits, principal=user)
    async with connect(server, lambda asked: ElicitResult(action="accept"), modes=["url"]) as client:
        first = await client.call_tool("waits", {})
        for _ in range(2):
            who[0] = "eve"
            assert "This code does not work" in shown(await go_on(client, first))
            who[0] = "ada"
            await complete(files.sent[0])
            assert shown(await go_on(client, first)) == "a.txt"
