"""What every page has: a head, a body that scrolls, and the buttons at its foot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import monotonic
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from midcall.client.terminal.widgets.bar import Bar

__all__ = ["Page"]


class Page(Screen[None]):
    """A page: who asks on top, what can be done at the foot, and the rest scrolls between them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll_up", show=False),
        Binding("down", "scroll_down", show=False),
        Binding("pageup", "page_up", show=False),
        Binding("pagedown", "page_down", show=False),
        Binding("home", "scroll_home", show=False),
        Binding("end", "scroll_end", show=False),
    ]
    AUTO_FOCUS = ""  # a yes must be meant: Enter does nothing before the user has moved

    def __init__(self) -> None:
        super().__init__()
        self._since = monotonic()

    @property
    def seconds(self) -> float:
        """How long it has been shown."""
        return monotonic() - self._since

    def compose(self) -> ComposeResult:
        yield Static(self.head(), id="head", markup=False)
        yield from self.body()
        yield Bar(self.acts(), self.note(), self.hidden())

    def head(self) -> Content:
        raise NotImplementedError

    def body(self) -> Iterator[Widget]:
        raise NotImplementedError

    def acts(self) -> Sequence[str]:
        raise NotImplementedError

    def hidden(self) -> Sequence[str]:
        """The acts that make no sense right now."""
        return ()

    def note(self) -> str:
        return ""

    def tell(self, sentence: str) -> None:
        """Say something about the page as a whole."""
        self.query_one(Bar).tell(sentence)

    def retitle(self) -> None:
        self.query_one("#head", Static).update(self.head())
