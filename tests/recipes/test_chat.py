"""The chat page: a tool's question is a form in the right browser's chat."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from typing import Any

import httpx2
import pytest
import uvicorn

from midcall.client.connection.connect import Era, connect
from midcall.errors import TimedOut, UserCancelled, UserDeclined
from tests.browser import launch
from tests.skips import needs_chromium

ERAS: tuple[Era, ...] = ("2025-11-25", "2026-07-28")
DAYS = "How many days will you stay in Oslo?"
SURE = "Book 3 days in Oslo?"
BOOKED = "Booked 3 days in Oslo."

on_every_version = pytest.mark.parametrize("era", ERAS)


@asynccontextmanager
async def served(era: Era) -> AsyncIterator[str]:
    """The URL of the chat page, with a server on this version."""
    pytest.importorskip("fastapi", reason="fastapi is missing: make venv")
    recipe = import_module("fastapi_chat")
    recipe.CONNECT = partial(connect, import_module("travel").mcp, era=era)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(recipe.app, log_level="error", ws="none", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            async with asyncio.timeout(30):
                while not server.started:
                    await asyncio.sleep(0.01)
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            await serving
    assert recipe.conversations == {}


class Visitor:
    """A headless browser: its cookie and its latest view."""

    def __init__(self, http: httpx2.AsyncClient, events: AsyncIterator[str]) -> None:
        self.http = http
        self._events = events
        self.view: dict[str, Any] = {"said": [], "asked": []}

    async def until(self, what: str) -> dict[str, Any]:
        """Read until the page shows this text. Returns the form that contains it, if any."""
        async with asyncio.timeout(10):
            while what not in json.dumps(self.view):
                line = await anext(self._events)
                self.view = json.loads(line.removeprefix("data: ")) if line.startswith("data:") else self.view
        return next((form for form in self.view["asked"] if what in form["html"]), {})

    async def says(self, text: str) -> None:
        assert (await self.http.post("/say", data={"text": text})).status_code == 204

    async def answers(self, form: dict[str, Any], do: str, value: str = "") -> httpx2.Response:
        fields = dict.fromkeys(re.findall(r'name="(q[^"]+)"', form["html"]), value)
        return await self.http.post(f"/answers/{form['id']}", data={**fields, "do": do})


@asynccontextmanager
async def visiting(address: str) -> AsyncIterator[Visitor]:
    async with httpx2.AsyncClient(base_url=address) as http:
        await http.get("/")
        async with http.stream("GET", "/events") as events:
            yield Visitor(http, events.aiter_lines())


@on_every_version
async def test_answers_book_the_trip_and_wrong_ones_come_back_with_their_problems(era: Era) -> None:
    async with served(era) as address, visiting(address) as visitor:
        await visitor.says("book Oslo")
        days = await visitor.until(DAYS)
        wrong = await visitor.answers(days, "accept", "300")
        assert wrong.status_code == 422
        assert "Days must be at most 30." in wrong.text
        assert 'value="300"' in wrong.text
        assert (await visitor.answers(days, "perhaps", "3")).status_code == 400
        assert (await visitor.answers(days, "accept", "3")).status_code == 204
        sure = await visitor.until(SURE)
        assert (await visitor.answers(days, "accept", "3")).status_code == 404
        assert (await visitor.answers(sure, "accept", "yes")).status_code == 204
        await visitor.until(BOOKED)
        assert visitor.view["asked"] == []


@on_every_version
@pytest.mark.parametrize(("do", "told"), [("decline", UserDeclined.for_model), ("cancel", UserCancelled.for_model)])
async def test_declined_and_cancelled_questions_end_the_call(era: Era, do: str, told: str) -> None:
    async with served(era) as address, visiting(address) as visitor:
        await visitor.says("book Oslo")
        assert (await visitor.answers(await visitor.until(DAYS), do)).status_code == 204
        await visitor.until(told)


async def test_a_question_that_the_server_gives_up_leaves_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("travel"), "PATIENCE", 1.0)
    async with served("2025-11-25") as address, visiting(address) as visitor:
        await visitor.says("book Oslo")
        days = await visitor.until(DAYS)
        await visitor.until(TimedOut.for_model)
        assert visitor.view["asked"] == []
        assert (await visitor.answers(days, "accept", "3")).status_code == 404


async def test_an_answer_in_rounds_that_comes_too_late_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served("2026-07-28") as address, visiting(address) as visitor:
        await visitor.says("book Oslo")
        days = await visitor.until(DAYS)
        later = time.time() + import_module("travel").PATIENCE + 1
        monkeypatch.setattr(time, "time", lambda: later)
        await visitor.answers(days, "accept", "3")
        await visitor.until(TimedOut.for_model)


async def test_each_browser_sees_and_answers_only_its_own_questions() -> None:
    async with served("2026-07-28") as address, visiting(address) as ada, visiting(address) as bo:
        await ada.says("book Oslo")
        days = await ada.until(DAYS)
        assert (await bo.answers(days, "accept", "3")).status_code == 404
        await bo.says("hello")
        await bo.until("I can book a trip")
        assert bo.view["asked"] == []
        assert [each["text"] for each in ada.view["said"]] == ["book Oslo"]
        await ada.answers(days, "cancel")


async def test_a_reloaded_page_shows_all_pending_questions() -> None:
    async with served("2026-07-28") as address, visiting(address) as visitor:
        await visitor.says("book Oslo")
        days = await visitor.until(DAYS)
        await visitor.http.get("/")
        async with visitor.http.stream("GET", "/events") as events:
            again = Visitor(visitor.http, events.aiter_lines())
            assert await again.until(DAYS) == days
        await visitor.answers(days, "cancel")


async def test_strangers_and_other_sites_are_rejected() -> None:
    async with served("2026-07-28") as address, visiting(address) as visitor:
        elsewhere = {"origin": "https://elsewhere.example"}
        assert (await visitor.http.post("/say", data={"text": "book Oslo"}, headers=elsewhere)).status_code == 403
        assert (await visitor.http.post("/say", data={"text": "x" * 201})).status_code == 422
        async with httpx2.AsyncClient(base_url=address) as stranger:
            assert (await stranger.post("/say", data={"text": "book Oslo"})).status_code == 401
            assert (await stranger.get("/events")).status_code == 401


async def test_the_oldest_conversation_makes_room_and_its_questions_are_cancelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with served("2026-07-28") as address, visiting(address) as ada:
        monkeypatch.setattr(import_module("fastapi_chat"), "MOST", 1)
        await ada.says("book Oslo")
        await ada.until(DAYS)
        async with visiting(address) as bo:
            await bo.says("hello")
            await bo.until("I can book a trip")
            assert (await ada.http.post("/say", data={"text": "hello"})).status_code == 401


@needs_chromium()
@on_every_version
async def test_a_person_books_the_trip_in_a_real_browser(era: Era) -> None:
    async with served(era) as address, launch() as browser:
        page, errors = await browser.new_page(), list[str]()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.set_default_timeout(20_000)
        await page.goto(address)
        await page.get_by_label("Say something").fill("book <b>Oslo</b>")
        await page.keyboard.press("Enter")
        await page.get_by_label("Days").fill("300")
        await page.keyboard.press("Enter")
        await page.get_by_role("link", name="Days must be at most 30.").wait_for()
        await page.get_by_label("Days").fill("3")
        await page.get_by_role("button", name="Send").click()
        await page.get_by_label("Yes").check()
        await page.get_by_role("button", name="Send").click()
        await page.get_by_text("Booked 3 days in <b>Oslo</b>.").wait_for()
        assert await page.locator("#asked > *").count() == 0
        assert errors == []
        await browser.close()
