"""The same verbs for `def` tools, which servers run in a thread: they block until the answer is there.

from midcall.from_thread import ask

@mcp.tool()
def book(destination: str) -> str:
    days = ask("How many days?", int)
    return f"{days} days in {destination}"

They work in every thread that has the context of its call: under `asyncio.to_thread`, and in an executor that gets
`contextvars.copy_context().run`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar, cast, overload

import anyio.from_thread

from midcall.errors import Misuse, NoCall
from midcall.server import verbs
from midcall.server.call import Call, call_is_over, current_call, running_call
from midcall.server.frameworks.errors import surface
from midcall.server.running.threads import block_on, is_worker, run_aside, run_for_worker
from midcall.server.verbs import can_ask, suspending
from midcall.server.verbs.once import Keyed
from midcall.server.verbs.status import loop_for

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
    asks = not name.startswith("once")

    @wraps(verb)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        call = _call_of_thread(name)
        work = partial(verb, *args, **kwargs)
        return (run_for_worker if is_worker() else run_aside)(call, work, asks=asks)

    return run


def _call_of_thread(verb: str) -> Call:
    call, loop = current_call.get(), _running_loop()
    try:
        # Blocking the loop that brings the answer would last for ever; another loop is the author's to block.
        if loop is not None and (call is None or call.loop is loop):
            raise _needs_thread(verb)
        found = running_call(verb)
        if not found.loop.is_running():
            raise call_is_over(verb)
        return found
    except NoCall as exc:
        if call is None:
            exc.advice = (
                "A thread finds its call by its context: use asyncio.to_thread(...), or pass the context to an "
                "executor, pool.submit(contextvars.copy_context().run, ...), while the tool is running. midcall must "
                "be installed on the server that clients connect to."
            )
        raise surface(exc, call) from None
    except Misuse as exc:
        raise surface(exc, call) from None


def _needs_thread(verb: str) -> Misuse:
    return Misuse(
        f"midcall.from_thread.{verb}() blocks, and this is the event loop. Write `await midcall.{verb}(...)`."
    )


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class _Once:
    """`once` for threads: its function may block, too."""

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
        """Like `once`, for a function that may run again if nobody knows whether it finished."""
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
    """Report that the user has finished this visit. Works in every thread of a process that serves.

    Raises:
        Misuse: This is an event loop, or no server is running in this process.
    """
    call = current_call.get()
    if _running_loop() is not None:
        raise surface(_needs_thread("complete"), call)
    if is_worker():
        return anyio.from_thread.run(verbs.complete, id)
    loop = call.loop if call is not None and call.loop.is_running() else loop_for(id)
    if loop is None:
        raise surface(
            Misuse(
                "midcall.from_thread.complete() found no running server in this process that has asked for a visit.",
                advice="Without a server in the process, use asyncio.run(midcall.complete(id)) and a shared store.",
            ),
            call,
        )
    return block_on(loop, verbs.complete(id), call)
