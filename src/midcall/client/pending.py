"""Hand questions out as data, and take answers later: from another task, a web page, another process.

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
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, cast

from midcall.client.answerer import BOTH, action_of, check_modes
from midcall.client.asked import Asked, Mode
from midcall.client.lines.excerpt import server_name
from midcall.client.queue import Queue, QueuedQuestion
from midcall.core.forms.check import check, tidy
from midcall.core.outcome import Accepted, Cancelled, Declined, Outcome
from midcall.errors import MalformedAnswer, MidcallError
from midcall.language.problems import Problem
from midcall.settings.client import MAX_PENDING

_log: Final = logging.getLogger("midcall.client")

Kind: TypeAlias = Literal["opened", "answered", "withdrawn"]


class NotPending(MidcallError, LookupError):
    """No question with this id is open: it was answered or withdrawn, or never existed."""

    def __init__(self, id: str) -> None:
        super().__init__(f"no question with the id {id[:64]!r} is open: it was answered or withdrawn, or never existed")
        self.id = id


class DoesNotFit(MidcallError, ValueError):
    """The content doesn't fit the form. The question stays open; `problems` lists everything that's wrong."""

    def __init__(self, problems: Collection[Problem]) -> None:
        super().__init__(
            f"the answer does not fit the form, and the question stays open ({'; '.join(map(str, problems))})"
        )
        self.problems = tuple(problems)

    def as_data(self) -> list[dict[str, str]]:
        """The problems as JSON-ready data."""
        return [{"field": each.field, "code": each.code, "message": each.message} for each in self.problems]


@dataclass(frozen=True, slots=True)
class Change:
    """A question was opened, answered, or withdrawn by its server."""

    kind: Kind
    asked: Asked
    outcome: Outcome[Any] | None = None

    def as_data(self) -> dict[str, Any]:
        """The change as JSON-ready data, without the answer."""
        data: dict[str, Any] = {"change": self.kind, "id": self.asked.id}
        if self.kind == "opened":
            data["question"] = self.asked.as_data()
        if self.outcome is not None:
            data["action"] = action_of(self.outcome)
        return data


class Pending:
    """An answerer that keeps questions open until someone answers them.

    `async for asked in pending` yields the open questions, then each new one as it arrives. Use it from one
    event loop; from another thread, use `loop.call_soon_threadsafe`.

    Args:
        limit: How many questions may be open at once. More are cancelled, which is logged.
        modes: The modes of elicitation that you can serve.
        tell: Called with a sentence for the user if a server asks too often; by default it's logged.
    """

    def __init__(
        self,
        *,
        limit: int = MAX_PENDING,
        modes: Collection[Mode] = BOTH,
        tell: Callable[[str], object] | None = None,
    ) -> None:
        if not isinstance(cast("object", limit), int) or isinstance(limit, bool) or limit < 1:
            raise ValueError(f"limit={limit!r}: it takes how many questions may be open at once, at least 1")
        self.modes: tuple[Mode, ...] = check_modes(modes)
        self.limit = limit
        self._tell = tell or _log.warning
        self._queue = Queue(per_server=None, in_all=limit)
        self._open: dict[str, QueuedQuestion] = {}
        self._readers: set[_Reader] = set()
        self._closed = False

    # --- asking ---------------------------------------------------------------------------------

    async def answer(self, asked: Asked) -> Outcome[Any]:
        """Keep the question open until it's settled. If this is cancelled, the question is withdrawn."""
        if asked.id in self._open:
            raise ValueError(f"a question with the id {asked.id[:64]!r} is already open")
        if self._closed or self.full:
            return self._turn_away(asked)
        with self._queue.join(asked) as entry:
            self._open[asked.id] = entry
            self._notify(Change("opened", asked))
            try:
                return await entry.outcome
            finally:
                if self._open.pop(asked.id, None) is not None:
                    self._notify(Change("withdrawn", asked))

    def tell(self, sentence: str) -> None:
        """Show this to the user."""
        self._tell(sentence)

    def _turn_away(self, asked: Asked) -> Outcome[Any]:
        """Cancel, since a machine never declines for a person. Log a flood once."""
        if self._queue.refuse(asked.sender) and not self._closed:
            _log.warning(
                f"questions of {server_name(asked.server)} are being cancelled: {self.limit} are open, the limit"
            )
        return Cancelled(asked.via)

    # --- reading --------------------------------------------------------------------------------

    @property
    def open(self) -> tuple[Asked, ...]:
        """The open questions, in order of arrival."""
        return tuple(entry.asked for entry in self._open.values())

    @property
    def full(self) -> bool:
        """Whether the limit is reached."""
        return len(self._open) >= self.limit

    @property
    def turned_away(self) -> int:
        """How many questions were cancelled because of the limit."""
        return self._queue.refused

    def get(self, id: str) -> Asked | None:
        """The open question with this id, if there is one."""
        entry = self._open.get(id)
        return entry.asked if entry is not None else None

    async def __aiter__(self) -> AsyncIterator[Asked]:
        """Yield the open questions, then each new one. Skips questions that were settled before you got to them."""
        async with aclosing(self.changes()) as changes:
            async for change in changes:
                if change.kind == "opened":
                    yield change.asked

    async def changes(self) -> AsyncGenerator[Change]:
        """Yield an "opened" for each open question, then every change as it happens.

        Ends when this is closed. A slow reader never sees questions that were opened and settled in between.
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

    # --- answering ------------------------------------------------------------------------------

    def accept(self, id: str, content: Mapping[str, Any] | None = None) -> None:
        """Answer with this content. For a visit, which has none, this is consent to open it.

        Raises:
            DoesNotFit: The content doesn't fit the form. The question stays open.
            NotPending: The question isn't open.
        """
        self.settle(id, Accepted(content))

    def decline(self, id: str) -> None:
        """Decline for the user."""
        self.settle(id, Declined())

    def cancel(self, id: str) -> None:
        """Dismiss the question without an answer."""
        self.settle(id, Cancelled())

    def settle(self, id: str, outcome: Outcome[Any]) -> None:
        """Answer with this outcome. Raises the same errors as `accept`."""
        entry = self._open.get(id)
        if entry is None:
            raise NotPending(id)
        outcome = _check_outcome(entry.asked, outcome)
        del self._open[id]
        self._queue.leave(entry)
        entry.settle(outcome)
        self._notify(Change("answered", entry.asked, outcome))

    def receive(self, data: object) -> None:
        """Answer with JSON data: `{"id": ..., "action": "accept" | "decline" | "cancel", "content": {...}}`.

        Raises the same errors as `accept`, and `MalformedAnswer` if this isn't an answer at all.
        """
        id, outcome = _read(data)
        self.settle(id, outcome)

    def close(self) -> None:
        """Cancel all open questions and end all iterators. New questions are cancelled at once."""
        self._closed = True
        for asked in self.open:
            self.cancel(asked.id)
        for reader in self._readers:
            reader.wake()

    def _notify(self, change: Change) -> None:
        for reader in self._readers:
            reader.put(change)


class _Reader:
    """The changes that one reader hasn't seen: at most two for each question that may be open."""

    def __init__(self, changes: list[Change]) -> None:
        self.changes = {change.asked.id: change for change in changes}
        self._woken = asyncio.Event()

    def put(self, change: Change) -> None:
        """Drop both changes of a question that is gone before the reader saw it."""
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


def _check_outcome(asked: Asked, outcome: Outcome[Any]) -> Outcome[Any]:
    """The outcome as it's sent: checked against the form, with the channel that carries it."""
    match outcome:
        case Accepted() if asked.mode == "url":
            return Accepted(None, asked.via)
        case Accepted(value=content):
            return Accepted(_check_content(asked, {} if content is None else content), asked.via)
        case Declined():
            return Declined(asked.via)
        case Cancelled():
            return Cancelled(asked.via)


def _check_content(asked: Asked, content: object) -> dict[str, Any]:
    if asked.form is None:
        return {}
    given = tidy(asked.form, cast("Mapping[str, Any]", content)) if isinstance(content, Mapping) else content
    if problems := check(asked.form, given):
        raise DoesNotFit(problems)
    return cast("dict[str, Any]", given)


def _read(data: object) -> tuple[str, Outcome[Any]]:
    if not isinstance(data, Mapping):
        raise _refuse_malformed("it is not an object")
    reply = cast("Mapping[str, Any]", data)
    id, action = reply.get("id"), reply.get("action")
    if not isinstance(id, str):
        raise _refuse_malformed('"id" must be text')
    match action:
        case "accept":
            return id, Accepted(reply.get("content"))
        case "decline":
            return id, Declined()
        case "cancel":
            return id, Cancelled()
        case _:
            raise _refuse_malformed('"action" must be accept, decline or cancel')


def _refuse_malformed(why: str) -> MalformedAnswer:
    return MalformedAnswer(
        f"this is not an answer to a question: {why}. "
        'An answer looks like {"id": ..., "action": "accept", "content": {}}'
    )
