"""What all our Textual apps share: the look, and no surprises for the program they run in."""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from contextlib import suppress
from typing import ClassVar, Final, TextIO

from rich.console import RenderableType
from textual.app import App
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.events import Event, Key, Paste, Print
from textual.widget import Widget
from textual.widgets import Input

from midcall.client.terminal.widgets.bar import KEYS, YES, Act
from midcall.client.terminal.widgets.page import Page
from midcall.client.terminal.widgets.style import CSS, THEME

__all__ = ["Window"]

_ACTS = {key: [act for act, its_key in KEYS.items() if its_key == key] for key in KEYS.values()}


_PATIENCE: Final = 0.2
_MOST_PRINTED: Final = 10_000


class Window(App[None]):
    """A page at a time, with its acts as buttons and keys."""

    CSS: ClassVar[str] = CSS
    ENABLE_COMMAND_PALETTE = False
    INLINE_PADDING = 0
    quickest: ClassVar[float] = 0.3
    """Seconds that a page has to be shown before it takes a yes."""
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"act('{key}')", show=False, priority=True) for key in _ACTS),
        Binding("ctrl+c", "interrupt", show=False, priority=True),
        Binding("ctrl+l", "redraw", show=False, priority=True),
    ]

    def __init__(self, driver_class: type[Driver] | None = None) -> None:
        # Said now, and not only by the theme: with NO_COLOR set, Textual would draw black on black.
        super().__init__(driver_class, ansi_color=True)
        self.streams: tuple[TextIO, TextIO] | None = None
        """The host's own streams, where its prints are kept aside by other means."""
        self.printed: deque[tuple[str, bool]] = deque(maxlen=_MOST_PRINTED)
        """What was printed meanwhile, and whether it was meant for standard error."""
        self.failure: Exception | None = None
        """What went wrong in the app itself, if anything did."""
        self.register_theme(THEME)
        self.theme = THEME.name

    def stop_reading(self) -> None:
        """End the thread that reads keys. Where the terminal is gone Textual does not get to it, and it never ends."""
        if (ended := getattr(self._driver, "exit_event", None)) is not None:
            ended.set()

    def first_page(self) -> Page | None:
        """What to begin with; None if there is nothing to show any more."""
        raise NotImplementedError

    def do(self, act: str) -> None:
        """The user wants this."""
        raise NotImplementedError

    def on_mount(self) -> None:
        if self.streams is not None:
            sys.stdout, sys.stderr = self.streams
        else:
            self.begin_capture_print(self)
        page = self.first_page()
        if page is None:
            self.exit()
        else:
            self.push_screen(page)

    async def on_event(self, event: Event) -> None:
        """Each key has done all that it does before the next one is looked at.

        Textual hands a key to the widget that has the focus, and goes on. Where keys come in bursts (a
        slow line, a busy machine), the next one would go to a field that was just left, or a form
        would be sent without its last letters.
        """
        fresh = isinstance(event, (Key, Paste)) and not event.is_forwarded
        target = self.focused if fresh else None
        if target is None or not isinstance(event, Key) or not await self._bound(event, target):
            await super().on_event(event)
        if target is not None:
            await _settled(target)

    async def _bound(self, key: Key, target: Widget) -> bool:
        """Do what the key is bound to, if it is. Letters that are typed into a line are not looked up."""
        if await self._check_bindings(key.key, priority=True):
            return True
        return not (key.is_printable and isinstance(target, Input)) and await self._check_bindings(key.key)

    def on_print(self, event: Print) -> None:
        self.printed.append((event.text, event.stderr))

    def on_act_pressed(self, event: Act.Pressed) -> None:
        self._do(event.act)

    def _do(self, act: str) -> None:
        """A yes must be meant: one that comes before the page could be seen was meant for something else."""
        page = self.screen
        if act not in YES or (isinstance(page, Page) and page.seconds >= self.quickest):
            self.do(act)

    def action_act(self, key: str) -> None:
        """The button of this key that the page has, if it has one."""
        for act in _ACTS[key]:
            if any(button.display for button in self.screen.query(f"#{act}")):
                self._do(act)
                return

    def action_interrupt(self) -> None:
        """Ctrl-C copies what is marked, as it would anywhere. With nothing marked it is Escape."""
        if marked := self.screen.get_selected_text():
            self.copy_to_clipboard(marked)
            self.screen.clear_selection()
        else:
            self.action_act("escape")

    def action_redraw(self) -> None:
        self.refresh(layout=True)

    def _handle_exception(self, error: Exception) -> None:
        """No traceback on the user's terminal: Textual's would show the answers too."""
        self.failure = self.failure or error
        if self.is_headless:
            super()._handle_exception(error)
        else:
            self._close_messages_no_wait()

    def panic(self, *renderables: RenderableType) -> None:
        self.failure = self.failure or RuntimeError("the terminal could not be read")
        self._close_messages_no_wait()


async def _settled(widget: Widget) -> None:
    """Return when the widget, and those around it, have heard what followed from their last message."""
    around = [node for node in widget.ancestors if isinstance(node, Widget)]
    for pump in (widget, widget, widget, *(node for node in around for _ in range(2))):
        heard = asyncio.Event()
        if pump.call_later(heard.set):
            with suppress(TimeoutError):
                async with asyncio.timeout(_PATIENCE):
                    await heard.wait()
