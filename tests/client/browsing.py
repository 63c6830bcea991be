"""A Browser answerer with questions on its page, and someone who comes to see it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from midcall.client.answerer import Waiting
from midcall.client.asked import Asked, FormQuestion, VisitQuestion
from midcall.client.browser import Browser
from midcall.core.forms.fields import Choice, Choices, Flag, Number, Text
from midcall.core.forms.form import Form
from midcall.core.outcome import Outcome

SECONDS = 20.0

TRIP = Form(
    Text("name", title="Name", description="As in the passport", min_length=2),
    Text("mail", title="Mail", format="email"),
    Text("at", title="Moment", format="date-time", required=False),
    Number("days", title="Days", integer=True, minimum=1, maximum=30, default=4),
    Choice("seat", {"w": "Window", "a": "Aisle"}, title="Seat"),
    Choices("extras", {"bike": "Bicycle", "skis": "Skis"}, title="Extras", required=False),
    Flag("news", title="News"),
)


def trip(id: str = "trip", server: str = "Travel", message: str = "Tell me about the trip.") -> Asked:
    return Asked(FormQuestion(message, TRIP), id, server)


def short(id: str = "short", server: str = "Deploy", message: str = "Which branch?") -> Asked:
    return Asked(FormQuestion(message, Form(Text("branch", title="Branch"))), id, server)


def a_visit(url: str = "https://example.com/connect", id: str = "visit", server: str = "Travel") -> Asked:
    return Asked(VisitQuestion("Connect your calendar.", url, f"e-{id}"), id, server)


class Desk:
    """A Browser answerer under test: where its page is, and what comes of its questions."""

    def __init__(self, **how: Any) -> None:
        self.told: list[str] = []
        self._loop = asyncio.get_running_loop()
        self._opened: asyncio.Queue[str] = asyncio.Queue()
        self.asking: list[asyncio.Task[Any]] = []
        how = {"open": self._open, "tell": self.told.append, "grace": 30.0, **how}
        self.browser = Browser(**how)

    def _open(self, url: str) -> None:
        self._loop.call_soon_threadsafe(self._opened.put_nowait, url)

    def ask(self, *asked: Asked) -> list[asyncio.Task[Outcome[Any]]]:
        tasks = [asyncio.create_task(self.browser.answer(each)) for each in asked]
        self.asking += tasks
        return tasks

    def wait(self, waiting: Waiting) -> asyncio.Task[bool]:
        task = asyncio.create_task(self.browser.wait(waiting))
        self.asking.append(task)
        return task

    async def address(self) -> str:
        """The next address that is opened."""
        return await soon(self._opened.get())

    @property
    def opened(self) -> int:
        return self._opened.qsize()


@asynccontextmanager
async def desk(**how: Any) -> AsyncIterator[Desk]:
    """A Browser answerer; afterwards nothing of it is left."""
    found = Desk(**how)
    async with found.browser:
        yield found
    for task in found.asking:
        task.cancel()
    if found.asking:
        await asyncio.wait(found.asking)


async def soon(coming: Any) -> Any:
    """What this comes to, within a time limit."""
    async with asyncio.timeout(SECONDS):
        return await coming
