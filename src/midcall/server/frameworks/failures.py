"""Inside what a server logs: a failure is looked at before the server hides its text and calls it a crash.

A tool that asks can end with an error that isn't a failure. A run that is ended is cancelled, and a bare `except:` or a
cleanup that fails makes another error of that; a task group puts an error of ours into a group. Seen from outside it is
too late: the server has logged it, and told its span.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Final, ParamSpec, TypeVar

from midcall.errors import MidcallError
from midcall.server.call import current_call
from midcall.server.frameworks.errors import find_ours, passable

__all__ = ["is_failure", "look_inside"]

P = ParamSpec("P")
T = TypeVar("T")

_MARK: Final = "__midcall__"


def look_inside(owner: object, *entries: str) -> None:
    """Look at what these methods raise, by which a server runs what its author wrote.

    One that a later server does not have is left out: then such a failure is the server's to tell and to log.
    """
    for name in entries:
        entry = getattr(owner, name, None)
        if entry is not None and not hasattr(entry, _MARK):
            setattr(owner, name, _looked_into(entry))


def _looked_into(entry: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    @wraps(entry)
    async def looked_into(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await entry(*args, **kwargs)
        except Exception as exc:
            await _replace(exc)
            raise

    setattr(looked_into, _MARK, True)
    return looked_into


async def _replace(error: Exception) -> None:
    """Raise what the server is to see instead of this error; nothing where it is the author's."""
    call = current_call.get()
    if call is None:
        return
    if call.run.ending is not None:
        raise asyncio.CancelledError
    ours = find_ours(error)
    seen = passable(ours, call) if isinstance(ours, MidcallError) else ours
    if ours is not None and seen is not None and seen is not error:
        raise seen.with_traceback(ours.__traceback__) from ours.__cause__


def is_failure(error: BaseException | None) -> bool:
    """Whether this is the author's: no round is leaving, and it is more than an error of ours."""
    call = current_call.get()
    if call is None:
        return True
    return call.run.ending is None and find_ours(error) is None
