"""The page from its first question to its end: served, opened, closed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final

import anyio.to_thread

from midcall.client.asked import Asked
from midcall.client.browser.board import Board
from midcall.client.browser.gate import Gate
from midcall.client.browser.presence import Presence
from midcall.client.browser.site import site
from midcall.client.browser.views import Views
from midcall.client.pending import Pending
from midcall.client.visits.waiting import Waiting
from midcall.core.outcome import Outcome
from midcall.web.serving import Listening, bound
from midcall.wording.client import page as wording

__all__ = ["Session"]

_NOT_SEEN: Final = 10.0
"""Seconds after which the user is told the address, if no page was opened by then."""
_BETWEEN: Final = 5.0
"""Seconds between two openings: who asks again and again does not open page after page."""


class Session:
    """One page, in the event loop that runs."""

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
    ) -> None:
        where = bound(host, port)
        name = f"[{host}]" if ":" in host else host.lower()
        self._gate = Gate(f"{name}:{where.getsockname()[1]}")
        self._board = Board(Pending(limit=limit))
        self._presence = Presence(grace, lambda: self._board.ids, self._left)
        self._listening = Listening(site(self._board, self._gate, self._presence, views), where)
        self._open = open
        self._tell = tell
        self._opening: asyncio.Task[None] | None = None

    @property
    def ended(self) -> bool:
        return self._listening.ended

    async def ask(self, asked: Asked) -> Outcome[Any]:
        if self._board.pending.full:
            self._board.touch()
            return await self._board.pending.answer(asked)
        self._show()
        return await self._board.ask(asked)

    async def wait(self, waiting: Waiting) -> bool:
        self._show()
        with self._board.hold(waiting) as held:
            watching = asyncio.create_task(self._watch(waiting))
            try:
                return await held.again
            finally:
                watching.cancel()

    async def _watch(self, waiting: Waiting) -> None:
        while True:
            await waiting.changed()
            self._board.touch()

    async def close(self) -> None:
        self._presence.close()
        self._board.close()
        if self._opening is not None:
            self._opening.cancel()
        await self._listening.close()

    # --- opening the page -----------------------------------------------------------------------

    def _show(self) -> None:
        """See to it that the user has the page open."""
        if not self._presence.here and self._opening is None:
            self._opening = asyncio.create_task(self._open_page(), name="midcall browser opening")

    def _left(self, ids: Sequence[str]) -> None:
        """The page was closed: that cancels what it showed. What came after that gets a new one."""
        self._board.leave(ids)
        if self._board.ids:
            self._show()

    async def _open_page(self) -> None:
        """Open it; and again, if it was closed and there is something that the user has not seen."""
        try:
            while await self._open_once():
                await asyncio.sleep(_BETWEEN)
                if self._presence.here or not self._board.ids:
                    break
        finally:
            self._opening = None

    async def _open_once(self) -> bool:
        """Whether someone has come. If not, the user is told where to go."""
        address, arrival = self._gate.address(), self._presence.expect()
        if not await self._opened(address):
            self._tell(wording.open_the_page(address))
            await arrival.wait()
        elif not await _within(_NOT_SEEN, arrival):
            self._tell(wording.page_not_seen(address))
        return arrival.is_set()

    async def _opened(self, address: str) -> bool:
        if self._open is None:
            return False
        try:
            return await anyio.to_thread.run_sync(self._open, address, abandon_on_cancel=True) is not False
        except Exception:
            return False


async def _within(seconds: float, event: asyncio.Event) -> bool:
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return False
