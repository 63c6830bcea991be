"""Shows an app on the terminal of this process, and restores the terminal afterwards."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final, Protocol

import anyio

from midcall.client.lines.screen import TERMINAL
from midcall.client.terminal.output import KEEPS_ALL, aside
from midcall.client.terminal.widgets.window import Window
from midcall.settings.client import TERMINAL_CLOSE_SECONDS, TERMINAL_POLL_SECONDS

_SIGNALS: Final = tuple(getattr(signal, name) for name in ("SIGWINCH", "SIGTSTP", "SIGCONT") if hasattr(signal, name))


class Stage(Protocol):
    """Shows an app until it exits. If this is cancelled, it closes the app first."""

    async def show(self, app: Window) -> None: ...


class OwnTerminal:
    """The terminal that this process was started in.

    Args:
        inline: Show apps below the existing output and remove them afterwards, instead of using the whole screen.
    """

    def __init__(self, inline: bool) -> None:
        self._inline = inline and sys.platform != "win32"

    async def show(self, app: Window) -> None:
        app.streams = (sys.stdout, sys.stderr) if KEEPS_ALL else None
        with TERMINAL.asking(), _print_afterwards(app), aside(), _keep_signals():
            running = asyncio.create_task(self._run(app))
            watching = asyncio.create_task(_watch(app))
            try:
                await asyncio.shield(running)
            except asyncio.CancelledError:
                app.call_later(app.exit)
                with anyio.CancelScope(shield=True):
                    await asyncio.wait({running}, timeout=TERMINAL_CLOSE_SECONDS)
                running.cancel()
                raise
            finally:
                watching.cancel()

    async def _run(self, app: Window) -> None:
        loop = asyncio.get_running_loop()
        factory = loop.get_task_factory()
        loop.call_soon(loop.set_task_factory, factory)  # Textual sets a factory that would affect the host's tasks
        try:
            await app.run_async(inline=self._inline)
        finally:
            app.stop_reading()


async def _watch(app: Window) -> None:
    """Close the app when its terminal is gone. Textual would busy-wait for a key forever."""
    while not _is_gone():  # noqa: ASYNC110  (no event exists for it)
        await asyncio.sleep(TERMINAL_POLL_SECONDS)
    app.failure = app.failure or OSError("the terminal is gone")
    app.exit()


def _is_gone() -> bool:
    """Whether the terminal was closed without a signal to this process."""
    if sys.platform == "win32" or sys.__stdin__ is None:
        return False
    import termios

    try:
        termios.tcgetattr(sys.__stdin__.fileno())
    except (OSError, ValueError, termios.error):
        return True
    return False


@contextmanager
def _print_afterwards(app: Window) -> Generator[None]:
    try:
        yield
    finally:
        for text, stderr in app.printed:
            stream = sys.stderr if stderr else sys.stdout
            stream.write(text)
            stream.flush()


@contextmanager
def _keep_signals() -> Generator[None]:
    """Restore the host's signal handlers. Textual leaves the defaults behind."""
    before: dict[int, Any] = {number: signal.getsignal(number) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)
