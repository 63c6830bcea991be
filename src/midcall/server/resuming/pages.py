"""The pages that an unfinished call waits for, and the user's way from one of them to the next.

A resume code says which pages its call waits for. A request that brings the code waits for them, and takes the turn
only once the user is done on one of them: so waiting uses nothing up. Without a request, the live run does the same.
The pages may be the portal's, the author's, or questions in an App.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from midcall.core.journal import Journal, mark_name
from midcall.errors import StoreError
from midcall.stores.interactions import Interactions, Next, Where

if TYPE_CHECKING:
    from midcall.server.call import Call

_AWAITED: Final = mark_name("awaited")
"""The mark in the journal: what its resume code waits for."""

PageKind: TypeAlias = Literal["portal", "app", "visit", "required"]
"""A page of the portal; a question in an App, perhaps with a page; the author's page, which a tool waits for; and one
that a tool requires, and finds out for itself whether its user is done there."""


class Page(NamedTuple):
    """A page that a call waits for."""

    id: str
    until: float = inf
    """When it expires."""
    address: str = ""
    """Where it is, if it has an address."""
    message: str = ""
    """What it is for."""
    kind: PageKind = "portal"

    @property
    def is_ours(self) -> bool:
        """Whether the portal serves it."""
        return bool(self.address) and self.kind in ("portal", "app")


def note_pages(call: Call, pages: Iterable[Page]) -> None:
    """Write down what the code that is about to be given out waits for."""
    listed = [[page.id, None if page.until == inf else page.until, *page[2:]] for page in pages]
    if listed:
        call.replay.mark(_AWAITED, "awaited", listed)
    else:
        call.journal.forget(_AWAITED)


def pages_of(journal: Journal) -> list[Page]:
    """What the code of this journal waits for."""
    mark = journal.entry(_AWAITED)
    if mark is None:
        return []
    return [Page(id, inf if until is None else until, *more) for id, until, *more in mark.value]


def addresses_of(pages: Sequence[Page]) -> list[str]:
    """The addresses that a user may need again. Pages of the portal lead to each other, so one of them is enough."""
    ours = [page.address for page in pages if page.is_ours][:1]
    return list(dict.fromkeys([*ours, *(page.address for page in pages if page.address and not page.is_ours)]))


def finds_out(pages: Sequence[Page]) -> bool:
    """Whether the call has to continue to find out if its user is done: its author may never say so."""
    return any(page.kind == "required" for page in pages)


class Trail:
    """Leads the user from each page of a call to the next one, in the same tab of the browser.

    The pages may be served by another process: everything is in the store. If that fails, or the next page is at
    another address, the page sends the user back to the client, and nothing is lost.
    """

    def __init__(self, interactions: Interactions, owner: str) -> None:
        self._interactions = interactions
        self._owner = owner
        self._open: dict[str, str] = {}
        """Those without an answer, and at which address each is served."""
        self._passed: dict[str, str] = {}
        """Those with an answer, which don't lead anywhere yet."""

    async def open(self, pages: Sequence[Page]) -> None:
        """The call waits for these: they are the next ones."""
        new = [page for page in pages if page.is_ours and page.id not in self._open]
        self._open.update((page.id, page.address.rpartition("/i/")[0]) for page in new)
        passed, self._passed = self._passed, {}
        try:
            for page in new:
                await self._interactions.expect_next(page.id, self._owner, now=time.time(), expires=page.until)
        except StoreError:
            pass
        await self._lead_on(passed)

    async def leave(self, id: str) -> None:
        """The user is done on this one. If others wait, it leads to the first of them."""
        passed = {id: self._open.pop(id, "")}
        if self._open:
            await self._lead_on(passed)
        else:
            self._passed |= passed

    async def end(self, where: Where, *, others_stay: bool = False) -> None:
        """Nothing comes after these pages; with `others_stay`, only after those that have an answer."""
        ended, self._passed = self._passed, {}
        if not others_stay:
            ended |= self._open
            self._open = {}
        await self._lead(ended, Next(where))

    async def _lead_on(self, passed: Mapping[str, str]) -> None:
        """Lead from each of these to the first page that is served where it is."""
        for id, place in passed.items():
            follows = next((each for each, other in self._open.items() if other == place), None)
            await self._lead((id,), Next("back") if follows is None else Next("page", follows))

    async def _lead(self, ids: Iterable[str], to: Next) -> None:
        try:
            for id in ids:
                await self._interactions.lead(id, to, now=time.time())
        except StoreError:
            pass
