"""A simulated person at a form: scripts that press keys and read the screen."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from textual.pilot import Pilot
from textual.widget import Widget

from midcall.client.asked import Asked, FormQuestion, VisitQuestion
from midcall.client.terminal import Terminal
from midcall.client.terminal.widgets.field_box import FieldBox
from midcall.client.terminal.widgets.window import Window
from midcall.core.forms.form import Form
from midcall.core.outcome import Outcome

SECONDS = 60.0

Person: TypeAlias = Callable[["Hands"], Awaitable[None]]


class Hands:
    """Presses keys and reads the screen."""

    def __init__(self, app: Window, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def see(self, text: str) -> None:
        """Wait until the screen shows this."""
        while text not in self.screen:
            await self.pilot.pause()

    async def type(self, text: str) -> None:
        names = {" ": "space", "@": "at", ".": "full_stop", "-": "minus", ",": "comma", ":": "colon"}
        await self.press(*(names.get(char, char) for char in text))

    async def to(self, name: str) -> Widget:
        """Move the cursor into this field."""
        box = self.box(name)
        box.take_focus()
        await self.pilot.pause()
        return box

    def box(self, name: str) -> FieldBox:
        return next(box for box in self.app.screen.query(FieldBox) if box.field.name == name)

    def note(self, name: str) -> str:
        """The text about this field."""
        return str(self.box(name).query_one(".note").render())

    @property
    def screen(self) -> str:
        """The visible text."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips)

    @property
    def at(self) -> str:
        """The focused field or button."""
        node: Any = self.app.focused
        while node is not None and not isinstance(node, FieldBox):
            if node.id:
                return node.id
            node = node.parent
        return "" if node is None else node.field.name


class Hall:
    """Shows each app to the next scripted person."""

    def __init__(self, *people: Person, size: tuple[int, int] = (80, 40), quickest: float = 0) -> None:
        self._people = iter(people)
        self._quickest = quickest
        self._size = size
        self.shown: list[Window] = []
        self.failures: list[Exception] = []

    async def show(self, app: Window) -> None:
        person = next(self._people, None)
        if person is None:
            raise (self.failures or [AssertionError("nobody is there to see this app")])[0]
        app.quickest = self._quickest  # pyright: ignore[reportAttributeAccessIssue]
        self.shown.append(app)

        async def meet(pilot: Pilot[Any]) -> None:
            try:
                async with asyncio.timeout(SECONDS):
                    await pilot.pause()
                    await person(Hands(app, pilot))
            except Exception as error:  # fail the test, not the program under test
                self.failures.append(error)
                app.exit()

        running = asyncio.create_task(app.run_async(headless=True, size=self._size, auto_pilot=meet))
        try:
            await asyncio.shield(running)
        except asyncio.CancelledError:
            app.call_later(app.exit)
            await asyncio.wait({running}, timeout=SECONDS)
            raise


class Desk:
    """A `Terminal` in a hall, the URLs that it opened, and the lines that it left."""

    def __init__(
        self,
        *people: Person,
        browser: bool = True,
        size: tuple[int, int] = (80, 40),
        quickest: float = 0,
        **options: Any,
    ) -> None:
        self.opened: list[str] = []
        self.left: list[str] = []
        self.hall = Hall(*people, size=size, quickest=quickest)
        self.terminal = Terminal(
            stage=self.hall,
            place=lambda: "form",
            open_url=lambda url: (self.opened.append(url), browser)[1],
            write=self.left.append,
            **options,
        )

    async def answer(self, *asked: Asked) -> list[Outcome[Any]]:
        async with asyncio.timeout(SECONDS):
            outcomes = await asyncio.gather(*map(self.terminal.answer, asked))
        for failure in self.hall.failures:
            raise failure
        return outcomes


def form(*fields: Any, message: str = "Tell me", server: str = "Fjord Travel", id: str = "1") -> Asked:
    question = FormQuestion(message, Form(*fields) if fields else None)
    return Asked(question, id, server, "1.4.0", "round", "2026-07-28")


def visit(url: str, message: str = "Please sign in", id: str = "v") -> Asked:
    return Asked(VisitQuestion(message, url, id), id, "Fjord Travel", "1.4.0", "push", "2025-11-25")


async def fill(*fields: Any, person: Person, **options: Any) -> tuple[Outcome[Any], Desk]:
    desk = Desk(person, **options)
    [outcome] = await desk.answer(form(*fields))
    return outcome, desk
