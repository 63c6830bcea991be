"""Waking those who wait for a record.

Who waits hangs up a bell, then reads. So nothing that happens in between is missed. A bell is rung by

- whoever changes the record in this process,
- an *ear*: a connection that hears of changes in other processes,
- a *look*, every now and then, at the versions of all records that somebody waits for: one query for all
  of them. Each waiter remembers the version it has read, so a look finds every change that was not heard:
  before the ear could hear, while its connection was broken, or because a notification was lost. If
  nothing can be heard, it looks often.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from midcall.stores.base import Record, StoreError
from midcall.wording import stores as words

__all__ = ["Ear", "Look", "Read", "Waking"]

Read: TypeAlias = Callable[[str], Awaitable[Record | None]]
Look: TypeAlias = Callable[[Sequence[str]], Awaitable[Mapping[str, int] | None]]
"""The versions of those of these records that exist; None if nothing at all has changed since the last look."""

log = logging.getLogger("midcall.store")

_PAUSES = (0.05, 0.2, 1.0, 2.0, 5.0)
_ABSENT = 0
_NOT_READ = -1


class Ear(Protocol):
    """Hears of changes in other processes."""

    async def __call__(self, ring: Callable[[str], None], hears: Callable[[], None]) -> float:
        """Listen until the connection breaks, which raises.

        `hears` is called as soon as nothing will be missed any more. Where there is nothing to be heard,
        this returns after how many seconds to try again.
        """
        ...


@dataclass(slots=True, eq=False)
class _Waiter:
    """One that waits for a record."""

    bell: asyncio.Event = field(default_factory=asyncio.Event)
    version: int = _NOT_READ
    """What it has read: any other version is news."""


class Waking:
    """Who waits for which record, on one event loop."""

    def __init__(
        self, look: Look | None = None, ear: Ear | None = None, *, often: float = 0.1, seldom: float = 5.0
    ) -> None:
        self._look = look
        self._ear = ear
        self._often = often
        self._seldom = seldom
        self._waiters: dict[str, set[_Waiter]] = {}
        self._hears = False
        self._look_now = asyncio.Event()
        self._listening: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def waiting(self) -> int:
        """How many records somebody waits for."""
        return len(self._waiters)

    async def wait(self, id: str, seconds: float, read: Read, *, version: int | None = None) -> Record | None:
        """See `Store.wait`. `read` reads a record."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        with self._waiter(id) as waiter:
            self._watch()
            while True:
                waiter.bell.clear()
                record = await read(id)
                left = until - loop.time()
                if _is_news(record, version) or left <= 0:
                    return record
                waiter.version = _version_of(record)
                with suppress(TimeoutError):
                    async with asyncio.timeout(left):
                        await waiter.bell.wait()
                if self._closed:
                    raise StoreError("The store was closed while somebody waited for it", advice=words.open_it_again())

    def ring(self, id: str) -> None:
        """This record has changed."""
        for waiter in self._waiters.get(id, ()):
            waiter.bell.set()

    def look_soon(self) -> None:
        """Something may have happened to any record."""
        self._look_now.set()

    async def close(self) -> None:
        """Stop listening and looking. Who waits hears of it."""
        self._closed = True
        for id in self._waiters:
            self.ring(id)
        tasks = [task for task in (self._listening, self._looking) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @contextmanager
    def _waiter(self, id: str) -> Generator[_Waiter]:
        waiter = _Waiter()
        self._waiters.setdefault(id, set()).add(waiter)
        try:
            yield waiter
        finally:
            self._waiters[id].discard(waiter)
            if not self._waiters[id]:
                del self._waiters[id]

    def _watch(self) -> None:
        """See to it that somebody rings."""
        if self._look is not None and (self._looking is None or self._looking.done()):
            self._looking = asyncio.create_task(self._look_around(self._look), name="midcall store: look")
        if self._ear is not None and self._listening is None:
            self._listening = asyncio.create_task(self._listen(self._ear), name="midcall store: listen")

    async def _look_around(self, look: Look) -> None:
        """As long as anybody waits."""
        failures = 0
        while self._waiters:
            await self._until_next_look()
            try:
                ids = list(self._waiters)
                self._compare(ids, await look(ids))
                failures = 0
            except Exception as error:
                failures = await _failed(error, failures)

    def _compare(self, ids: Sequence[str], versions: Mapping[str, int] | None) -> None:
        """Wake those who have read another version. One that is still reading reads again: it may be too early."""
        if versions is None:
            return
        for id in ids:
            for waiter in self._waiters.get(id, ()):
                if waiter.version != versions.get(id, _ABSENT):
                    waiter.bell.set()

    async def _until_next_look(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._seldom if self._hears else self._often):
                await self._look_now.wait()
        self._look_now.clear()

    async def _listen(self, ear: Ear) -> None:
        failures = 0
        while True:
            try:
                await asyncio.sleep(await ear(self.ring, self._hear))
            except Exception as error:
                failures = await _failed(error, 0 if self._hears else failures)
            finally:
                self._hears = False
                self._look_now.set()

    def _hear(self) -> None:
        """From now on nothing is missed; what was missed before is found by looking once."""
        self._hears = True
        self._look_now.set()


def _version_of(record: Record | None) -> int:
    return _ABSENT if record is None else record.version


def _is_news(record: Record | None, version: int | None) -> bool:
    if version is not None:
        return _version_of(record) != version
    return record is None or not record.pending


async def _failed(error: Exception, failures: int) -> int:
    """Say so once, and pause before the next try. Who waits goes on waiting: the store may come back."""
    if not failures:
        log.warning(
            "%s",
            error
            if isinstance(error, StoreError)
            else f"Watching the store failed with {type(error).__name__}; trying again",
        )
    await asyncio.sleep(_PAUSES[min(failures, len(_PAUSES) - 1)])
    return failures + 1
