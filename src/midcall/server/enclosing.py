"""Who waits for a task: the tasks that would run on if it were just cancelled.

A task group, `asyncio.wait` and `gather(return_exceptions=True)` take a cancelled child for one that
has ended, and go on with what stands behind them. So a task that holds one of these must be
cancelled itself. asyncio does not tell who that is; it can be seen in what a task calls when it is
done. Where it cannot be seen, nobody is found, and only the child is cancelled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextvars import Context
from typing import Any, cast

__all__ = ["context_of", "enclosing"]


def enclosing(task: asyncio.Task[Any], ours: Callable[[asyncio.Task[Any]], bool]) -> set[asyncio.Task[Any]]:
    """Those of our tasks that wait for this one, directly or through others of ours."""
    found: set[asyncio.Task[Any]] = set()
    unseen: list[asyncio.Future[Any]] = [task]
    while unseen:
        for waiter in _waiters(unseen.pop()):
            if waiter not in found and ours(waiter):
                found.add(waiter)
                unseen.append(waiter)
    return found


def context_of(task: asyncio.Task[Any]) -> Context | None:
    """The context that a task runs in, if that can be seen: before Python 3.12, only while it waits."""
    if hasattr(task, "get_context"):
        return cast("Any", task).get_context()
    waits_for = getattr(task, "_fut_waiter", None)
    for callback, context in getattr(waits_for, "_callbacks", None) or ():
        if getattr(callback, "__self__", None) is task:
            return context
    return None


def _waiters(future: asyncio.Future[Any]) -> Iterator[asyncio.Task[Any]]:
    """The tasks that are woken, or counted down, when this is done."""
    for callback, _ in cast("list[tuple[Any, Any]]", getattr(future, "_callbacks", None) or ()):
        yield from _held(getattr(callback, "__self__", None), future)
        for cell in getattr(callback, "__closure__", None) or ():
            try:
                yield from _held(cell.cell_contents, future)
            except ValueError:  # an empty cell
                continue


def _held(thing: Any, future: asyncio.Future[Any]) -> Iterator[asyncio.Task[Any]]:
    """The task behind what a callback holds: a task, a future that one awaits, or a group that one has opened."""
    match thing:
        case asyncio.Task():
            if thing is not future:
                yield cast("asyncio.Task[Any]", thing)
        case asyncio.Future():
            if thing is not future:
                yield from _waiters(cast("asyncio.Future[Any]", thing))
        case asyncio.TaskGroup():
            yield from _task(getattr(thing, "_parent_task", None))
        case _:  # anyio's group, through its scope
            yield from _task(getattr(getattr(thing, "cancel_scope", None), "_host_task", None))


def _task(task: Any) -> Iterator[asyncio.Task[Any]]:
    if isinstance(task, asyncio.Task):
        yield cast("asyncio.Task[Any]", task)
