"""Where an app is shown: the terminal of this process, which gets back what it had."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final, Protocol

import anyio

from midcall.client.lines.backlog import asking
from midcall.client.terminal.output import KEEPS_ALL, aside
from midcall.client.terminal.widgets.window import Window

__all__ = ["OwnTerminal", "Stage"]

_CLOSING: Final = 5.0
_LOOK: Final = 1.0
_SIGNALS: Final = tuple(getattr(signal, name) for name in ("SIGWINCH", "SIGTSTP", "SIGCONT") if hasattr(signal, name))


class Stage(Protocol):
    """Shows an app until it ends. When it is cancelled, the app is closed first."""

    async def show(self, app: Window) -> None: ...


class OwnTerminal:
    """The terminal that this process was started in.

    Args:
        inline: Below what is there already, and gone afterwards; else on the whole screen.
    """

    def __init__(self, inline: bool = True) -> None:
        self._inline = inline and sys.platform != "win32"

    async def show(self, app: Window) -> None:
        app.streams = (sys.stdout, sys.stderr) if KEEPS_ALL else None
        with asking(), aside() as held, _signals_kept():
            running = asyncio.create_task(self._run(app))
            watching = asyncio.create_task(_watch(app))
            try:
                await asyncio.shield(running)
            except asyncio.CancelledError:
                app.call_later(app.exit)
                with anyio.CancelScope(shield=True):
                    await asyncio.wait({running}, timeout=_CLOSING)
                running.cancel()
                raise
            finally:
                watching.cancel()
                for text, stderr in app.printed:
                    held.write(text, stderr)

    async def _run(self, app: Window) -> None:
        loop = asyncio.get_running_loop()
        factory = loop.get_task_factory()
        loop.call_soon(loop.set_task_factory, factory)  # Textual sets one of its own, for the host's tasks too
        try:
            await app.run_async(inline=self._inline)
        finally:
            app.stop_reading()


async def _watch(app: Window) -> None:
    """Close the app when its terminal is gone: Textual would wait for a key for ever, and use a whole core for it."""
    while not _is_gone():  # noqa: ASYNC110  (there is no event for it)
        await asyncio.sleep(_LOOK)
    app.failure = app.failure or OSError("the terminal is gone")
    app.exit()


def _is_gone() -> bool:
    """Whether the terminal of this process was closed, and nobody told it."""
    if sys.platform == "win32" or sys.__stdin__ is None:
        return False
    import termios

    try:
        termios.tcgetattr(sys.__stdin__.fileno())
    except (OSError, ValueError, termios.error):
        return True
    return False


@contextmanager
def _signals_kept() -> Generator[None]:
    """Textual leaves its signals at their defaults; the host may have had handlers of its own."""
    before: dict[int, Any] = {number: signal.getsignal(number) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)
