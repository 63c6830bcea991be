"""Those who wait, inside of a store."""

from __future__ import annotations

import asyncio

from midcall.stores import Store


def waking(store: Store):
    inside = getattr(store, "_waking", None)
    return inside if inside is not None else store._life._place.what.waking  # pyright: ignore


async def watched(store: Store) -> None:
    """Until all tasks that were started have hung up their bells and read."""
    async with asyncio.timeout(10):
        while not waking(store).waiting:
            await asyncio.sleep(0.01)
        for _ in range(5):
            await store.read("an-id")
