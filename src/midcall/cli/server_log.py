"""What a server that we started writes to its standard error, at the command line.

Its last lines are kept, to be shown when something goes wrong. All of them are shown as they come only if
that is wanted.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from midcall.cli.console import Console

__all__ = ["ServerLog"]

_KEPT: Final = 20


class ServerLog:
    """The last lines, and all of them on the console if `live`."""

    def __init__(self, console: Console, *, live: bool) -> None:
        self._console = console
        self._live = live
        self._lines: deque[str] = deque(maxlen=_KEPT)

    def take(self, line: str) -> None:
        """The server wrote this. It is safe to print."""
        self._lines.append(line)
        if self._live:
            self._say(line)

    def tell(self) -> None:
        """Show the last lines, if they were not shown before."""
        if not self._live:
            for line in self._lines:
                self._say(line)

    def _say(self, line: str) -> None:
        self._console.say(self._console.ink.dim(f"  │ {line}"))
