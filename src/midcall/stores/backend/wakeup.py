"""Wake the callers waiting for a record.

A waiter registers first and reads then, so that it misses nothing in between. It's woken by

- a change in this process,
- a *listener*: a connection that hears of changes in other processes,
- a *poll*, now and then, for the versions of all records that somebody waits for, in one query. Each waiter remembers
  the version it has read, so a poll finds every change that the listener missed: before it was ready, while its
  connection was broken, or because a notification was lost. Without a listener, polls are frequent.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from midcall.errors import StoreError
from midcall.settings.stores import STORE_FALLBACK_POLL_SECONDS, STORE_POLL_SECONDS, STORE_RETRY_SECONDS
from midcall.stores.base import Record

Read: TypeAlias = Callable[[str], Awaitable[Record | None]]
Poll: TypeAlias = Callable[[Sequence[str]], Awaitable[Mapping[str, int] | None]]
"""The versions of those records that exist, or None if nothing has changed since the last poll."""

log = logging.getLogger("midcall.store")

_ABSENT = 0
_NOT_READ = -1


class Listener(Protocol):
    """Hears of changes in other processes."""

    async def __call__(self, ring: Callable[[str], None], ready: Callable[[], None]) -> float:
        """Listen until the connection breaks, which raises.

        It calls `ready` as soon as it misses nothing. If there is nothing to hear, it returns after how many seconds to
        try again.
        """
        ...


@dataclass(slots=True, eq=False)
class _Waiter:
    """A caller waiting for a record."""

    bell: asyncio.Event = field(default_factory=asyncio.Event)
    version: int = _NOT_READ
    """The version it has read; any other one is news."""


class Wakeups:
    """The waiters for each record, on one event loop."""

    def __init__(
        self,
        poll: Poll | None = None,
        listener: Listener | None = None,
        *,
        often: float = STORE_POLL_SECONDS,
        seldom: float = STORE_FALLBACK_POLL_SECONDS,
    ) -> None:
        self._poll = poll
        self._listener = listener
        self._often = often
        self._seldom = seldom
        self._waiters: dict[str, set[_Waiter]] = {}
        self._is_listening = False
        self._poll_now = asyncio.Event()
        self._listening: asyncio.Task[None] | None = None
        self._polling: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def waiting(self) -> int:
        """How many records have waiters."""
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
                    raise StoreError("The store was closed while waiting for it", advice="Call open() to use it again.")

    def ring(self, id: str) -> None:
        """Wake everyone waiting for this record: it has changed."""
        for waiter in self._waiters.get(id, ()):
            waiter.bell.set()

    def poll_soon(self) -> None:
        """Poll now: any record may have changed."""
        self._poll_now.set()

    async def close(self) -> None:
        """Stop listening and polling. All waiters get a `StoreError`."""
        self._closed = True
        for id in self._waiters:
            self.ring(id)
        tasks = [task for task in (self._listening, self._polling) if task is not None]
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
        """Make sure that the poll and the listener run."""
        if self._poll is not None and (self._polling is None or self._polling.done()):
            self._polling = asyncio.create_task(self._poll_until_idle(self._poll), name="midcall store: poll")
        if self._listener is not None and self._listening is None:
            self._listening = asyncio.create_task(self._listen(self._listener), name="midcall store: listen")

    async def _poll_until_idle(self, poll: Poll) -> None:
        failures = 0
        while self._waiters:
            await self._wait_for_poll()
            try:
                ids = list(self._waiters)
                self._compare(ids, await poll(ids))
                failures = 0
            except Exception as error:
                failures = await _back_off(error, failures)

    def _compare(self, ids: Sequence[str], versions: Mapping[str, int] | None) -> None:
        """Wake the waiters that have read another version. One that is still reading reads again."""
        if versions is None:
            return
        for id in ids:
            for waiter in self._waiters.get(id, ()):
                if waiter.version != versions.get(id, _ABSENT):
                    waiter.bell.set()

    async def _wait_for_poll(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._seldom if self._is_listening else self._often):
                await self._poll_now.wait()
        self._poll_now.clear()

    async def _listen(self, listener: Listener) -> None:
        failures = 0
        while True:
            try:
                await asyncio.sleep(await listener(self.ring, self._set_ready))
            except Exception as error:
                failures = await _back_off(error, 0 if self._is_listening else failures)
            finally:
                self._is_listening = False
                self._poll_now.set()

    def _set_ready(self) -> None:
        """The listener misses nothing from now on; one poll finds what it missed before."""
        self._is_listening = True
        self._poll_now.set()


def _version_of(record: Record | None) -> int:
    return _ABSENT if record is None else record.version


def _is_news(record: Record | None, version: int | None) -> bool:
    if version is not None:
        return _version_of(record) != version
    return record is None or not record.pending


async def _back_off(error: Exception, failures: int) -> int:
    """Log the first failure, and pause. Waiters keep waiting: the store may come back."""
    if not failures:
        log.warning(
            "%s",
            error
            if isinstance(error, StoreError)
            else f"Watching the store failed with {type(error).__name__}; retrying",
        )
    await asyncio.sleep(STORE_RETRY_SECONDS[min(failures, len(STORE_RETRY_SECONDS) - 1)])
    return failures + 1
