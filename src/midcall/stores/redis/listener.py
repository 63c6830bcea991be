"""Hears of changes in other processes, over a subscription."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from midcall.stores.redis.cancelling import heeding
from midcall.stores.redis.failures import explained
from midcall.stores.texts import given

__all__ = ["RedisEar"]

_STILL_THERE = 15.0


class RedisEar:
    """SUBSCRIBE, to one channel for all records."""

    def __init__(self, what: str, client: Any, channel: str) -> None:
        self._what = what
        self._client = client
        self._channel = channel

    async def __call__(self, ring: Callable[[str], None], hears: Callable[[], None]) -> float:
        subscription = self._client.pubsub()
        try:
            await heeding(subscription.subscribe(self._channel))
            while True:
                message = await heeding(subscription.get_message(timeout=_STILL_THERE))
                if message is None:
                    await heeding(subscription.ping())  # a connection can die without a sound
                elif message["type"] == "subscribe":
                    hears()
                elif message["type"] == "message":
                    ring(given(message["data"].decode()))
        except Exception as error:
            raise explained(error, self._what) from error
        finally:
            with suppress(Exception):
                await subscription.aclose()
