"""What a verb returns: an awaitable that reports a forgotten `await`."""

from __future__ import annotations

import asyncio
import logging
import warnings
from collections.abc import Awaitable, Callable, Coroutine, Generator
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias, cast

from typing_extensions import TypeVar

from midcall.core.question import MISSING, Question, Unfit, plain_question, recent_question
from midcall.errors import MidcallError, Misuse
from midcall.server.call import Call, current_call, inside_effect, running_call
from midcall.server.frameworks.errors import describe_mistake, surface
from midcall.settings.calls import CACHED_CHARACTERS

logger = logging.getLogger("midcall")

T = TypeVar("T")
R_co = TypeVar("R_co", covariant=True)


class _Verb(Coroutine[Any, Any, R_co]):
    """What a verb returns. Using it as the answer, without `await`, is a `Misuse`."""

    __slots__ = ("_begun", "_call", "_coroutine", "_name")

    def __init__(self, name: str, coroutine: Coroutine[Any, Any, R_co], call: Call | None) -> None:
        self._name = name
        self._coroutine = coroutine
        self._call = call
        self._begun = False

    def __await__(self) -> Generator[Any, Any, R_co]:
        self._begun = True
        return self._coroutine.__await__()

    def send(self, value: Any) -> Any:
        self._begun = True
        return self._coroutine.send(value)

    def throw(self, *args: Any) -> Any:
        self._begun = True
        return self._coroutine.throw(*args)

    def close(self) -> None:
        self._begun = True
        self._coroutine.close()

    def __del__(self) -> None:
        """Name the verb, not its coroutine. One that is dropped because its run is ended was not forgotten."""
        if self._begun:
            return
        self._coroutine.close()
        call = self._call
        if call is None:
            warnings.warn(self._not_awaited(), RuntimeWarning, stacklevel=2)
        elif not call.ended and call.run.ending is None:
            logger.warning("%s: %s", describe_mistake("Misuse", call.called), self._not_awaited())

    def _not_awaited(self) -> str:
        return f"{self._name}(...) must be awaited: write `await {self._name}(...)`."

    def __repr__(self) -> str:
        return f"<{self._name}(...), to be awaited>"

    __hash__ = object.__hash__

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{self!r} cannot be copied")

    def __eq__(self, other: object) -> bool:
        return self is other if isinstance(other, Awaitable) else self._is_no_answer()

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith(_PROBED):
            raise AttributeError(name)
        self._is_no_answer()

    def _is_no_answer(self, *_: Any) -> NoReturn:
        self.close()
        raise surface(Misuse(self._not_awaited()), current_call.get())

    __bool__ = __str__ = __int__ = __float__ = __index__ = _is_no_answer
    __lt__ = __le__ = __gt__ = __ge__ = _is_no_answer
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __rmod__ = _is_no_answer
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __or__ = __ror__ = _is_no_answer
    __iter__ = __len__ = __contains__ = __getitem__ = __enter__ = __aenter__ = __aiter__ = _is_no_answer


if TYPE_CHECKING:
    # Type checkers only report a forgotten await for what an async function returns.
    Verb: TypeAlias = CoroutineType[Any, Any, T]
else:
    Verb = _Verb


def name_of(verb: object) -> str | None:
    """The name of a verb that was not awaited, which is closed; None if this isn't a verb."""
    if not isinstance(verb, _Verb):
        return None
    verb.close()
    return verb._name  # pyright: ignore[reportPrivateUsage, reportUnknownMemberType]


_CLASS: Final = type
_PROBED: Final = ("_", "cr_", "gi_", "ag_")
"""Attributes that frameworks probe for on any awaitable."""


def recall(message: Any, type: Any, ask: Callable[[Question[T]], Coroutine[Any, Any, T]]) -> Any:
    """The fast path of a replay: await the value of a question without options from the journal.

    It isn't a `Verb`: the run that first asked has reported a forgotten await already. None if nothing is recorded.
    """
    call = current_call.get()
    if call is None or not call.recalls:
        return None
    try:
        short = isinstance(type, _CLASS) and isinstance(message, str) and len(message) <= CACHED_CHARACTERS
        question = recent_question(message, type) if short else plain_question(message, type)
    except (MidcallError, TypeError):
        return None
    base, journal = question.base, call.journal
    return _recall(call, question, ask) if base in journal.settled or base in journal.entries else None


async def _recall(call: Call, question: Question[T], ask: Callable[[Question[T]], Coroutine[Any, Any, T]]) -> T:
    """Only when it's awaited: the order of awaits distinguishes equal questions."""
    if call.run.ending is None and not inside_effect.get():
        try:
            value = call.replay.recall(question)
            if value is not MISSING:
                return value  # pyright: ignore[reportReturnType]
        except (MidcallError, TypeError, Unfit):
            pass
    return await ask(question)


def begin(name: str, coroutine: Coroutine[Any, Any, T]) -> Verb[T]:
    """Start a verb, unless it can't be awaited here: in a thread, or in another event loop."""
    call = current_call.get()
    if not _is_in_loop(None if call is None else call.run.loop):
        coroutine.close()
        try:
            running_call(name)
        except MidcallError as exc:
            raise surface(exc, call) from None
        raise surface(
            Misuse(
                f"{name}() is async, and this is a thread. In a `def` tool import it from midcall.from_thread "
                f"(`from midcall.from_thread import {name}`), or make the tool `async def`."
            ),
            call,
        )
    if call is not None and call.run.ending is not None:
        coroutine.close()
        coroutine = cast("Coroutine[Any, Any, T]", call.run.check())
    return cast("Verb[T]", _Verb(name, coroutine, call))


def _is_in_loop(loop: asyncio.AbstractEventLoop | None) -> bool:
    """Whether this loop runs in this thread; if it's None, whether any does."""
    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        return False
    return loop is None or running is loop
