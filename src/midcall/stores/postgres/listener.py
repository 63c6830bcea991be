"""Hears of changes in other processes, over a connection that does nothing else."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from midcall.stores.base import StoreError
from midcall.stores.texts import given

__all__ = ["CHANNEL", "PostgresEar"]

CHANNEL = "midcall"
_WITHIN = 1.0
_TRY_AGAIN = 60.0
_STILL_THERE = 30.0

log = logging.getLogger("midcall.store")


class PostgresEar:
    """LISTEN, on a connection of its own.

    A pooler in transaction mode takes the LISTEN and never delivers anything. So it says something over
    another connection first: if it does not hear itself, there is nothing to be heard.
    """

    def __init__(
        self, what: str, connect: Callable[[], Awaitable[Any]], say: Callable[[str], Awaitable[object]]
    ) -> None:
        self._what = what
        self._connect = connect
        self._say = say
        self._told = False

    async def __call__(self, ring: Callable[[str], None], hears: Callable[[], None]) -> float:
        connection = await self._connect()
        try:
            return await self._listen(connection, ring, hears)
        finally:
            await _close(connection)

    async def _listen(self, connection: Any, ring: Callable[[str], None], hears: Callable[[], None]) -> float:
        lost, itself = asyncio.Event(), asyncio.Event()
        hello = f"hello {secrets.token_hex(8)}"

        def heard(_connection: object, _process: int, _channel: str, message: str) -> None:
            itself.set() if message == hello else ring(given(message))

        def gone(_connection: object) -> None:
            lost.set()

        connection.add_termination_listener(gone)
        await connection.add_listener(CHANNEL, heard)
        await self._say(hello)
        if not await _happens(itself, _WITHIN):
            self._tell()
            return _TRY_AGAIN
        hears()
        while not await _happens(lost, _STILL_THERE):
            await connection.execute("SELECT 1", timeout=5.0)  # a connection can die without a sound
        raise StoreError(
            f"The connection to {self._what} broke off",
            advice="It connects again; meanwhile changes are found by looking.",
        )

    def _tell(self) -> None:
        if not self._told:
            log.warning(
                "%s.",
                (
                    f"{self._what} does not pass on notifications, as behind PgBouncer in transaction mode. "
                    "Completions in other processes are found by looking, ten times a second"
                ),
            )
        self._told = True


async def _happens(event: asyncio.Event, within: float) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(within):
            await event.wait()
    return event.is_set()


async def _close(connection: Any) -> None:
    try:
        await connection.close(timeout=2.0)
    except Exception:
        connection.terminate()
