"""Hear of changes in other processes, on a connection that does nothing else."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from midcall.errors import StoreError
from midcall.settings import (
    POSTGRES_CLOSE_SECONDS,
    POSTGRES_LISTEN_AGAIN_SECONDS,
    POSTGRES_LISTEN_SECONDS,
    POSTGRES_PING_SECONDS,
    POSTGRES_PONG_SECONDS,
)
from midcall.stores.backend.rows import unescape

CHANNEL = "midcall"

log = logging.getLogger("midcall.store")


class PostgresListener:
    """LISTEN on a dedicated connection.

    A pooler in transaction mode accepts LISTEN and never delivers anything. So this notifies itself first, over another
    connection, and gives up if it doesn't hear that.
    """

    def __init__(
        self, what: str, connect: Callable[[], Awaitable[Any]], say: Callable[[str], Awaitable[object]]
    ) -> None:
        self._what = what
        self._connect = connect
        self._say = say
        self._warned = False

    async def __call__(self, ring: Callable[[str], None], ready: Callable[[], None]) -> float:
        connection = await self._connect()
        try:
            return await self._listen(connection, ring, ready)
        finally:
            await _close(connection)

    async def _listen(self, connection: Any, ring: Callable[[str], None], ready: Callable[[], None]) -> float:
        lost, itself = asyncio.Event(), asyncio.Event()
        hello = f"hello {secrets.token_hex(8)}"

        def on_message(_connection: object, _process: int, _channel: str, message: str) -> None:
            itself.set() if message == hello else ring(unescape(message))

        def on_end(_connection: object) -> None:
            lost.set()

        connection.add_termination_listener(on_end)
        await connection.add_listener(CHANNEL, on_message)
        await self._say(hello)
        if not await _is_set(itself, POSTGRES_LISTEN_SECONDS):
            self._warn()
            return POSTGRES_LISTEN_AGAIN_SECONDS
        ready()
        while not await _is_set(lost, POSTGRES_PING_SECONDS):
            await connection.execute("SELECT 1", timeout=POSTGRES_PONG_SECONDS)  # a connection can die silently
        raise StoreError(
            f"The connection to {self._what} was lost",
            advice="midcall reconnects, and polls for changes meanwhile.",
        )

    def _warn(self) -> None:
        if not self._warned:
            log.warning(
                "%s does not deliver notifications, as behind PgBouncer in transaction mode. midcall polls for changes "
                "in other processes instead, ten times a second.",
                self._what,
            )
        self._warned = True


async def _is_set(event: asyncio.Event, seconds: float) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()


async def _close(connection: Any) -> None:
    try:
        await connection.close(timeout=POSTGRES_CLOSE_SECONDS)
    except Exception:
        connection.terminate()
