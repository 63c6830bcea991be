"""The cancel scopes of anyio that a task is in: who wants it to end, and which ones a tool left open."""

from __future__ import annotations

import asyncio
from functools import cache
from math import inf
from typing import Any

import anyio

__all__ = ["close_scopes", "is_cancelled", "is_of_group", "leave_scope", "scope_of"]


@cache
def _states() -> Any:
    """What anyio knows of its tasks. One that keeps this elsewhere tells of none: then nothing is closed."""
    from anyio._backends import _asyncio as backend  # here: it is dear to import, and there by the first call anyway

    return getattr(backend, "_task_states", {})


def scope_of(task: asyncio.Task[Any]) -> anyio.CancelScope | None:
    """The innermost scope that this task has entered."""
    state = _states().get(task)
    return None if state is None else state.cancel_scope


def is_of_group(task: asyncio.Task[Any] | None) -> bool:
    """Whether a task group of anyio has started this: it ends with the first of its tasks that is cancelled."""
    state = None if task is None else _states().get(task)
    return getattr(state, "parent_id", None) is not None


def close_scopes(task: asyncio.Task[Any], outer: anyio.CancelScope | None) -> None:
    """Leave what the running task has entered since it was in `outer`: whoever entered it will not."""
    while (scope := scope_of(task)) is not None and scope is not outer:
        scope.__exit__(None, None, None)


def leave_scope(task: asyncio.Task[Any]) -> None:
    """Take a task that never ends out of its scope, which would cancel it for ever, in every turn of the loop."""
    tasks: set[asyncio.Task[Any]] | None = getattr(scope_of(task), "_tasks", None)
    if tasks is not None:
        tasks.discard(task)


def is_cancelled() -> bool:
    """Whether a scope that the running task is in was cancelled: the client has, or the server stops."""
    return anyio.current_effective_deadline() == -inf
