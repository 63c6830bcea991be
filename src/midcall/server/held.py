"""The tasks that a tool, or a branch of it, held in its hands when it was unwound.

A tool may start a task, ask, and await the task later. When a round leaves, the tool is unwound
before that; the task would run on without anybody, past questions that nobody has answered, or fail
without anybody to look. No list tells which tasks a tool has started. But those that it means to
await are in its variables: in the traceback of what has unwound it, or in what a branch is at.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import FrameType
from typing import Any, Final, cast

__all__ = ["held_by", "held_in"]

_NO_AUTHORS: Final = frozenset(("midcall", "mcp", "fastmcp", "pydantic", "anyio"))
"""Frames of these hold no task that an author means to await."""
_AUTHORS: Final[dict[str, bool]] = {}
"""Whether a module may be an author's, by its name: every round looks at a dozen frames."""
_MOST: Final = 1000
"""Larger collections hold data."""
_HOLDERS: Final = (asyncio.Future, asyncio.Queue, list, tuple, set, frozenset, dict)


def held_by(failure: BaseException | None) -> list[asyncio.Task[Any]]:
    """The tasks in the variables of the frames that this has unwound."""
    return _in_variables(_unwound(failure))


def held_in(task: asyncio.Task[Any]) -> list[asyncio.Task[Any]]:
    """The tasks in the variables of the frames that this task is in."""
    return _in_variables(_awaiting(task.get_coro()))


def _unwound(failure: BaseException | None) -> list[FrameType]:
    frames: list[FrameType] = []
    at = None if failure is None else failure.__traceback__
    while at is not None:
        frames.append(at.tb_frame)
        at = at.tb_next
    return frames


def _awaiting(at: Any) -> Iterator[FrameType]:
    """The frames of a coroutine that waits, and of what it waits for, as far as that can be seen."""
    while at is not None:
        if (frame := getattr(at, "cr_frame", None) or getattr(at, "gi_frame", None)) is not None:
            yield frame
        at = getattr(at, "cr_await", None) or getattr(at, "gi_yieldfrom", None)


def _in_variables(frames: Iterable[FrameType]) -> list[asyncio.Task[Any]]:
    found: dict[asyncio.Task[Any], None] = {}
    for frame in frames:
        module = frame.f_globals.get("__name__", "")
        authors = _AUTHORS.get(module)
        if authors is None:
            authors = _AUTHORS[module] = module.partition(".")[0] not in _NO_AUTHORS
        if authors:
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
        case asyncio.Queue():
            things = getattr(cast("Any", value), "_queue", ())  # what `as_completed` has not handed out yet
        case asyncio.Future() if not isinstance(value, asyncio.Task):
            things = getattr(cast("Any", value), "_children", ())  # a `gather` that is awaited later
        case _:
            pass
    for thing in things if len(things) <= _MOST else ():
        if isinstance(thing, asyncio.Task):
            yield cast("asyncio.Task[Any]", thing)
