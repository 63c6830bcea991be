"""What the user can do, always in sight at the foot of the form."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Click, Resize
from textual.message import Message
from textual.widgets import Static

from midcall.wording.client import terminal as wording

__all__ = ["KEYS", "YES", "Act", "Bar"]

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
YES: Final = frozenset({"send", "next", "yes", "open", "agree"})
"""What the user agrees with."""
_AROUND: Final = 7
"""Columns that a button takes besides its name."""


class Act(Static, can_focus=True):
    """A button, with its key beside its name."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "press", show=False)]
    ALLOW_SELECT = False

    class Pressed(Message):
        """The user wants this done."""

        def __init__(self, act: str) -> None:
            super().__init__()
            self.act = act

    def __init__(self, act: str) -> None:
        super().__init__(id=act, classes="act", markup=False)
        self.act = act

    def label(self, *, keys: bool) -> None:
        """Say what it does, and its key if there is room."""
        name, key = wording.button(self.act), wording.key(KEYS[self.act])
        self.update(Content.assemble(name, (f" {key}", "dim")) if keys else Content(name))

    def action_press(self) -> None:
        self.post_message(self.Pressed(self.act))

    def on_click(self, event: Click) -> None:
        event.stop()
        self.action_press()


class Bar(Vertical):
    """The buttons of a page, what there is to say about the page, and a note if there is room."""

    def __init__(self, acts: Iterable[str], note: str = "", hidden: Collection[str] = ()) -> None:
        super().__init__(id="bar")
        self._acts = [Act(act) for act in acts]
        self._hidden = hidden
        self._note = Static(note, classes="legend", markup=False)
        self._notice = Static(id="notice", markup=False)

    def compose(self) -> ComposeResult:
        yield self._notice
        yield Horizontal(*self._acts, self._note, id="acts")

    def tell(self, sentence: str) -> None:
        """Say something about the page."""
        self._notice.update(Content(sentence))
        self._notice.display = bool(sentence)

    def hide(self, hidden: Collection[str]) -> None:
        """Show all buttons but these."""
        self._hidden = hidden
        self._fit(self.screen.size.width)

    def on_mount(self) -> None:
        self._fit(self.screen.size.width)

    def on_resize(self, event: Resize) -> None:
        self._fit(event.size.width)

    def _fit(self, width: int) -> None:
        for act in self._acts:
            act.display = act.act not in self._hidden
        wanted = sum(len(wording.button(act.act)) + _AROUND for act in self._acts if act.display)
        for act in self._acts:
            act.label(keys=wanted <= width)
