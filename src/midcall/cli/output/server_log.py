"""What a server that we started writes to its standard error.

Keeps the last lines, to show them when something goes wrong. With --verbose, shows all lines as they come.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from midcall.cli.output.console import Console

_LAST: Final = 20


class ServerLog:
    """The last lines, and all of them on the console if `live`."""

    def __init__(self, console: Console, *, live: bool) -> None:
        self._console = console
        self._live = live
        self._lines: deque[str] = deque(maxlen=_LAST)

    def take(self, line: str) -> None:
        """Add a line of the server's log. It must be safe to print."""
        self._lines.append(line)
        if self._live:
            self._say(line)

    def show(self) -> None:
        """Show the last lines, unless they were shown already."""
        if not self._live:
            for line in self._lines:
                self._say(line)

    def _say(self, line: str) -> None:
        self._console.say(self._console.ink.dim(f"  │ {line}"))
