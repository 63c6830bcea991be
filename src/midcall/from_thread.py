"""The same verbs for `def` tools, which the servers run in a thread: they block until the answer is there.

from midcall.from_thread import ask

@mcp.tool()
def book(destination: str) -> str:
    days = ask("How many days?", int)
    return f"{days} days in {destination}"
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast, overload

import anyio.from_thread

from midcall.errors import Misuse
from midcall.server import verbs
from midcall.server.call import current_call, running_call
from midcall.server.rounds import in_thread
from midcall.server.surface import surfaced
from midcall.server.verbs import can_ask, suspending
from midcall.server.verbs.once import Keyed
from midcall.wording import mistakes as wording

__all__ = [
    "approve",
    "ask",
    "ask_all",
    "authorize",
    "can_ask",
    "choose",
    "complete",
    "confirm",
    "elicit",
    "once",
    "secret",
    "suspending",
    "visit",
]

P = ParamSpec("P")
T = TypeVar("T")


def _blocking(name: str, verb: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    @wraps(verb)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        thread = threading.get_ident()

        async def in_loop() -> T:
            in_thread.set(thread)
            return await verb(*args, **kwargs)

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            running_call(name)
            return anyio.from_thread.run(in_loop)
        raise surfaced(Misuse(wording.only_in_thread(name)), current_call.get())

    return run


class _Once:
    """`once` for threads: a function that blocks does so in a thread, too."""

    @overload
    def __call__(
        self, name: str, fn: Callable[P, Coroutine[Any, Any, T]], /, *args: P.args, **kwargs: P.kwargs
    ) -> T: ...
    @overload
    def __call__(self, name: str, fn: Keyed[Coroutine[Any, Any, T]], /, *args: Any, **kwargs: Any) -> T: ...
    @overload
    def __call__(self, name: str, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T: ...
    @overload
    def __call__(self, name: str, fn: Keyed[T], /, *args: Any, **kwargs: Any) -> T: ...
    def __call__(self, name: str, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        run = cast("Callable[..., Any]", _blocking("once", verbs.once))
        return run(name, fn, *args, **kwargs)

    @overload
    def retry(self, name: str, fn: Callable[P, Coroutine[Any, Any, T]], /, *args: P.args, **kwargs: P.kwargs) -> T: ...
    @overload
    def retry(self, name: str, fn: Keyed[Coroutine[Any, Any, T]], /, *args: Any, **kwargs: Any) -> T: ...
    @overload
    def retry(self, name: str, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T: ...
    @overload
    def retry(self, name: str, fn: Keyed[T], /, *args: Any, **kwargs: Any) -> T: ...
    def retry(self, name: str, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Like `once`, for a function that may run again where nobody knows whether it ended."""
        run = cast("Callable[..., Any]", _blocking("once.retry", verbs.once.retry))
        return run(name, fn, *args, **kwargs)


approve = _blocking("approve", verbs.approve)
ask = _blocking("ask", verbs.ask)
ask_all = _blocking("ask_all", verbs.ask_all)
authorize = _blocking("authorize", verbs.authorize)
choose = _blocking("choose", verbs.choose)
confirm = _blocking("confirm", verbs.confirm)
elicit = _blocking("elicit", verbs.elicit)
once = _Once()
secret = _blocking("secret", verbs.secret)
visit = _blocking("visit", verbs.visit)


def complete(id: str) -> bool:
    """Say that the out-of-band part of this visit is done."""
    return anyio.from_thread.run(verbs.complete, id)
