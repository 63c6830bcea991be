"""What is open in this process and on this event loop.

Connections belong to the loop that made them, and do not survive a fork. So what a store has open is
kept together with where it was opened: a loop that has ended, or the parent's side of a fork, is left
behind, and it is opened anew.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from midcall.stores.base import StoreError
from midcall.wording import stores as words

__all__ = ["Life"]

T = TypeVar("T")


@dataclass(slots=True)
class _Place(Generic[T]):
    """One process and one loop, and what is open there."""

    process: int
    loop: asyncio.AbstractEventLoop
    opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    what: T | None = None


class Life(Generic[T]):
    """Opens something when it is first needed, once, and closes it."""

    def __init__(
        self,
        start: Callable[[], Awaitable[T]],
        stop: Callable[[T], Awaitable[None]],
        leave: Callable[[T], None] = lambda _: None,
    ) -> None:
        """`leave` lets go, without a loop, of what was opened on one that has ended."""
        self._start = start
        self._stop = stop
        self._leave = leave
        self._place: _Place[T] | None = None
        self._closed = False

    async def open(self) -> T:
        """What is open here; opened, if it is not."""
        self._closed = False
        place = self._here()
        async with place.opening:
            if place.what is None:
                place.what = await self._start()
            return place.what

    async def get(self) -> T:
        """The same, for those who use it: once closed, it does not open itself again."""
        if self._closed:
            raise StoreError("The store is closed", advice=words.open_it_again())
        here = self._here().what
        return here if here is not None else await self.open()

    def here(self) -> T | None:
        """What is open here now, if anything is."""
        place = self._place
        return place.what if place is not None and self._is_here(place) else None

    async def close(self) -> None:
        """Let go of it. What is being opened just now is closed as well."""
        self._closed = True
        place = self._place
        if place is not None and self._is_here(place):
            async with place.opening:
                what, place.what = place.what, None
                if what is not None:
                    await self._stop(what)
        elif place is not None:
            self._leave_behind(place)
        self._place = None

    def _here(self) -> _Place[T]:
        place = self._place
        if place is None or not self._is_here(place):
            if place is not None:
                self._leave_behind(place)
            place = self._place = _Place(os.getpid(), asyncio.get_running_loop())
        return place

    @staticmethod
    def _is_here(place: _Place[T]) -> bool:
        return place.loop is asyncio.get_running_loop() and place.process == os.getpid()

    def _leave_behind(self, place: _Place[T]) -> None:
        if place.process != os.getpid():
            _of_the_parent.append(place)
        elif not place.loop.is_closed():
            raise StoreError(
                "The store is in use on another event loop",
                advice="Make one store for each event loop, or close it there before you use it here.",
            )
        elif place.what is not None:
            self._leave(place.what)


_of_the_parent: list[object] = []
"""What a fork brought along. It is the parent's to close: here it is only kept from being collected."""
