"""Event loops other than asyncio's default: uvicorn uses uvloop if it's installed, and some applications start tasks
eagerly."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import TypeAlias

import pytest

Factory: TypeAlias = Callable[[], asyncio.AbstractEventLoop]


def eager() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    loop.set_task_factory(asyncio.eager_task_factory)  # type: ignore[attr-defined]  # from Python 3.12 on
    return loop


_LOOPS: list[Factory] = []
if sys.platform != "win32":
    import uvloop

    _LOOPS.append(uvloop.new_event_loop)
if sys.version_info >= (3, 12):
    _LOOPS.append(eager)

on_every_loop = pytest.mark.parametrize("loop", _LOOPS, ids=lambda loop: f"{loop.__module__}.{loop.__name__}")
