"""What a verb returns: something to be awaited, and an error for whoever forgets it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any

from typing_extensions import TypeVar

from midcall.core.questions import MISSING, Unfit, plain_question
from midcall.errors import MidcallError, Misuse
from midcall.server.call import current_call, inside_effect, running_call
from midcall.server.surface import surfaced
from midcall.wording import mistakes as wording

__all__ = ["Verb", "begin", "recall"]

T = TypeVar("T")
R_co = TypeVar("R_co", covariant=True)


class Verb(Coroutine[Any, Any, R_co]):
    """What a verb returns: to be awaited. As a truth value it says so, since it would always be true."""

    __slots__ = ("_coroutine", "_name")

    def __init__(self, name: str, coroutine: Coroutine[Any, Any, R_co]) -> None:
        self._name = name
        self._coroutine = coroutine

    def __await__(self) -> Generator[Any, Any, R_co]:
        return self._coroutine.__await__()

    def send(self, value: Any) -> Any:
        return self._coroutine.send(value)

    def throw(self, *args: Any) -> Any:
        return self._coroutine.throw(*args)

    def close(self) -> None:
        self._coroutine.close()

    def __bool__(self) -> bool:
        self.close()
        raise surfaced(Misuse(wording.not_awaited(self._name)), current_call.get())

    def __str__(self) -> str:
        self.close()
        raise surfaced(Misuse(wording.not_awaited(self._name)), current_call.get())

    def __repr__(self) -> str:
        return f"<{self._name}(...), to be awaited>"


async def _recalled(value: T) -> T:
    return value


def recall(message: Any, type: Any) -> Any:
    """The short way of a replay: a question without options whose value is in the journal.

    What it returns is to be awaited, and no `Verb`: where its await was forgotten, the run that first asked has
    said so already. None where there is more to do.
    """
    call = current_call.get()
    if call is None or not call.recalls or call.rounds is None or call.rounds.leaving or inside_effect.get():
        return None
    try:
        value = call.replay.recall(plain_question(message, type))
    except (MidcallError, TypeError, Unfit):
        return None
    return None if value is MISSING else _recalled(value)


def begin(name: str, coroutine: Coroutine[Any, Any, T]) -> Verb[T]:
    """Start a verb, unless this is no place to await it: a thread, or a loop of its own that a thread runs."""
    call = current_call.get()
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        loop = None
    if loop is None or (call is not None and call.loop is not loop):
        coroutine.close()
        try:
            running_call(name)
        except MidcallError as exc:
            raise surfaced(exc, call) from None
        raise surfaced(Misuse(wording.needs_from_thread(name)), call)
    return Verb(name, coroutine)
