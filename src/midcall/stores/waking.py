"""Waking those who wait for a record.

Who waits hangs up a bell, then reads. So nothing that happens in between is missed. A bell is rung by

- whoever completes the record in this process,
- an *ear*: a connection that hears of completions in other processes,
- a *look*, every now and then, at all records that somebody waits for: one query for all of them.
  It finds what was missed before the ear could hear; where nothing is heard, it looks often.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from typing import Protocol, TypeAlias

from midcall.stores.base import Record, StoreError
from midcall.wording import stores as words

__all__ = ["Ear", "Look", "Read", "Waking"]

Read: TypeAlias = Callable[[str], Awaitable[Record | None]]
Look: TypeAlias = Callable[[Sequence[str]], Awaitable[set[str]]]
"""Which of these records are no longer pending."""

log = logging.getLogger("midcall.store")

_PAUSES = (0.05, 0.2, 1.0, 2.0, 5.0)


class Ear(Protocol):
    """Hears of completions in other processes."""

    async def __call__(self, ring: Callable[[str], None], hears: Callable[[], None]) -> float:
        """Listen until the connection breaks, which raises.

        `hears` is called as soon as nothing will be missed any more. Where there is nothing to be heard,
        this returns after how many seconds to try again.
        """
        ...


class Waking:
    """Who waits for which record, on one event loop."""

    def __init__(
        self, look: Look | None = None, ear: Ear | None = None, *, often: float = 0.1, seldom: float = 5.0
    ) -> None:
        self._look = look
        self._ear = ear
        self._often = often
        self._seldom = seldom
        self._bells: dict[str, set[asyncio.Event]] = {}
        self._hears = False
        self._look_now = asyncio.Event()
        self._listening: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def waiting(self) -> int:
        """How many records somebody waits for."""
        return len(self._bells)

    async def wait(self, id: str, seconds: float, read: Read) -> Record | None:
        """See `Store.wait`. `read` reads a record."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        with self._bell(id) as bell:
            self._watch()
            while True:
                bell.clear()
                record = await read(id)
                left = until - loop.time()
                if record is None or not record.pending or left <= 0:
                    return record
                with suppress(TimeoutError):
                    async with asyncio.timeout(left):
                        await bell.wait()
                if self._closed:
                    raise StoreError(words.closed_while_waiting(), advice=words.open_it_again())

    def ring(self, id: str) -> None:
        """Something came of this record."""
        for bell in self._bells.get(id, ()):
            bell.set()

    def look_soon(self) -> None:
        """Something may have happened to any record."""
        self._look_now.set()

    async def close(self) -> None:
        """Stop listening and looking. Who waits hears of it."""
        self._closed = True
        for id in self._bells:
            self.ring(id)
        tasks = [task for task in (self._listening, self._looking) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @contextmanager
    def _bell(self, id: str) -> Generator[asyncio.Event]:
        bell = asyncio.Event()
        self._bells.setdefault(id, set()).add(bell)
        try:
            yield bell
        finally:
            self._bells[id].discard(bell)
            if not self._bells[id]:
                del self._bells[id]

    def _watch(self) -> None:
        """See to it that somebody rings."""
        if self._look is not None and (self._looking is None or self._looking.done()):
            self._looking = asyncio.create_task(self._look_around(self._look), name="midcall store: look")
        if self._ear is not None and self._listening is None:
            self._listening = asyncio.create_task(self._listen(self._ear), name="midcall store: listen")

    async def _look_around(self, look: Look) -> None:
        """As long as anybody waits."""
        failures = 0
        while self._bells:
            await self._until_next_look()
            try:
                for id in await look(list(self._bells)):
                    self.ring(id)
                failures = 0
            except Exception as error:
                failures = await _failed(error, failures)

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


async def _failed(error: Exception, failures: int) -> int:
    """Say so once, and pause before the next try. Who waits goes on waiting: the store may come back."""
    if not failures:
        log.warning("%s", error if isinstance(error, StoreError) else words.watching_failed(type(error).__name__))
    await asyncio.sleep(_PAUSES[min(failures, len(_PAUSES) - 1)])
    return failures + 1
