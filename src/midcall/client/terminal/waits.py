"""While a call waits for visits: what it waits for, and a way out at any time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import monotonic

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from midcall.client.terminal.excerpt import brief, server_name
from midcall.client.terminal.widgets.page import Page
from midcall.client.terminal.widgets.window import Window
from midcall.client.visits.waiting import Waiting
from midcall.core.text import plain_line
from midcall.wording.client import terminal as wording

__all__ = ["WaitingRoom"]


class WaitPage(Page):
    def __init__(self, waiting: Waiting, began: float) -> None:
        super().__init__()
        self._waiting = waiting
        self._began = began

    def head(self) -> Content:
        asked = self._waiting.asked
        server = server_name(asked[0]) if asked else wording.unnamed_server()
        notes = (
            wording.seconds_passed(int(monotonic() - self._began)),
            wording.attempt(self._waiting.attempt, self._waiting.attempts),
        )
        return Content.assemble((server, "bold"), "  ", (" · ".join(notes), "dim"))

    def body(self) -> Iterator[Widget]:
        yield Static(self._visits(), id="visits", markup=False)
        yield Static(wording.goes_on_after_visits(len(self._waiting.asked)), classes="advice", markup=False)

    def acts(self) -> Sequence[str]:
        return ["again", "give_up"]

    def on_mount(self) -> None:
        self.set_interval(1.0, self.refresh_state)

    def refresh_state(self) -> None:
        self.retitle()
        self.query_one("#visits", Static).update(self._visits())

    def _visits(self) -> Content:
        return Content("\n").join(self._visit_lines())

    def _visit_lines(self) -> Iterator[Content]:
        for asked in self._waiting.asked:
            done = self._waiting.is_done(asked)
            mark = ("✓ ", "$success") if done else ("○ ", "dim")
            what = Content.assemble(mark, brief(asked.message, 120), "  ", (wording.visit_state(done), "dim"))
            yield Content.assemble(what, "\n  ", (plain_line(asked.url or ""), "dim"))


class WaitingRoom(Window):
    """Shows what is waited for. Afterwards `choice` says whether to try again, or None if nobody chose."""

    def __init__(self, waiting: Waiting, began: float) -> None:
        super().__init__()
        self.choice: bool | None = None
        self._waiting = waiting
        self._began = began

    def first_page(self) -> Page:
        return WaitPage(self._waiting, self._began)

    def on_mount(self) -> None:
        super().on_mount()
        self.run_worker(self._follow(), exclusive=True)

    async def _follow(self) -> None:
        """Each visit is shown as done when it is."""
        while not self._waiting.finished:
            await self._waiting.changed()
            if isinstance(page := self.screen, WaitPage):
                page.refresh_state()

    def do(self, act: str) -> None:
        self.choice = act == "again"
        self.exit()
