"""Open a store's connections when they're first needed, once per process and event loop.

Connections belong to the loop that made them, and don't survive a fork. After a loop has ended, or after a fork,
they're abandoned and opened again.
"""

from __future__ import annotations

import asyncio
import os
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from midcall.errors import StoreError
from midcall.stores.backend.wakeup import Wakeups
from midcall.stores.base import Record


class _Open(Protocol):
    """What a store has open."""

    @property
    def wakeups(self) -> Wakeups: ...


OpenT = TypeVar("OpenT", bound=_Open)


@dataclass(slots=True)
class _Place(Generic[OpenT]):
    """One process and one loop, and what is open there."""

    process: int
    loop: asyncio.AbstractEventLoop
    opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    what: OpenT | None = None

    def is_here(self) -> bool:
        return self.loop is asyncio.get_running_loop() and self.process == os.getpid()


class Connected(Generic[OpenT]):
    """A store that opens itself when it's first used. Once closed, only `open` opens it again.

    Args:
        what: Names it in messages, without user and password.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._place: _Place[OpenT] | None = None
        self._closed = False

    def __repr__(self) -> str:
        return f"<{self._what}>"

    async def open(self) -> None:
        self._closed = False
        await self._open()

    async def close(self) -> None:
        self._closed = True
        place = self._place
        if place is not None and place.is_here():
            async with place.opening:
                what, place.what = place.what, None
                if what is not None:
                    await self._stop(what)
        elif place is not None:
            self._abandon_place(place)
        self._place = None

    async def wait(self, id: str, seconds: float, *, version: int | None = None) -> Record | None:
        return await (await self._get()).wakeups.wait(id, seconds, self.read, version=version)

    @abstractmethod
    async def read(self, id: str) -> Record | None: ...

    @abstractmethod
    async def _start(self) -> OpenT:
        """Connect."""

    @abstractmethod
    async def _stop(self, it: OpenT) -> None:
        """Disconnect."""

    def _abandon(self, it: OpenT) -> None:
        """Release, without a loop, what was opened on a loop that has ended."""

    async def _get(self) -> OpenT:
        """What is open here; opened, if nothing is."""
        if self._closed:
            raise StoreError("The store is closed", advice="Call open() to use it again.")
        what = self._here().what
        return what if what is not None else await self._open()

    def _ring(self, id: str) -> None:
        """Wake the waiters in this process now: a notification takes longer."""
        place = self._place
        if place is not None and place.is_here() and place.what is not None:
            place.what.wakeups.ring(id)

    async def _open(self) -> OpenT:
        place = self._here()
        async with place.opening:
            if place.what is None:
                place.what = await self._start()
            return place.what

    def _here(self) -> _Place[OpenT]:
        place = self._place
        if place is None or not place.is_here():
            if place is not None:
                self._abandon_place(place)
            place = self._place = _Place(os.getpid(), asyncio.get_running_loop())
        return place

    def _abandon_place(self, place: _Place[OpenT]) -> None:
        if place.process != os.getpid():
            _inherited.append(place)
        elif not place.loop.is_closed():
            raise StoreError(
                "The store is in use on another event loop",
                advice="Make one store for each event loop, or close it there before you use it here.",
            )
        elif place.what is not None:
            self._abandon(place.what)


_inherited: list[object] = []
"""What a fork copied. The parent closes it; here it only must not be collected."""
