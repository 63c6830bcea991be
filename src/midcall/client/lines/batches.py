"""Questions waiting for one terminal. Those that arrive together are reviewed together."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Any

import anyio

from midcall.client.asked import Asked
from midcall.core.forms.form import Form
from midcall.core.outcome import Outcome
from midcall.settings.client import BATCH_SECONDS


@dataclass(eq=False, slots=True)
class BatchedQuestion:
    """One question: `content` once its form is filled in, `outcome` once it's decided."""

    asked: Asked
    batch: Batch
    content: dict[str, Any] | None = None
    outcome: Outcome[Any] | None = None

    @property
    def is_filled(self) -> bool:
        return self.outcome is not None or self.content is not None

    @property
    def form(self) -> Form:
        """The form of a question that has content."""
        assert self.asked.form is not None
        return self.asked.form


@dataclass(eq=False, slots=True)
class Batch:
    """Questions of one server that arrived together. It takes more until the first one is filled in."""

    questions: list[BatchedQuestion] = field(default_factory=list[BatchedQuestion])
    size: int = 0
    open: bool = True
    changed: anyio.Event = field(default_factory=anyio.Event)
    """Set at the next change. Get it before you check the batch, then wait for it."""

    def join(self, asked: Asked) -> BatchedQuestion:
        question = BatchedQuestion(asked, self)
        self.questions.append(question)
        self.size += 1
        return question

    def leave(self, question: BatchedQuestion) -> None:
        """Remove a question that is answered or withdrawn."""
        self.questions.remove(question)
        self.tell()

    def tell(self) -> None:
        """Wake all waiters: a question was filled in, decided or withdrawn."""
        self.open = False
        self.changed.set()
        self.changed = anyio.Event()

    @property
    def is_filled(self) -> bool:
        """Whether only the review is left."""
        return all(question.is_filled for question in self.questions)

    @property
    def drafts(self) -> list[BatchedQuestion]:
        """Questions that are filled in and not sent."""
        return [question for question in self.questions if question.content is not None and question.outcome is None]


class Batches:
    """The questions waiting for the terminal."""

    def __init__(self) -> None:
        self._batches: dict[tuple[str, str], Batch] = {}
        self._waiting: dict[BatchedQuestion, None] = {}
        self._known: float = 0
        self.arrived = anyio.Event()
        """Set when the next question arrives."""

    def join(self, asked: Asked) -> BatchedQuestion:
        """Add a question to the batch of those that arrive with it."""
        self.arrived.set()
        self.arrived = anyio.Event()
        self._batches = {key: batch for key, batch in self._batches.items() if batch.open}
        question = self._batches.setdefault((asked.sender, asked.via), Batch()).join(asked)
        self._waiting[question] = None
        return question

    def leave(self, question: BatchedQuestion) -> None:
        """Remove a question that is answered or withdrawn."""
        del self._waiting[question]
        question.batch.leave(question)

    @property
    def waiting(self) -> list[BatchedQuestion]:
        """The undecided questions, oldest first."""
        return [question for question in self._waiting if question.outcome is None]

    def count_shown(self) -> int:
        """Count the waiting questions, which the user is now told about."""
        count = self._known = len(self.waiting)
        return count

    async def more(self) -> int:
        """Wait for more questions than the user was told about, and count them. They are told once, even in a flood."""
        while len(self.waiting) <= self._known:
            await self.arrived.wait()
        seen = 0
        while seen != (count := len(self.waiting)):
            seen = count
            await anyio.sleep(BATCH_SECONDS)
        self._known = inf
        return count
