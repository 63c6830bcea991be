"""The tasks that a tool, or a branch of it, held in its hands when it was unwound.

A tool may start a task, ask, and await the task later. When a round leaves, the tool is unwound
before that; the task would run on without anybody, past questions that nobody has answered, or fail
without anybody to look. No list tells which tasks a tool has started. But those that it means to
await are in its variables: in the traceback of what has unwound it, or in what a branch is at.
"""

from __future__ import annotations

import asyncio
import gc
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterator
from types import FrameType, NoneType
from typing import Any, Final, TypeGuard, cast

from anyio.abc import TaskGroup as AnyioGroup

from midcall.server.enclosing import shielded_by

__all__ = ["below", "held_by", "held_in"]

_NO_AUTHORS: Final = frozenset(("midcall", "mcp", "fastmcp", "pydantic", "anyio"))
"""Frames of these hold no task that an author means to await."""
_SEEN: Final[set[str]] = set()
"""Their files, as they are met: every round looks at a dozen frames."""
_KINDS: Final = {
    "generator": "gi",
    "async_generator": "ag",
    **dict.fromkeys(("async_generator_asend", "async_generator_athrow"), "step"),
}
"""How the attributes begin that tell where something is that runs; with most, as with a coroutine."""
_HOLDERS: Final = (asyncio.Future, asyncio.Queue)
_COLLECTIONS: Final = frozenset((list, tuple, set, frozenset, dict, deque, defaultdict))
"""Of these alone, and of no class that may do something when it is looked at."""
_PLAIN: Final = frozenset((str, int, float, bool, bytes, NoneType))
"""What most variables hold, and what holds nothing."""


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
    return [held for frame in _frames(_coroutine_of(task)) for held in _in_variables(frame)]


def below(
    task: asyncio.Task[Any], ours: Callable[[asyncio.Task[Any]], bool], at: object = None
) -> set[asyncio.Task[Any]]:
    """Those of ours that this task waits for or has in its hands, and that those have.

    It is at its own coroutine, or at this one.
    """
    found: set[asyncio.Task[Any]] = set()
    unseen = [*filter(ours, _waited_for(task, at or _coroutine_of(task)))]
    while unseen:
        found.add(each := unseen.pop())
        unseen += {*filter(ours, _waited_for(each, _coroutine_of(each)))} - found
    return found


def _coroutine_of(task: asyncio.Task[Any]) -> object:
    """What this task runs. One that has ended is not asked: Python 3.12 crashes where it was started eagerly."""
    return None if task.done() else task.get_coro()


def _waited_for(task: asyncio.Task[Any], at: object) -> Iterator[asyncio.Task[Any]]:
    waiter = getattr(task, "_fut_waiter", None)
    for future in (waiter, *shielded_by(waiter)):
        yield from _tasks(future)
    for frame in _frames(at):
        yield from _in_variables(frame, (*_HOLDERS, asyncio.TaskGroup, AnyioGroup))


def _frames(at: Any) -> Iterator[FrameType]:
    """Those that a coroutine is in, from the outermost on; of one that is running, none can be seen."""
    if getattr(at, "cr_running", False):  # to ask it what it awaits may crash
        return
    while at is not None:
        kind = _KINDS.get(type(at).__name__, "cr")
        if (frame := getattr(at, f"{kind}_frame", None)) is not None:
            yield frame
        at = _step_of(at) if kind == "step" else getattr(at, "gi_yieldfrom" if kind == "gi" else f"{kind}_await", None)


def _step_of(step: object) -> object:
    """The asynchronous generator that this is a step of: it has no attribute that says so."""
    referents: list[object] = gc.get_referents(step)
    return next((each for each in referents if type(each).__name__ == "async_generator"), None)


def _in_variables(frame: FrameType, holders: tuple[type, ...] = _HOLDERS) -> Iterator[asyncio.Task[Any]]:
    if frame.f_globals.get("__name__", "").partition(".")[0] in _NO_AUTHORS:
        _SEEN.add(frame.f_code.co_filename)
        return
    for value in frame.f_locals.values():
        kind = cast("type[object]", type(value))
        if kind in _PLAIN:
            continue
        if kind in _COLLECTIONS or issubclass(kind, holders):  # hardly anything is
            yield from _tasks(cast("object", value))


def _tasks(value: Any) -> Iterator[asyncio.Task[Any]]:
    """The tasks that this is, or that it has directly in it: a collection of tasks begins with one."""
    if _is_task(value):
        yield value
    elif (inside := _inside(value)) and _is_task(next(iter(inside), None)):
        yield from filter(_is_task, tuple(inside))


def _inside(value: Any) -> Collection[Any]:
    if isinstance(value, dict):
        return cast("dict[Any, Any]", value).values()
    if type(value) in _COLLECTIONS:
        return value
    if isinstance(value, asyncio.Queue):
        return getattr(cast("Any", value), "_queue", ())  # what `as_completed` has not handed out yet
    if isinstance(value, asyncio.Future):
        return getattr(cast("Any", value), "_children", ())  # a `gather` that is awaited later
    if isinstance(value, (asyncio.TaskGroup, AnyioGroup)):
        return getattr(cast("Any", value), "_tasks", ())
    return ()


def _is_task(thing: Any) -> TypeGuard[asyncio.Task[Any]]:
    return issubclass(type(thing), asyncio.Task)  # and not isinstance, which asks a proxy what it is
