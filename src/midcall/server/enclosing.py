"""Who waits for a task, and what a task waits for.

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

__all__ = ["context_of", "enclosing", "futures_around", "shielded_by", "wake"]


def enclosing(task: asyncio.Task[Any], ours: Callable[[asyncio.Task[Any]], bool]) -> set[asyncio.Task[Any]]:
    """Those of our tasks that wait for this one, directly or through others of ours."""
    seen: set[asyncio.Future[Any]] = {task}
    found: set[asyncio.Task[Any]] = set()
    unseen: list[asyncio.Future[Any]] = [task]
    while unseen:
        for waiter in _waiters(unseen.pop()):
            if waiter in seen:  # a `shield` and what it shields know each other
                continue
            seen.add(waiter)
            if not isinstance(waiter, asyncio.Task):
                unseen.append(waiter)
            elif ours(waiter):
                found.add(waiter)
                unseen.append(waiter)
    return found


def context_of(task: asyncio.Task[Any]) -> Context | None:
    """The context that a task runs in, if that can be seen: before Python 3.12, only while it waits."""
    if hasattr(task, "get_context"):
        return cast("Any", task).get_context()
    for callback, context in _callbacks(getattr(task, "_fut_waiter", None)):
        if getattr(callback, "__self__", None) is task:
            return context
    return None


def wake(task: asyncio.Task[Any]) -> bool:
    """Let a task go on though what it waits for has not come: with None. False if it could not be woken."""
    waits_for: asyncio.Future[Any] | None = getattr(task, "_fut_waiter", None)
    for callback, context in _callbacks(waits_for):
        if waits_for is not None and getattr(callback, "__self__", None) is task:
            waits_for.remove_done_callback(callback)
            nothing = task.get_loop().create_future()
            nothing.set_result(None)
            nothing.add_done_callback(callback, context=context)
            return True
    return False


def futures_around(task: asyncio.Task[Any]) -> set[asyncio.Future[Any]]:
    """What else ends when this does: the futures of a `gather` or a `shield`, which nobody may ever look at."""
    found: set[asyncio.Future[Any]] = set()
    unseen: list[asyncio.Future[Any]] = [task]
    while unseen:
        for callback, _ in _callbacks(unseen.pop()):
            around = {thing for thing in _cells(callback) if _is_plain_future(thing)} - found
            found |= around
            unseen += around
    return found


def shielded_by(future: asyncio.Future[Any] | None) -> list[asyncio.Future[Any]]:
    """What a `shield` keeps from ending together with this."""
    found = (thing for callback, _ in _callbacks(future) for thing in _cells(callback))
    return [thing for thing in found if isinstance(thing, asyncio.Future) and thing is not future]


def _waiters(future: asyncio.Future[Any]) -> Iterator[asyncio.Future[Any]]:
    """The tasks and futures that are woken, or counted down, when this is done."""
    for callback, _ in _callbacks(future):
        yield from _held(getattr(callback, "__self__", None))
        for thing in _cells(callback):
            yield from _held(thing)


def _held(thing: Any) -> Iterator[asyncio.Future[Any]]:
    """What waits, behind what a callback holds: a task, a future that one awaits, or a group that one has opened."""
    match thing:
        case asyncio.Future():
            yield cast("asyncio.Future[Any]", thing)
        case asyncio.TaskGroup():
            yield from _task(getattr(thing, "_parent_task", None))
        case asyncio.Queue():  # what `as_completed` hands out from
            yield from tuple(getattr(cast("Any", thing), "_getters", ()))
        case _:  # anyio's group, through its scope; or from Python 3.13 on, `as_completed` itself
            yield from _task(getattr(getattr(thing, "cancel_scope", None), "_host_task", None))
            if isinstance(queue := getattr(thing, "_done", None), asyncio.Queue):
                yield from _held(queue)


def _task(task: Any) -> Iterator[asyncio.Task[Any]]:
    if isinstance(task, asyncio.Task):
        yield cast("asyncio.Task[Any]", task)


def _callbacks(future: asyncio.Future[Any] | None) -> list[tuple[Any, Any]]:
    return list(getattr(future, "_callbacks", None) or ())


def _is_plain_future(thing: object) -> bool:
    return isinstance(thing, asyncio.Future) and not isinstance(thing, asyncio.Task)


def _cells(callback: Any) -> Iterator[Any]:
    """What a callback holds: in its closure, or as the arguments of a `partial`."""
    yield from getattr(callback, "args", ())
    for cell in getattr(callback, "__closure__", None) or ():
        try:
            yield cell.cell_contents
        except ValueError:  # an empty cell
            continue
