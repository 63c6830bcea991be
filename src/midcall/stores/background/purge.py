"""Clean-up: removes records whose time has been over for a while."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable
from types import TracebackType

from midcall.stores.base import Store, StoreError
from midcall.wording import stores as words

__all__ = ["Sweeper"]

log = logging.getLogger("midcall.store")


class Sweeper:
    """Sweeps a store now and then, for as long as it runs.

        async with Sweeper(store): ...

    Any number of replicas may do it. Each one begins at a time of its own, and one that cannot reach the
    store tries again the next time.

    Args:
        every: Seconds from one sweep to the next.
        keep: Seconds that records stay after their time is over, so that whoever comes late is told so.
        clock: What time it is.
    """

    def __init__(
        self,
        store: Store,
        *,
        every: float = 600.0,
        keep: float = 24 * 60 * 60.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._every = every
        self._keep = keep
        self._clock = clock
        self._task: asyncio.Task[None] | None = None

    async def sweep(self) -> int:
        """Do it now. How many records were removed."""
        return await self._store.sweep(self._clock() - self._keep)

    def start(self) -> None:
        """Begin, on this event loop. Doing it twice does nothing."""
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
                    log.info("%s", words.swept(removed))
            except StoreError as error:
                log.warning("%s", error)
