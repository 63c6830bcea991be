"""Purge records that expired a while ago."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable
from types import TracebackType

from midcall.errors import StoreError
from midcall.settings.stores import EXPIRED_KEEP_SECONDS, PURGE_EVERY_SECONDS
from midcall.stores.base import Store

log = logging.getLogger("midcall.store")


class Sweeper:
    """Purges a store regularly while it runs.

        async with Sweeper(store): ...

    Any number of replicas may do it. Each starts at a random time, and one that can't reach the store tries again the
    next time.

    Args:
        every: Seconds between purges.
        keep: Seconds that records stay after they expire, so that late callers learn that they did.
        clock: The current time.
    """

    def __init__(
        self,
        store: Store,
        *,
        every: float = PURGE_EVERY_SECONDS,
        keep: float = EXPIRED_KEEP_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._every = every
        self._keep = keep
        self._clock = clock
        self._task: asyncio.Task[None] | None = None

    async def sweep(self) -> int:
        """Purge now. Returns how many records were removed."""
        return await self._store.sweep(self._clock() - self._keep)

    def start(self) -> None:
        """Start on this event loop. Starting twice does nothing."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name="midcall store: sweep")

    async def stop(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def __aenter__(self) -> Sweeper:
        self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def _run(self) -> None:
        pause = random.uniform(0, self._every)
        while True:
            await asyncio.sleep(pause)
            pause = self._every
            try:
                if removed := await self.sweep():
                    log.info("%s", describe_removed(removed))
            except StoreError as error:
                log.warning("%s", error)


def describe_removed(count: int) -> str:
    return f"Removed {count:,} {'record' if count == 1 else 'records'}."
