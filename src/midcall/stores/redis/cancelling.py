"""Cancelling, where a library swallows it.

On Python 3.11 `asyncio.wait_for`, which redis-py uses to send, loses a cancellation that arrives just as
it is done. Whoever was cancelled would go on, and a task that listens would never end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

__all__ = ["heeding"]

T = TypeVar("T")


async def heeding(command: Awaitable[T]) -> T:
    """The same, but a cancellation that came meanwhile is not lost."""
    task = asyncio.current_task()
    before = task.cancelling() if task else 0
    result = await command
    if task and task.cancelling() > before:
        raise asyncio.CancelledError
    return result
