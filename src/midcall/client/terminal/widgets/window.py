"""What our Textual apps share: their look, and no surprises for the program they run in."""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import ClassVar, Final, TextIO

from rich.console import RenderableType
from textual.app import App
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.events import Event, Key, Paste, Print
from textual.theme import Theme
from textual.widget import Widget
from textual.widgets import Input

from midcall.client.terminal.widgets.frame import DECISIONS, KEYS, Act, TerminalPage
from midcall.settings.client import CONFIRM_SECONDS, PRINTED_LINES, TERMINAL_DRAW_SECONDS

_ACTS = {key: [act for act, its_key in KEYS.items() if its_key == key] for key in KEYS.values()}
_THEME: Final = Theme(
    name="midcall",
    ansi=True,
    primary="ansi_cyan",
    secondary="ansi_cyan",
    accent="ansi_cyan",
    warning="ansi_yellow",
    error="ansi_red",
    success="ansi_green",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
    variables={
        "ansi-background": "ansi_default",
        "ansi-foreground": "ansi_default",
        "border": "ansi_cyan",
        "border-blurred": "ansi_bright_black",
        "scrollbar": "ansi_bright_black",
        "scrollbar-hover": "ansi_cyan",
        "scrollbar-active": "ansi_cyan",
        "scrollbar-background": "ansi_default",
        "scrollbar-background-hover": "ansi_default",
        "scrollbar-background-active": "ansi_default",
        "scrollbar-corner-color": "ansi_default",
        "screen-selection-background": "ansi_cyan",
        "screen-selection-foreground": "ansi_black",
        "input-selection-background": "ansi_cyan",
        "input-selection-foreground": "ansi_black",
    },
)


class Window(App[None]):
    """Shows one page at a time, with its acts as buttons and keys."""

    CSS_PATH = Path(__file__).with_name("window.tcss")
    ENABLE_COMMAND_PALETTE = False
    INLINE_PADDING = 0
    quickest: ClassVar[float] = CONFIRM_SECONDS
    """Seconds before a new page takes a decision."""
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"act('{key}')", show=False, priority=True) for key in _ACTS),
        Binding("ctrl+c", "interrupt", show=False, priority=True),
        Binding("ctrl+l", "redraw", show=False, priority=True),
    ]

    def __init__(self, driver_class: type[Driver] | None = None) -> None:
        # Set here, before the theme sets it: with NO_COLOR, Textual would draw black on black.
        super().__init__(driver_class, ansi_color=True)
        self.streams: tuple[TextIO, TextIO] | None = None
        """The host's own streams, if its output is already diverted; None to capture prints here."""
        self.printed: deque[tuple[str, bool]] = deque(maxlen=PRINTED_LINES)
        """What the program printed meanwhile, and whether it was to standard error."""
        self.failure: Exception | None = None
        """Why the app failed, if it did."""
        self.register_theme(_THEME)
        self.theme = _THEME.name

    def stop_reading(self) -> None:
        """End the thread that reads keys. Textual doesn't, if the terminal is gone."""
        if (ended := getattr(self._driver, "exit_event", None)) is not None:
            ended.set()

    def first_page(self) -> TerminalPage | None:
        """The page to start with; None if nothing is left to show."""
        raise NotImplementedError

    def do(self, act: str) -> None:
        """Do what the user chose."""
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
        """Handle each key completely before the next one.

        Textual forwards a key to the focused widget and doesn't wait. In a burst of keys (a slow connection, a busy
        machine), the next key would reach the field that was just left, or a form would be sent without its last
        letters.
        """
        fresh = isinstance(event, (Key, Paste)) and not event.is_forwarded
        target = self.focused if fresh else None
        if target is None or not isinstance(event, Key) or not await self._run_binding(event, target):
            await super().on_event(event)
        if target is not None:
            await _settle(target)

    async def _run_binding(self, key: Key, target: Widget) -> bool:
        """Run the binding of this key, if it has one. Letters typed into an input have none."""
        if await self._check_bindings(key.key, priority=True):
            return True
        return not (key.is_printable and isinstance(target, Input)) and await self._check_bindings(key.key)

    def on_print(self, event: Print) -> None:
        self.printed.append((event.text, event.stderr))

    def on_act_pressed(self, event: Act.Pressed) -> None:
        self._do(event.act)

    def _do(self, act: str) -> None:
        """Ignore a decision that comes before the page could be read: the key was for something else."""
        page = self.screen
        if act not in DECISIONS or (isinstance(page, TerminalPage) and page.seconds >= self.quickest):
            self.do(act)

    def action_act(self, key: str) -> None:
        """Press the button that has this key on the current page."""
        for act in _ACTS[key]:
            if any(button.display for button in self.screen.query(f"#{act}")):
                self._do(act)
                return

    def action_interrupt(self) -> None:
        """Copy the selected text. If there's none, Ctrl-C is Escape."""
        if text := self.screen.get_selected_text():
            self.copy_to_clipboard(text)
            self.screen.clear_selection()
        else:
            self.action_act("escape")

    def action_redraw(self) -> None:
        self.refresh(layout=True)

    def _handle_exception(self, error: Exception) -> None:
        """Show no traceback on the user's terminal: Textual's would contain the answers."""
        self.failure = self.failure or error
        if self.is_headless:
            super()._handle_exception(error)
        else:
            self._close_messages_no_wait()

    def panic(self, *renderables: RenderableType) -> None:
        self.failure = self.failure or RuntimeError("the terminal could not be read")
        self._close_messages_no_wait()


async def _settle(widget: Widget) -> None:
    """Wait until the widget and its ancestors have handled the messages that the last one caused."""
    ancestors = [node for node in widget.ancestors if isinstance(node, Widget)]
    for pump in (widget, widget, widget, *(node for node in ancestors for _ in range(2))):
        handled = asyncio.Event()
        if pump.call_later(handled.set):
            with suppress(TimeoutError):
                async with asyncio.timeout(TERMINAL_DRAW_SECONDS):
                    await handled.wait()
