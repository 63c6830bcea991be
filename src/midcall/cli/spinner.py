"""Something that turns while a tool runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from time import monotonic
from typing import Final

from midcall.cli.console import Console
from midcall.core.text import plain_line

__all__ = ["Spinner", "spinning"]

_FRAMES: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_SECONDS: Final = 0.1


class Spinner:
    """The status line of a call: what runs, for how long, and how far it is."""

    def __init__(self, console: Console, name: str) -> None:
        self._console = console
        self._name = name
        self._begun = monotonic()
        self._progress = ""

    async def progressed(self, progress: float, total: float | None, message: str | None) -> None:
        """The tool tells how far it is. Use it as a `progress_callback`."""
        share = f"{min(max(progress / total, 0), 1):.0%}" if total else ""
        self._progress = "".join(f" · {piece}" for piece in (share, plain_line(message or "")) if piece)

    def turn(self, frame: str) -> None:
        running = f"{self._name} · {int(monotonic() - self._begun)} s"
        self._console.status(f"{frame} {running}{self._progress}")

    async def spin(self) -> None:
        while True:
            for frame in _FRAMES:
                self.turn(frame)
                await asyncio.sleep(_SECONDS)


@asynccontextmanager
async def spinning(console: Console, name: str) -> AsyncGenerator[Spinner]:
    """While this is open, the status line turns. Off a terminal there is none."""
    spinner = Spinner(console, name)
    task = asyncio.create_task(spinner.spin()) if console.ink.on else None
    try:
        yield spinner
    finally:
        if task is not None:
            task.cancel()
        console.status("")
