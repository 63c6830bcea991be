"""The tasks that an unwound tool held in its hands.

A tool may start a task, ask, and await the task later. When a round leaves, the tool is unwound
before that; the task would run on without anybody, past questions that nobody has answered, or fail
without anybody to look. No list tells which tasks a tool has started. But those that it means to
await are in its variables, and the traceback of what unwound it has these.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast

__all__ = ["held_by"]

_NO_AUTHORS: Final = ("midcall.", "mcp.", "fastmcp.", "pydantic", "anyio.")
"""Frames of these hold no task that an author means to await."""


def held_by(failure: BaseException | None) -> list[asyncio.Task[Any]]:
    """The tasks in the variables of the frames that this has unwound."""
    found: dict[asyncio.Task[Any], None] = {}
    at = None if failure is None else failure.__traceback__
    while at is not None:
        if not at.tb_frame.f_globals.get("__name__", "").startswith(_NO_AUTHORS):
            found |= dict.fromkeys(task for value in at.tb_frame.f_locals.values() for task in _tasks(value))
        at = at.tb_next
    return list(found)


def _tasks(value: object) -> Iterator[asyncio.Task[Any]]:
    """The tasks that this is, or that it has directly in it."""
    things: Iterable[Any] = (value,)
    match value:
        case list() | tuple() | set() | frozenset():
            things = cast("Iterable[Any]", value)
        case dict():
            things = cast("Mapping[Any, Any]", value).values()
        case asyncio.Future() if not isinstance(value, asyncio.Task):
            things = getattr(cast("Any", value), "_children", ())  # a `gather` that is awaited later
        case _:
            pass
    for thing in things:
        if isinstance(thing, asyncio.Task):
            yield cast("asyncio.Task[Any]", thing)
