"""The tasks that a tool, or a branch of it, held in its hands when it was unwound.

A tool may start a task, ask, and await the task later. When a round leaves, the tool is unwound
before that; the task would run on without anybody, past questions that nobody has answered, or fail
without anybody to look. No list tells which tasks a tool has started. But those that it means to
await are in its variables: in the traceback of what has unwound it, or in what a branch is at.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Iterator
from types import FrameType
from typing import Any, Final, TypeGuard, cast

__all__ = ["held_by", "held_in"]

_NO_AUTHORS: Final = frozenset(("midcall", "mcp", "fastmcp", "pydantic", "anyio"))
"""Frames of these hold no task that an author means to await."""
_SEEN: Final[set[str]] = set()
"""Their files, as they are met: every round looks at a dozen frames."""
_COLLECTIONS: Final = frozenset((list, tuple, set, frozenset, dict, deque, defaultdict))
"""Of these alone, and of no class that may do something when it is looked at."""


def held_by(failure: BaseException) -> list[asyncio.Task[Any]]:
    """The tasks in the variables of the frames that this has unwound."""
    found: list[asyncio.Task[Any]] = []
    at = failure.__traceback__
    while at is not None:
        if at.tb_frame.f_code.co_filename not in _SEEN:
            found += _in_variables(at.tb_frame)
        at = at.tb_next
    return found


def held_in(task: asyncio.Task[Any]) -> list[asyncio.Task[Any]]:
    """The tasks in the variables of the frames that this task is in, as far as these can be seen."""
    found: list[asyncio.Task[Any]] = []
    at: Any = task.get_coro()
    while at is not None:
        if (frame := getattr(at, "cr_frame", None) or getattr(at, "gi_frame", None)) is not None:
            found += _in_variables(frame)
        at = getattr(at, "cr_await", None) or getattr(at, "gi_yieldfrom", None)
    return found


def _in_variables(frame: FrameType) -> Iterator[asyncio.Task[Any]]:
    if frame.f_globals.get("__name__", "").partition(".")[0] in _NO_AUTHORS:
        _SEEN.add(frame.f_code.co_filename)
        return
    for value in frame.f_locals.values():
        kind = cast("type[object]", type(value))
        if kind in _COLLECTIONS or issubclass(kind, (asyncio.Future, asyncio.Queue)):  # hardly anything is
            yield from _tasks(cast("object", value))


def _tasks(value: Any) -> Iterator[asyncio.Task[Any]]:
    """The tasks that this is, or that it has directly in it: a collection of tasks begins with one."""
    if _is_task(value):
        yield value
        return
    if isinstance(value, dict):
        value = cast("dict[Any, Any]", value).values()
    elif isinstance(value, asyncio.Queue):
        value = getattr(cast("Any", value), "_queue", ())  # what `as_completed` has not handed out yet
    elif isinstance(value, asyncio.Future):
        value = getattr(cast("Any", value), "_children", ())  # a `gather` that is awaited later
    if _is_task(next(iter(value), None)):
        yield from filter(_is_task, tuple(value))


def _is_task(thing: Any) -> TypeGuard[asyncio.Task[Any]]:
    return issubclass(type(thing), asyncio.Task)  # and not isinstance, which asks a proxy what it is
