"""What an answerer is: the object that answers questions, with a person behind it or not."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from inspect import isawaitable
from math import inf
from typing import Any, Final, Literal, Protocol, cast, runtime_checkable

import anyio

from midcall.client.asked import Asked, Mode, VisitQuestion
from midcall.core.outcome import Accepted, Cancelled, Declined, Outcome
from midcall.errors import MidcallError

BOTH: Final[tuple[Mode, ...]] = ("form", "url")


@runtime_checkable
class Answerer(Protocol):
    """Answers questions: a terminal, a page, a script, a policy.

    `answer` returns `Accepted` with the content of a form (a dict of JSON values; None for a visit), `Declined` or
    `Cancelled`. It may be called again before it has returned, because the questions of one round arrive together.
    If it's cancelled, the server or the caller has withdrawn the question.

    An answerer that can't serve both modes declares those it can in an attribute `modes`.
    """

    async def answer(self, asked: Asked) -> Outcome[Any]: ...


class CannotAnswer(MidcallError):
    """An answerer raises this to end the question with an error instead of an outcome. The server gets its message."""

    @property
    def for_server(self) -> str:
        """What the server gets as the message of its error."""
        return str(self)


class BadAnswerer(TypeError):
    """What the answerer returned can't be sent. Says why, or what to return instead, and contains no values."""


def check_answerer(answerer: object) -> None:
    """Raise `TypeError` if this can't answer, before the first question finds out."""
    if isinstance(answerer, type):
        raise TypeError(f"an answerer is an object: write {answerer.__name__}() instead of {answerer.__name__}")
    if not isinstance(answerer, Answerer):
        raise TypeError(f"an answerer needs a method answer(asked), and {type(answerer).__name__} has none")


async def ask_answerer(answerer: Answerer, asked: Asked) -> Outcome[Any]:
    """Get this answerer's outcome.

    Raises:
        BadAnswerer: It returned something else, or isn't async.
    """
    answer = cast("object", answerer.answer(asked))
    if not isawaitable(answer):
        raise BadAnswerer(
            "the method answer of its answerer is not async. Make it async: async def answer(self, asked)"
        )
    outcome = cast("object", await answer)
    if not isinstance(outcome, (Accepted, Declined, Cancelled)):
        raise BadAnswerer(
            f"its answerer returned {'None' if outcome is None else type(outcome).__name__}. "
            "Return Accepted(content) with a dict, Declined() or Cancelled()"
        )
    return cast("Outcome[Any]", outcome)


def action_of(outcome: Outcome[Any]) -> Literal["accept", "decline", "cancel"]:
    """The protocol's name for this outcome."""
    match outcome:
        case Accepted():
            return "accept"
        case Declined():
            return "decline"
        case Cancelled():
            return "cancel"


# --- modes -----------------------------------------------------------------------------------


def modes_of(answerer: Answerer) -> tuple[Mode, ...]:
    """The modes of elicitation that this answerer can serve."""
    return check_modes(getattr(answerer, "modes", BOTH))


def check_modes(modes: object) -> tuple[Mode, ...]:
    """Validate these modes. Rejects a single string, whose letters would pass as modes."""
    if isinstance(modes, (str, bytes)) or not isinstance(modes, Collection):
        raise TypeError(f"modes={modes!r}: write modes as a tuple, such as {BOTH!r} or {BOTH[:1]!r}")
    several = tuple(cast("Collection[Mode]", modes))
    for mode in several:
        if mode not in BOTH:
            raise ValueError(f"modes: {mode!r} is not a mode; use {' or '.join(map(repr, BOTH))}")
    return several


# --- waiting for visits ------------------------------------------------------------------------


class Waiting:
    """The visits that a call waits for, and which of them are done.

    Args:
        asked: The visits that the user agreed to.
        attempt: The number of the next attempt at the call, from 1.
        attempts: How many attempts there are at most.
        patience: Seconds after which the wait ends and the call is repeated; None for no limit.
    """

    def __init__(self, asked: Sequence[Asked], attempt: int, attempts: int, patience: float | None = None) -> None:
        self._ends = inf if patience is None else anyio.current_time() + patience
        self.asked = tuple(asked)
        self.attempt = attempt
        self.attempts = attempts
        self._open = {visit.question.id for visit in asked if isinstance(visit.question, VisitQuestion)}
        self._changed = anyio.Event()

    def is_done(self, asked: Asked) -> bool:
        """Whether the server has reported that this visit is done."""
        return isinstance(asked.question, VisitQuestion) and asked.question.id not in self._open

    @property
    def finished(self) -> bool:
        """Whether all visits are done."""
        return not self._open

    @property
    def overdue(self) -> bool:
        """Whether the time for this wait is up."""
        return anyio.current_time() >= self._ends

    def complete(self, id: str) -> None:
        """Mark this visit as done. Ignores unknown and finished ids."""
        if id in self._open:
            self._open.discard(id)
            self._changed.set()
            self._changed = anyio.Event()

    async def changed(self) -> None:
        """Return when the next visit is done."""
        await self._changed.wait()

    async def done(self) -> None:
        """Return when all visits are done."""
        while not self.finished:
            await self.changed()


@runtime_checkable
class Counts(Protocol):
    """An answerer that also counts the questions that could not be shown to anyone."""

    def count_unanswered(self) -> None: ...


@runtime_checkable
class Tells(Protocol):
    """An answerer with a person behind it, who is told why questions were stopped.

    `connect`, `attach` and `callback` limit how often servers may ask such an answerer.
    """

    def tell(self, sentence: str) -> None: ...


@runtime_checkable
class Waits(Protocol):
    """An answerer that keeps the user in charge while a call waits for visits.

    `wait` shows the visits and offers to try again now (return True) or to give up (return False). It's cancelled
    when all visits are done or the wait has taken too long, and the call is then retried automatically. If an answerer
    has no `wait`, only these two end it.
    """

    async def wait(self, waiting: Waiting) -> bool: ...
