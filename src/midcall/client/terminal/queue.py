"""The questions waiting for their turn at a terminal."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any, Final

from midcall.client.terminal.flow import Step
from midcall.core.outcome import Cancelled, Outcome

_MOST_TOGETHER: Final = 20


@dataclass(eq=False, slots=True)
class Waiter:
    """A question, and the future for its outcome."""

    step: Step
    answered: asyncio.Future[Outcome[Any]] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def settle(self, outcome: Outcome[Any] | None = None) -> None:
        """This became of it, if nothing did before; by default, it is cancelled."""
        if not self.answered.done():
            self.answered.set_result(outcome if outcome is not None else Cancelled(self.step.asked.via))


class Queue:
    """Waiters, in the order in which they came."""

    def __init__(self) -> None:
        self._waiters: dict[Waiter, None] = {}  # removing one from the middle is quick

    def __len__(self) -> int:
        return len(self._waiters)

    def __contains__(self, waiter: Waiter) -> bool:
        return waiter in self._waiters

    def join(self, waiter: Waiter) -> None:
        self._waiters[waiter] = None

    def leave(self, waiter: Waiter) -> None:
        del self._waiters[waiter]

    def next(self) -> list[Waiter]:
        """The questions that are answered together: those of one server. No answer waits for another's questions."""
        server = next(iter(self._waiters)).step.asked.server
        batch = [waiter for waiter in self._waiters if waiter.step.asked.server == server][:_MOST_TOGETHER]
        for waiter in batch:
            del self._waiters[waiter]
        return batch

    def cancel_all(self) -> int:
        """Cancel everything in the queue, and return how many there were."""
        waiters, self._waiters = self._waiters, {}
        for waiter in waiters:
            waiter.settle()
        return len(waiters)
