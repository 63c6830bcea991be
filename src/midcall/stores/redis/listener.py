"""Hear of changes in other processes, through a subscription."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from midcall.settings import REDIS_PING_SECONDS
from midcall.stores.backend.rows import unescape
from midcall.stores.redis.driver import explain, run_cancellable


class RedisListener:
    """SUBSCRIBE to one channel for all records."""

    def __init__(self, what: str, client: Any, channel: str) -> None:
        self._what = what
        self._client = client
        self._channel = channel

    async def __call__(self, ring: Callable[[str], None], ready: Callable[[], None]) -> float:
        subscription = self._client.pubsub()
        try:
            await run_cancellable(subscription.subscribe(self._channel))
            while True:
                message = await run_cancellable(subscription.get_message(timeout=REDIS_PING_SECONDS))
                if message is None:
                    await run_cancellable(subscription.ping())  # a connection can die silently
                elif message["type"] == "subscribe":
                    ready()
                elif message["type"] == "message":
                    ring(unescape(message["data"].decode()))
        except Exception as error:
            raise explain(error, self._what) from error
        finally:
            with suppress(Exception):
                await subscription.aclose()
