"""Servers that share a store, in one process: each has its own client, and the test sees which of them ran what."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from mcp import Client

from midcall.errors import StoreError
from midcall.stores import Store
from midcall.testing import connect
from tests.calling import Elicit, Means, asking

KEYS = ["k key of the tests: 0123456789abcdef"]
Body = Callable[[str, Elicit], Awaitable[str]]
"""A tool that is told at which replica it runs."""


class Wire:
    """The way to a store, with faults: it can be cut, and replies can be lost or held up."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.is_cut = False
        self._lost: list[str] = []
        self._held: dict[str, tuple[asyncio.Event, asyncio.Event]] = {}
        self._slow: dict[str, tuple[asyncio.Event, asyncio.Event]] = {}
        self.calls: list[str] = []

    def lose_reply(self, *methods: str) -> None:
        """The next call of each of these does what it does, and its reply is lost."""
        self._lost += methods

    def hold_reply(self, method: str) -> tuple[asyncio.Event, asyncio.Event]:
        """The next call of this does what it does, and its reply waits. Set when it has come, and to let it go.

        Heartbeats and quotas don't count.
        """
        self._held[method] = asyncio.Event(), asyncio.Event()
        return self._held[method]

    def hold_call(self, method: str) -> tuple[asyncio.Event, asyncio.Event]:
        """The next call of this waits before it does anything. Set when it was made, and to let it go."""
        self._slow[method] = asyncio.Event(), asyncio.Event()
        return self._slow[method]

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if name not in ("create", "change", "read", "look", "complete", "consume", "wait"):
            return method

        async def call(*args: Any, **options: Any) -> Any:
            if self.is_cut:
                raise StoreError("The wire is cut.")
            self.calls.append(name)
            counts = not (args and getattr(args[0], "kind", "") in ("replica", "usage"))
            if name in self._slow and counts:
                made, go_on = self._slow.pop(name)
                made.set()
                await go_on.wait()
            result = await method(*args, **options)
            if name in self._held and counts:
                came, go_on = self._held.pop(name)
                came.set()
                await go_on.wait()
            if name in self._lost or self.is_cut:
                if name in self._lost:
                    self._lost.remove(name)
                raise StoreError("The reply was lost.")
            return result

        return call


class Replica:
    """One replica, in its own task, so that each can stop at any time."""

    client: Client
    server: Any

    def __init__(self, name: str, wire: Wire) -> None:
        self.name = name
        self.wire = wire
        self._serving: asyncio.Task[None] | None = None
        self._started, self._stopped = asyncio.Event(), asyncio.Event()

    async def start(self, means: Means, body: Body, options: dict[str, Any], client: dict[str, Any]) -> None:
        async def tool(elicit: Elicit) -> str:
            return await body(self.name, elicit)

        self.server = asking(means, tool, keys=KEYS, store=self.wire, **options)
        self._serving = asyncio.create_task(self._serve(client))
        await self._started.wait()

    async def _serve(self, options: dict[str, Any]) -> None:
        async with connect(self.server, **options) as self.client:
            self._started.set()
            await self._stopped.wait()

    async def stop(self) -> None:
        """As an operator would."""
        self._stopped.set()
        if self._serving is not None:
            await self._serving


@asynccontextmanager
async def replicas(
    stores: Callable[[], Store], body: Body, *, means: Means = "mcpserver", client: Any = None, **options: Any
) -> AsyncIterator[tuple[Replica, Replica, Replica]]:
    """Three that share a store, and run this tool."""
    opened = [stores() for _ in range(3)]
    found = [Replica(name, Wire(store)) for name, store in zip("abc", opened, strict=True)]
    try:
        async with asyncio.timeout(30):
            for each in found:
                await each.start(means, body, options, client or {})
            yield found[0], found[1], found[2]
    finally:
        for each in found:
            await each.stop()
        for store in opened:
            await store.close()
