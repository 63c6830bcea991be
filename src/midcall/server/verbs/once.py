"""`once`: effects that must not happen again when a call is replayed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from typing import Any, Final, ParamSpec, Protocol, TypeVar, overload

from midcall.errors import MidcallError
from midcall.server.call import asks_inside_once, current_call, running_call
from midcall.server.frameworks.errors import surface
from midcall.server.once.effects import run_once
from midcall.server.verbs import pages, questions
from midcall.server.verbs.awaitable import Verb, begin

T = TypeVar("T")
R = TypeVar("R", covariant=True)
P = ParamSpec("P")


class Keyed(Protocol[R]):
    """A function that takes an idempotency key besides its arguments."""

    def __call__(self, *args: Any, idempotency_key: str, **kwargs: Any) -> R: ...


class InThread(Protocol):
    """A function that runs another one in a thread: `asyncio.to_thread`."""

    def __call__(self, blocking: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T]: ...


class Once:
    """`once(name, fn, *args)`: run this function once, however often the call is replayed.

    Its result is recorded as JSON, by its return annotation, and a replay takes it from there. A function that takes
    `idempotency_key` gets one that never changes for this call. `once.retry(...)` is for functions that are safe to
    repeat.
    """

    @overload
    def __call__(
        self, name: str, fn: InThread, blocking: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> Verb[T]: ...
    @overload
    def __call__(
        self, name: str, fn: Callable[P, Coroutine[Any, Any, T]], /, *args: P.args, **kwargs: P.kwargs
    ) -> Verb[T]: ...
    @overload
    def __call__(self, name: str, fn: Keyed[Coroutine[Any, Any, T]], /, *args: Any, **kwargs: Any) -> Verb[T]: ...
    @overload
    def __call__(self, name: str, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Verb[T]: ...
    @overload
    def __call__(self, name: str, fn: Keyed[T], /, *args: Any, **kwargs: Any) -> Verb[T]: ...
    def __call__(self, name: str, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Verb[Any]:
        return begin("once", _once(name, fn, args, kwargs))

    @overload
    def retry(
        self, name: str, fn: InThread, blocking: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> Verb[T]: ...
    @overload
    def retry(
        self, name: str, fn: Callable[P, Coroutine[Any, Any, T]], /, *args: P.args, **kwargs: P.kwargs
    ) -> Verb[T]: ...
    @overload
    def retry(self, name: str, fn: Keyed[Coroutine[Any, Any, T]], /, *args: Any, **kwargs: Any) -> Verb[T]: ...
    @overload
    def retry(self, name: str, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Verb[T]: ...
    @overload
    def retry(self, name: str, fn: Keyed[T], /, *args: Any, **kwargs: Any) -> Verb[T]: ...
    def retry(self, name: str, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Verb[Any]:
        """Like `once`, for a function that may run again if nobody knows whether it finished."""
        return begin("once.retry", _once(name, fn, args, kwargs, True))

    def __repr__(self) -> str:
        return "midcall.once"


once = Once()


async def _once(
    name: str, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], retry: bool = False
) -> Any:
    try:
        call = running_call("once")
        if (verb := _verb_in(fn)) is not None:
            raise asks_inside_once(verb)
        return await run_once(call, name, fn, args, kwargs, retry=retry)
    except MidcallError as exc:
        raise surface(exc, current_call.get()) from exc.__cause__


_ASKING: Final = (pages.__name__, questions.__name__)
"""The modules whose functions ask."""


def _verb_in(fn: object) -> str | None:
    """The name of the verb that this function is, even one of `from_thread` or in a `partial`."""
    function = getattr(fn, "func", fn)
    if isinstance(getattr(function, "__self__", function), Once):
        return "once"
    asks = callable(function) and getattr(inspect.unwrap(function), "__module__", "") in _ASKING
    return getattr(function, "__name__", None) if asks else None
