"""The frame of every page: a head, a body that scrolls, and a bar of buttons at the foot."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from time import monotonic
from typing import ClassVar, Final

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Click, Resize
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from midcall.language import _

KEYS: Final = {
    "send": "ctrl+s",
    "next": "ctrl+s",
    "yes": "ctrl+s",
    "open": "ctrl+s",
    "agree": "ctrl+s",
    "again": "ctrl+s",
    "copy": "ctrl+y",
    "decline": "ctrl+d",
    "cancel": "escape",
    "give_up": "escape",
    "cancel_all": "ctrl+q",
    "back": "ctrl+b",
    "more": "ctrl+n",
    "less": "ctrl+p",
}
DECISIONS: Final = frozenset({"send", "next", "yes", "open", "agree", "decline"})
"""Acts that answer for the user. Leaving a question is always possible."""
_AROUND: Final = 7
"""Columns that a button needs besides its name."""


class Act(Static, can_focus=True):
    """A button with its key beside its name."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "press", show=False)]
    ALLOW_SELECT = False

    class Pressed(Message):
        """The user pressed this button."""

        def __init__(self, act: str) -> None:
            super().__init__()
            self.act = act

    def __init__(self, act: str) -> None:
        super().__init__(id=act, classes="act", markup=False)
        self.act = act

    def label(self, *, keys: bool) -> None:
        """Show the name, and the key if there is room."""
        name, key = _button_name(self.act), KEYS[self.act]
        key = _("Esc") if key == "escape" else f"^{key[-1].upper()}"
        self.update(Content.assemble(name, (f" {key}", "dim")) if keys else Content(name))

    def action_press(self) -> None:
        self.post_message(self.Pressed(self.act))

    def on_click(self, event: Click) -> None:
        event.stop()
        self.action_press()


class Bar(Vertical):
    """The buttons of a page, a notice above them, and a note beside them if there is room."""

    def __init__(self, acts: Iterable[str], note: str, hidden: Collection[str]) -> None:
        super().__init__(id="bar")
        self._acts = [Act(act) for act in acts]
        self._hidden = hidden
        self._note = Static(note, classes="legend", markup=False)
        self._notice = Static(id="notice", markup=False)

    def compose(self) -> ComposeResult:
        yield self._notice
        yield Horizontal(*self._acts, self._note, id="acts")

    def tell(self, sentence: str) -> None:
        """Show a notice above the buttons."""
        self._notice.update(Content(sentence))
        self._notice.display = bool(sentence)

    def hide(self, hidden: Collection[str]) -> None:
        """Hide these buttons and show the others."""
        self._hidden = hidden
        self._fit(self.screen.size.width)

    def on_mount(self) -> None:
        self._fit(self.screen.size.width)

    def on_resize(self, event: Resize) -> None:
        self._fit(event.size.width)

    def _fit(self, width: int) -> None:
        for act in self._acts:
            act.display = act.act not in self._hidden
        wanted = sum(cell_len(_button_name(act.act)) + _AROUND for act in self._acts if act.display)
        for act in self._acts:
            act.label(keys=wanted <= width)


class TerminalPage(Screen[None]):
    """A page: who asks at the top, the buttons at the foot, and everything else scrolls in between."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll_up", show=False),
        Binding("down", "scroll_down", show=False),
        Binding("pageup", "page_up", show=False),
        Binding("pagedown", "page_down", show=False),
        Binding("home", "scroll_home", show=False),
        Binding("end", "scroll_end", show=False),
    ]
    AUTO_FOCUS = ""  # so that Enter approves nothing before the user has moved to a button

    def __init__(self) -> None:
        super().__init__()
        self._since = monotonic()

    @property
    def seconds(self) -> float:
        """How long this page has been shown."""
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
        """The acts that have no use right now."""
        return ()

    def note(self) -> str:
        return ""

    def tell(self, sentence: str) -> None:
        """Show a notice about the whole page."""
        self.query_one(Bar).tell(sentence)

    def retitle(self) -> None:
        self.query_one("#head", Static).update(self.head())


def _button_name(act: str) -> str:
    return {
        "send": _("Send"),
        "next": _("Next"),
        "yes": _("Accept"),
        "open": _("Open"),
        "agree": _("Agree"),
        "copy": _("Copy"),
        "decline": _("Decline"),
        "cancel": _("Cancel"),
        "cancel_all": _("Cancel all"),
        "back": _("Back"),
        "more": _("More"),
        "less": _("Previous"),
        "again": _("Try again"),
        "give_up": _("Give up"),
    }[act]
