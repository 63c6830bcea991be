"""Questions handed out as data, and answered later: by another task, a web page, another process.

    pending = Pending()
    async with connect(server, pending) as client:
        call = asyncio.create_task(client.call_tool("book"))
        async for asked in pending:
            pending.accept(asked.id, {"days": 3})

`docs/pending.md` draws the life of a pending question.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, cast

from midcall.client.asked import Asked, Mode
from midcall.client.lines.columns import one_line
from midcall.client.validation import BOTH, check_modes
from midcall.core.forms.check import Problem, check, tidy
from midcall.core.outcome import Accepted, Cancelled, Declined, Outcome
from midcall.errors import MalformedAnswer, MidcallError
from midcall.wording.client import pending as wording

__all__ = ["Change", "DoesNotFit", "NotPending", "Pending"]

_log: Final = logging.getLogger("midcall.client")

Kind: TypeAlias = Literal["opened", "answered", "withdrawn"]
_ACTIONS: Final = {Accepted: "accept", Declined: "decline", Cancelled: "cancel"}


class NotPending(MidcallError, LookupError):
    """No question is open under this id: it was answered or withdrawn, or never asked."""

    def __init__(self, id: str) -> None:
        super().__init__(_not_pending(id))
        self.id = id


class DoesNotFit(MidcallError, ValueError):
    """The content does not fit the form. The question stays open; `problems` says all that is wrong."""

    def __init__(self, problems: Collection[Problem]) -> None:
        super().__init__(_does_not_fit([str(problem) for problem in problems]))
        self.problems = tuple(problems)

    def as_data(self) -> list[dict[str, str]]:
        """The problems as JSON-ready data."""
        return [{"field": each.field, "code": each.code, "message": each.message} for each in self.problems]


@dataclass(frozen=True, slots=True)
class Change:
    """Something happened to a question: it was opened, answered, or withdrawn by whoever asked it."""

    kind: Kind
    asked: Asked
    outcome: Outcome[Any] | None = None

    def as_data(self) -> dict[str, Any]:
        """The change as JSON-ready data. What was answered is not in it."""
        data: dict[str, Any] = {"change": self.kind, "id": self.asked.id}
        if self.kind == "opened":
            data["question"] = self.asked.as_data()
        if self.outcome is not None:
            data["action"] = _ACTIONS[type(self.outcome)]
        return data


class Pending:
    """An answerer that keeps questions open until someone answers them.

    `async for asked in pending` gives what is open, and then each new question as it comes. Everything
    here belongs to one event loop: from another thread, use `loop.call_soon_threadsafe`.

    Args:
        limit: How many questions may be open at once. What comes on top is cancelled, and logged.
        modes: The modes of elicitation that whoever answers can serve.
    """

    def __init__(self, *, limit: int = 100, modes: Collection[Mode] = BOTH) -> None:
        if not _is_count(limit):
            raise ValueError(_bad_limit(repr(limit)))
        self.modes: tuple[Mode, ...] = check_modes(modes)
        self.limit = limit
        self.turned_away = 0
        self._open: dict[str, _Open] = {}
        self._readers: set[_Reader] = set()
        self._closed = False
        self._full_was_said = False

    # --- what asks ------------------------------------------------------------------------------

    async def answer(self, asked: Asked) -> Outcome[Any]:
        """Keep the question open until it is settled. When this is cancelled, it is withdrawn."""
        if asked.id in self._open:
            raise ValueError(_asked_twice(asked.id))
        if self._closed or self.full:
            return self._turn_away(asked)
        self._open[asked.id] = waiting = _Open(asked, asyncio.get_running_loop().create_future())
        self._tell(Change("opened", asked))
        try:
            return await waiting.outcome
        finally:
            if self._open.pop(asked.id, None) is not None:
                self._tell(Change("withdrawn", asked))

    def _turn_away(self, asked: Asked) -> Outcome[Any]:
        """A machine cancels, it does not decline. A flood is logged once."""
        self.turned_away += 1
        if not self._full_was_said and not self._closed:
            self._full_was_said = True
            _log.warning(wording.too_many_open(one_line(asked.server), self.limit))
        return Cancelled(asked.via)

    # --- what is open ---------------------------------------------------------------------------

    @property
    def open(self) -> tuple[Asked, ...]:
        """The questions that are open, in the order in which they came."""
        return tuple(waiting.asked for waiting in self._open.values())

    @property
    def full(self) -> bool:
        """Whether no more questions can be open."""
        return len(self._open) >= self.limit

    def get(self, id: str) -> Asked | None:
        """The open question with this id, if there is one."""
        waiting = self._open.get(id)
        return waiting.asked if waiting is not None else None

    async def __aiter__(self) -> AsyncIterator[Asked]:
        """What is open, and then each new question. Those that are gone before you come to them are left out."""
        async with aclosing(self.changes()) as changes:
            async for change in changes:
                if change.kind == "opened":
                    yield change.asked

    async def changes(self) -> AsyncGenerator[Change]:
        """Everything that happens: an "opened" for each that is open now, and then all changes as they come.

        Ends when this is closed. A reader that is slow is never told of what came and went in between.
        """
        reader = _Reader([Change("opened", asked) for asked in self.open])
        self._readers.add(reader)
        try:
            while reader.changes or not self._closed:
                if (change := reader.take()) is not None:
                    yield change
                else:
                    await reader.wait()
        finally:
            self._readers.discard(reader)

    # --- what answers ---------------------------------------------------------------------------

    def accept(self, id: str, content: Mapping[str, Any] | None = None) -> None:
        """Answer with this content. For a visit, which has none, this is the consent to open it.

        Raises `DoesNotFit` if it does not fit the form, and the question stays open; `NotPending` if
        the question is not.
        """
        self.settle(id, Accepted(content))

    def decline(self, id: str) -> None:
        """Answer that the user says no."""
        self.settle(id, Declined())

    def cancel(self, id: str) -> None:
        """Close the question without an answer."""
        self.settle(id, Cancelled())

    def settle(self, id: str, outcome: Outcome[Any]) -> None:
        """Answer with this outcome. Raises what `accept` does."""
        waiting = self._open.get(id)
        if waiting is None:
            raise NotPending(id)
        outcome = _fitting(waiting.asked, outcome)
        del self._open[id]
        self._full_was_said = False
        if not waiting.outcome.done():
            waiting.outcome.set_result(outcome)
        self._tell(Change("answered", waiting.asked, outcome))

    def receive(self, data: object) -> None:
        """Answer with JSON data: `{"id": ..., "action": "accept" | "decline" | "cancel", "content": {...}}`.

        Raises what `accept` does, and `MalformedAnswer` if this is no answer at all.
        """
        id, outcome = _read(data)
        self.settle(id, outcome)

    def close(self) -> None:
        """Cancel all that is open, and end all iterators. What is asked from now on is cancelled at once."""
        self._closed = True
        for asked in self.open:
            self.cancel(asked.id)
        for reader in self._readers:
            reader.wake()

    def _tell(self, change: Change) -> None:
        for reader in self._readers:
            reader.put(change)


@dataclass(frozen=True, slots=True)
class _Open:
    asked: Asked
    outcome: asyncio.Future[Outcome[Any]]


class _Reader:
    """Changes that one reader has not seen: never more than two for each question that may be open."""

    def __init__(self, changes: list[Change]) -> None:
        self.changes = {change.asked.id: change for change in changes}
        self._woken = asyncio.Event()

    def put(self, change: Change) -> None:
        """One who has not heard of a question need not hear that it is gone."""
        if self.changes.pop(change.asked.id, None) is None:
            self.changes[change.asked.id] = change
        self._woken.set()

    def take(self) -> Change | None:
        return self.changes.pop(next(iter(self.changes))) if self.changes else None

    def wake(self) -> None:
        self._woken.set()

    async def wait(self) -> None:
        self._woken.clear()
        await self._woken.wait()


def _is_count(limit: object) -> bool:
    return isinstance(limit, int) and not isinstance(limit, bool) and limit >= 1


def _fitting(asked: Asked, outcome: Outcome[Any]) -> Outcome[Any]:
    """The outcome as it is sent, with the channel that carries it."""
    match outcome:
        case Accepted() if asked.mode == "url":
            return Accepted(None, asked.via)
        case Accepted(value=content):
            return Accepted(_checked(asked, {} if content is None else content), asked.via)
        case Declined():
            return Declined(asked.via)
        case Cancelled():
            return Cancelled(asked.via)


def _checked(asked: Asked, content: object) -> dict[str, Any]:
    if asked.form is None:
        return {}
    given = tidy(asked.form, cast("Mapping[str, Any]", content)) if isinstance(content, Mapping) else content
    if problems := check(asked.form, given):
        raise DoesNotFit(problems)
    return cast("dict[str, Any]", given)


def _read(data: object) -> tuple[str, Outcome[Any]]:
    if not isinstance(data, Mapping):
        raise MalformedAnswer(_not_a_reply("it is no object"))
    reply = cast("Mapping[str, Any]", data)
    id, action = reply.get("id"), reply.get("action")
    if not isinstance(id, str):
        raise MalformedAnswer(_not_a_reply('"id" must be text'))
    match action:
        case "accept":
            return id, Accepted(reply.get("content"))
        case "decline":
            return id, Declined()
        case "cancel":
            return id, Cancelled()
        case _:
            raise MalformedAnswer(_not_a_reply('"action" must be accept, decline or cancel'))


def _not_pending(id: str) -> str:
    return f"no question is open under the id {id[:64]!r}: it was answered or withdrawn, or never asked"


def _does_not_fit(problems: list[str]) -> str:
    return f"the answer does not fit the form, and the question stays open ({'; '.join(problems)})"


def _not_a_reply(why: str) -> str:
    return f'this is no answer to a question: {why}. One looks like {{"id": ..., "action": "accept", "content": {{}}}}'


def _asked_twice(id: str) -> str:
    return f"a question with the id {id[:64]!r} is open already"


def _bad_limit(given: str) -> str:
    return f"limit={given}: it takes the number of questions that may be open at once, at least 1"
