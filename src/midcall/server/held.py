"""The tasks that an unwound tool held in its hands.

A tool may start a task, ask, and await the task later. When a round leaves, the tool is unwound
before that; the task would run on without anybody, past questions that nobody has answered, or fail
without anybody to look. No list tells which tasks a tool has started. But those that it means to
await are in its variables, and the traceback of what unwound it has these.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, cast

__all__ = ["held_by"]

_NO_AUTHORS: Final = frozenset(("midcall", "mcp", "fastmcp", "pydantic", "anyio"))
"""Frames of these hold no task that an author means to await."""
_MOST: Final = 1000
"""Larger collections hold data."""
_HOLDERS: Final = (asyncio.Future, list, tuple, set, frozenset, dict)


def held_by(failure: BaseException | None) -> list[asyncio.Task[Any]]:
    """The tasks in the variables of the frames that this has unwound."""
    found: dict[asyncio.Task[Any], None] = {}
    at = None if failure is None else failure.__traceback__
    while at is not None:
        frame, at = at.tb_frame, at.tb_next
        if frame.f_globals.get("__name__", "").partition(".")[0] not in _NO_AUTHORS:
            for value in frame.f_locals.values():
                if isinstance(value, _HOLDERS):  # hardly anything is
                    found |= dict.fromkeys(_tasks(cast("object", value)))
    return list(found)


def _tasks(value: object) -> Iterator[asyncio.Task[Any]]:
    """The tasks that this is, or that it has directly in it."""
    things: Collection[Any] = (value,)
    match value:
        case list() | tuple() | set() | frozenset():
            things = cast("Collection[Any]", value)
        case dict():
            things = cast("Mapping[Any, Any]", value).values()
        case asyncio.Future() if not isinstance(value, asyncio.Task):
            things = getattr(cast("Any", value), "_children", ())  # a `gather` that is awaited later
        case _:
            pass
    for thing in things if len(things) <= _MOST else ():
        if isinstance(thing, asyncio.Task):
            yield cast("asyncio.Task[Any]", thing)
