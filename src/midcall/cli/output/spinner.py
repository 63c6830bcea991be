"""The spinner on the status line while a tool runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from time import monotonic
from typing import Final

from midcall.cli.output.console import Console
from midcall.core.text import plain_line
from midcall.settings import SPINNER_SECONDS

_FRAMES: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class Spinner:
    """The status line of a call: what is running, for how long, and how far it is."""

    def __init__(self, console: Console, name: str) -> None:
        self._console = console
        self._name = name
        self._begun = monotonic()
        self._progress = ""

    async def show_progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Show how far the tool is. Use it as a `progress_callback`."""
        share = f"{min(max(progress / total, 0), 1):.0%}" if total else ""
        self._progress = "".join(f" · {piece}" for piece in (share, plain_line(message or "")) if piece)

    def _turn(self, frame: str) -> None:
        running = f"{self._name} · {int(monotonic() - self._begun)} s"
        self._console.status(f"{frame} {running}{self._progress}")

    async def run(self) -> None:
        while True:
            for frame in _FRAMES:
                self._turn(frame)
                await asyncio.sleep(SPINNER_SECONDS)


@asynccontextmanager
async def spin(console: Console, name: str) -> AsyncGenerator[Spinner]:
    """Show a spinner while this is open, if there's a terminal."""
    spinner = Spinner(console, name)
    task = asyncio.create_task(spinner.run()) if console.ink.on else None
    try:
        yield spinner
    finally:
        if task is not None:
            task.cancel()
        console.status("")
