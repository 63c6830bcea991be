"""Whether the page is open. Without JavaScript, we can't see that it was closed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from midcall.settings.client import PAGE_RECENT_SECONDS


class Presence:
    """Counts open pages, and reports when the last one was closed.

    Reloading a page or sending a form closes it for a moment, so it counts as closed only after a while.

    Args:
        grace: How long, in seconds.
        showing: The ids of what the page shows.
        gone: Called with the ids that were shown when the page was closed.
    """

    def __init__(self, grace: float, showing: Callable[[], Sequence[str]], gone: Callable[[Sequence[str]], None]):
        self._grace = grace
        self._showing = showing
        self._gone = gone
        self._pages = 0
        self._left: Sequence[str] = ()
        self._timer: asyncio.TimerHandle | None = None
        self._seen: float | None = None
        self._arrival = asyncio.Event()

    @property
    def here(self) -> bool:
        """Whether the page is open, or was a moment ago."""
        now = asyncio.get_running_loop().time()
        return (
            bool(self._pages)
            or self._timer is not None
            or (self._seen is not None and now - self._seen < PAGE_RECENT_SECONDS)
        )

    def expect(self) -> asyncio.Event:
        """Set when a page comes, from now on."""
        self._arrival = asyncio.Event()
        return self._arrival

    def seen(self) -> None:
        """The page was loaded, or sent something."""
        self._seen = asyncio.get_running_loop().time()
        self._arrival.set()
        if self._timer is not None:
            self._wait()

    @contextmanager
    def page(self) -> Generator[None]:
        """While this is open, so is a page."""
        self._pages += 1
        self._stop()
        try:
            yield
        finally:
            self._pages -= 1
            if not self._pages:
                self._left = self._showing()
                self._wait()

    def close(self) -> None:
        self._grace = float("inf")
        self._stop()

    def _wait(self) -> None:
        self._stop()
        if self._grace != float("inf"):
            self._timer = asyncio.get_running_loop().call_later(self._grace, self._end)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end(self) -> None:
        self._timer = None
        self._seen = None
        self._gone(self._left)
