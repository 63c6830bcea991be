"""The app that shows the visits a call waits for, until the user tries again or gives up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import monotonic

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from midcall.client.answerer import Waiting
from midcall.client.lines.excerpt import server_name, shorten
from midcall.client.terminal.widgets.frame import TerminalPage
from midcall.client.terminal.widgets.window import Window
from midcall.client.urls import in_ascii
from midcall.language import _, ngettext


class WaitPage(TerminalPage):
    def __init__(self, waiting: Waiting, began: float) -> None:
        super().__init__()
        self._waiting = waiting
        self._began = began

    def head(self) -> Content:
        asked = self._waiting.asked
        server = server_name(asked[0].server if asked else "")
        notes = (
            _format_time(int(monotonic() - self._began)),
            _("attempt {number} of {attempts}").format(number=self._waiting.attempt, attempts=self._waiting.attempts),
        )
        return Content.assemble((server, "bold"), "  ", (" · ".join(notes), "dim"))

    def body(self) -> Iterator[Widget]:
        yield Static(self._visits(), id="visits", markup=False)
        advice = ngettext(
            "The call continues when you are done with this page.",
            "The call continues when you are done with these pages.",
            len(self._waiting.asked),
        )
        yield Static(advice, classes="advice", markup=False)

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
            state = _("done") if done else _("not done yet")
            what = Content.assemble(mark, shorten(asked.message, 120), "  ", (state, "dim"))
            yield Content.assemble(what, "\n  ", (in_ascii(asked.url or ""), "dim"))


def _format_time(seconds: int) -> str:
    if seconds < 120:
        return _("waiting for {seconds} s").format(seconds=seconds)
    return _("waiting for {minutes} min").format(minutes=seconds // 60)


class WaitApp(Window):
    """Shows the visits. `choice` is True to try again, False to give up, and None if the user hasn't chosen."""

    def __init__(self, waiting: Waiting, began: float) -> None:
        super().__init__()
        self.choice: bool | None = None
        self._waiting = waiting
        self._began = began

    def first_page(self) -> TerminalPage:
        return WaitPage(self._waiting, self._began)

    def on_mount(self) -> None:
        super().on_mount()
        self.run_worker(self._follow(), exclusive=True)

    async def _follow(self) -> None:
        """Update the page when a visit is done."""
        while not self._waiting.finished:
            await self._waiting.changed()
            if isinstance(page := self.screen, WaitPage):
                page.refresh_state()

    def do(self, act: str) -> None:
        self.choice = act == "again"
        self.exit()
