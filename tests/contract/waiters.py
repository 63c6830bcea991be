"""The waiters inside a store."""

from __future__ import annotations

import asyncio

from midcall.stores import Store


def waking(store: Store):
    inside = getattr(store, "_wakeups", None)
    return inside if inside is not None else store._place.what.wakeups  # pyright: ignore


async def watched(store: Store) -> None:
    """Wait until all started tasks have registered and read."""
    async with asyncio.timeout(10):
        while not waking(store).waiting:
            await asyncio.sleep(0.01)
        for _ in range(5):
            await store.read("an-id")
