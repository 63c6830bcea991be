"""Questions answered on a page in the user's own browser.

__init__.py    the answerer, and its page from the first question to the end
board.py       what is on the page
views.py       the board as data for the templates
site.py        the page over HTTP
gate.py        who may open it
presence.py    whether it's open
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import anyio.to_thread

from midcall.audit import Audit, Target, open_audit
from midcall.client.answerer import BOTH, Waiting
from midcall.client.asked import Asked, Mode
from midcall.client.browser.board import Board
from midcall.client.browser.gate import Gate
from midcall.client.browser.presence import Presence
from midcall.client.browser.site import Refuse, site
from midcall.client.browser.views import Views
from midcall.client.pending import Pending
from midcall.client.urls import open_in_browser
from midcall.core.outcome import Cancelled, Outcome
from midcall.core.urls import is_loopback
from midcall.language import _
from midcall.settings.client import MAX_PENDING, PAGE_GRACE_SECONDS, PAGE_OPEN_SECONDS, PAGE_UNSEEN_SECONDS
from midcall.web.local_server import LocalServer, bind
from midcall.web.public_url import local_place

__all__ = ["Browser"]


class Browser:
    """Answers questions on a page in the user's browser.

        async with Browser() as browser, connect(server, browser) as client:
            await client.call_tool("book")

    The page opens with the first question. It shows all open questions and their servers, updates live, and takes
    answers in any order. Closing it cancels the questions that it shows. It's served on loopback, by this event loop,
    to the one browser that opened it.

    Args:
        open: Opens an address in a browser; returns False if it can't. None never opens one.
        host: A loopback address to serve on.
        port: A port to serve on; 0 for any free port.
        limit: How many questions may be open at once. More are cancelled.
        grace: How many seconds the page may be gone, for example to reload, before it counts as closed.
        tell: Shows the address to the user if no browser could be started, and why questions were stopped; by default,
            on standard error.
        templates: A directory whose templates replace the built-in ones.
        audit: Where the audit trail of refused requests goes: a file that gets a line of JSON for each, a function that
            takes an `Event`, a list of these, or an `Audit`, such as the one of `Guard`.
    """

    modes: Final[tuple[Mode, ...]] = BOTH

    def __init__(
        self,
        *,
        open: Callable[[str], object] | None = open_in_browser,
        host: str = "127.0.0.1",
        port: int = 0,
        limit: int = MAX_PENDING,
        grace: float = PAGE_GRACE_SECONDS,
        tell: Callable[[str], None] | None = None,
        templates: Path | None = None,
        audit: Audit | Target | Sequence[Target] | None = None,
    ) -> None:
        if not is_loopback(host):
            raise ValueError(f"The page is served on loopback only, such as 127.0.0.1, not on {host!r}.")
        self._tell = tell or _print_error
        self._start = partial(
            _Session,
            host,
            port,
            limit=limit,
            grace=grace,
            views=Views(templates),
            open=open,
            tell=self._tell,
            refuse=self._refuse,
        )
        self._audit = None if audit is None else open_audit(audit)
        self._session: _Session | None = None
        self._closed = False

    async def answer(self, asked: Asked) -> Outcome[Any]:
        """Show the question, and return its outcome."""
        return Cancelled(asked.via) if self._closed else await self._serve().ask(asked)

    async def wait(self, waiting: Waiting) -> bool:
        """Show what a call waits for, until the user tries again (True) or gives up (False)."""
        return not self._closed and await self._serve().wait(waiting)

    def tell(self, sentence: str) -> None:
        """Show this on the page, and where its address would be printed."""
        if self._session is not None and not self._session.ended:
            self._session.board.note(sentence)
        self._tell(sentence)

    async def close(self) -> None:
        """Cancel all open questions and end the page. Later questions are cancelled at once."""
        self._closed = True
        if self._session is not None:
            await self._session.close()
        if self._audit is not None:
            await self._audit.flush()

    async def __aenter__(self) -> Browser:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _serve(self) -> _Session:
        """The session of the page, started with the first question."""
        if self._session is None or self._session.ended:
            self._session = self._start()
        return self._session

    def _refuse(self, why: str) -> None:
        """Write into the audit trail that a request was refused."""
        if self._audit is not None:
            self._audit.write("page.refused", outcome=why, via="page")


class _Session:
    """One page, served by the running event loop."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        limit: int,
        grace: float,
        views: Views,
        open: Callable[[str], object] | None,
        tell: Callable[[str], None],
        refuse: Refuse,
    ) -> None:
        where = bind(host, port)
        self._gate = Gate(local_place(host, where.getsockname()[1]))
        self.board = Board(Pending(limit=limit))
        self._presence = Presence(grace, lambda: self.board.ids, self._cancel_shown)
        self._local_server = LocalServer(site(self.board, self._gate, self._presence, views, refuse), where)
        self._open = open
        self._tell = tell
        self._opening: asyncio.Task[None] | None = None

    @property
    def ended(self) -> bool:
        return self._local_server.has_ended

    async def ask(self, asked: Asked) -> Outcome[Any]:
        if self.board.pending.full:
            self.board.touch()
            return await self.board.pending.answer(asked)
        self._show()
        return await self.board.ask(asked)

    async def wait(self, waiting: Waiting) -> bool:
        self._show()
        with self.board.hold(waiting) as held:
            watching = asyncio.create_task(self._watch(waiting))
            try:
                return await held.again
            finally:
                watching.cancel()

    async def _watch(self, waiting: Waiting) -> None:
        while True:
            await waiting.changed()
            self.board.touch()

    async def close(self) -> None:
        self._presence.close()
        self.board.close()
        if self._opening is not None:
            self._opening.cancel()
        await self._local_server.close()

    # --- opening the page -----------------------------------------------------------------------

    def _show(self) -> None:
        """Open the page, unless the user has it open."""
        if not self._presence.here and self._opening is None:
            self._opening = asyncio.create_task(self._open_page(), name="midcall browser opening")

    def _cancel_shown(self, ids: Sequence[str]) -> None:
        """Cancel what the closed page showed. Newer questions get a new page."""
        self.board.leave(ids)
        if self.board.ids:
            self._show()

    async def _open_page(self) -> None:
        """Open the page, and again if it was closed while there are questions that the user hasn't seen."""
        try:
            while await self._open_once():
                await asyncio.sleep(PAGE_OPEN_SECONDS)
                if self._presence.here or not self.board.ids:
                    break
        finally:
            self._opening = None

    async def _open_once(self) -> bool:
        """Open the page once. Return whether it was loaded; if not, tell the user its address."""
        address, arrival = self._gate.address(), self._presence.expect()
        if not await self._launch(address):
            message = _("You have a question to answer. Open this page (the address works once):\n  {address}")
            self._tell(message.format(address=address))
            await arrival.wait()
        elif not await _within(PAGE_UNSEEN_SECONDS, arrival):
            message = _(
                "You have a question to answer. If no page has opened, open this one (the address works once):\n"
                "  {address}"
            )
            self._tell(message.format(address=address))
        return arrival.is_set()

    async def _launch(self, address: str) -> bool:
        if self._open is None:
            return False
        try:
            return await anyio.to_thread.run_sync(self._open, address, abandon_on_cancel=True) is not False
        except Exception:
            return False


def _print_error(text: str) -> None:
    """Print, don't log: anyone who reads the address can answer."""
    print(text, file=sys.stderr, flush=True)


async def _within(seconds: float, event: asyncio.Event) -> bool:
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return False
