"""Answers questions on a page in the user's own browser, served by this program on this machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from midcall.client.asked import Asked, Mode
from midcall.client.browser.session import Session
from midcall.client.browser.views import Views
from midcall.client.urls.consent import open_in_browser
from midcall.client.validation import BOTH
from midcall.client.visits.waiting import Waiting
from midcall.core.outcome import Cancelled, Outcome
from midcall.core.urls import is_loopback
from midcall.wording.client import page as wording

__all__ = ["Browser"]


class Browser:
    """Answers questions on a page in the user's browser.

        async with Browser() as browser, connect(server, browser) as client:
            await client.call_tool("book")

    The page is opened with the first question, and shows all that is being asked, by which server, live
    and to be answered in any order. Closing it cancels what it shows. It is served on loopback, by this
    event loop, to the one browser that opened it.

    Args:
        open: Opens an address in a browser; False says that it could not. None never opens one.
        host: A loopback address to serve on.
        port: A port to serve on; 0 takes any that is free.
        limit: How many questions may be open at once. What comes on top is cancelled.
        grace: How many seconds the page may be gone, as when it is loaded again, before it counts as closed.
        tell: Told what the user has to know where no browser could be started: by default, on stderr.
        templates: A directory whose templates take the place of ours.
    """

    modes: Final[tuple[Mode, ...]] = BOTH

    def __init__(
        self,
        *,
        open: Callable[[str], object] | None = open_in_browser,
        host: str = "127.0.0.1",
        port: int = 0,
        limit: int = 100,
        grace: float = 3.0,
        tell: Callable[[str], None] | None = None,
        templates: Path | None = None,
    ) -> None:
        if not is_loopback(host):
            raise ValueError(wording.not_loopback(host))
        self._open = open
        self._where = (host, port)
        self._limit = limit
        self._grace = grace
        self._tell = tell or _on_stderr
        self._views = Views(templates)
        self._session: Session | None = None
        self._closed = False

    async def answer(self, asked: Asked) -> Outcome[Any]:
        """Show the question, and return what the user makes of it."""
        return Cancelled(asked.via) if self._closed else await self._begun().ask(asked)

    async def wait(self, waiting: Waiting) -> bool:
        """Show what a call waits for, until the user wants it tried again (True) or gives up (False)."""
        return not self._closed and await self._begun().wait(waiting)

    async def close(self) -> None:
        """Cancel all that is open, and end the page. What is asked from now on is cancelled at once."""
        self._closed = True
        if self._session is not None:
            await self._session.close()

    async def __aenter__(self) -> Browser:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _begun(self) -> Session:
        """The page, served since the first question, by the loop that runs."""
        if self._session is None or self._session.ended:
            host, port = self._where
            self._session = Session(
                host, port, limit=self._limit, grace=self._grace, views=self._views, open=self._open, tell=self._tell
            )
        return self._session


def _on_stderr(said: str) -> None:
    """Not into a log: the address lets whoever reads it answer."""
    print(said, file=sys.stderr, flush=True)
