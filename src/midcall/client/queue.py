"""The pending questions for one person. Every answerer that asks a person, and `Guard`, uses this queue.

A server has a limited number of places, and so have all servers together. When they're taken, its questions are
refused. A question that its server withdraws frees its place, even if nobody has seen it.

When the user cancels everything at once, questions that are still on their way belong to that: servers that ask very
much are refused until they have been quiet for a moment.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from midcall.client.asked import Asked
from midcall.core.outcome import Cancelled, Outcome
from midcall.core.remembered import Remembered
from midcall.settings.client import BURST, BURST_OVER_SECONDS, BURST_POLL_SECONDS, MAX_PENDING, MAX_RATED_SERVERS


@dataclass(eq=False, slots=True)
class QueuedQuestion:
    """A question in the queue, and the future of its outcome."""

    asked: Asked
    is_taken: bool = False
    """Whether `take` has handed it out."""
    outcome: asyncio.Future[Outcome[Any]] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def settle(self, outcome: Outcome[Any] | None = None) -> None:
        """Set the outcome, unless there is one. By default, the question is cancelled."""
        if not self.outcome.done():
            self.outcome.set_result(Cancelled(self.asked.via) if outcome is None else outcome)


class Queue:
    """Waiting questions in order of arrival, counted by server and in all.

    Args:
        per_server: How many questions of one server may wait; None for no limit.
        in_all: How many questions may wait together; None for no limit.
        clock: Seconds that only grow.

    Attributes:
        refused: How many questions were refused since `count_refused` was last called.
    """

    def __init__(
        self,
        per_server: int | None = MAX_PENDING,
        in_all: int | None = None,
        *,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.per_server = per_server
        self.in_all = in_all
        self.refused = 0
        self._clock = clock
        self._entries: dict[QueuedQuestion, None] = {}  # removing one from the middle is quick
        self._by_server: Counter[str] = Counter()
        self._overrun: Remembered[None] = Remembered(MAX_RATED_SERVERS)
        self._dismissed: Remembered[float] = Remembered(MAX_RATED_SERVERS)

    # --- places -------------------------------------------------------------------------------

    @contextmanager
    def join(self, asked: Asked) -> Generator[QueuedQuestion]:
        """Keep this question in the queue while the context is open. Check `is_full` first."""
        entry = QueuedQuestion(asked)
        self._entries[entry] = None
        self._by_server[asked.sender] += 1
        try:
            yield entry
        finally:
            self.leave(entry)

    def leave(self, entry: QueuedQuestion) -> None:
        """Free the place of this question early, before its context closes."""
        if entry not in self._entries:
            return
        server = entry.asked.sender
        del self._entries[entry]
        self._by_server[server] -= 1
        if not self._by_server[server]:
            del self._by_server[server]
            self._overrun.pop(server, None)
        if not self._entries:
            self._overrun.clear()

    def is_full(self, server: str) -> bool:
        """Whether the next question of this server has to be refused."""
        return (
            self._is_dismissed(server)
            or _is_full(self.per_server, self._by_server[server])
            or _is_full(self.in_all, len(self._entries))
        )

    def refuse(self, server: str) -> bool:
        """Note a refusal. Returns whether it's the first one since no question of this server was waiting."""
        self.refused += 1
        first = server not in self._overrun
        self._overrun[server] = None
        return first

    def count_refused(self) -> int:
        """How many questions were refused since the last call, for a note to the user."""
        count, self.refused = self.refused, 0
        return count

    async def calm_down(self) -> None:
        """Return when no question has been refused for a moment."""
        seen = -1
        while seen != self.refused:
            seen = self.refused
            await asyncio.sleep(BURST_POLL_SECONDS)

    # --- order --------------------------------------------------------------------------------

    @property
    def untaken(self) -> list[QueuedQuestion]:
        """The questions that the user has not seen, oldest first."""
        return [entry for entry in self._entries if not entry.is_taken]

    def take(self, most: int) -> list[QueuedQuestion]:
        """Hand out the next questions, all of one server: no answer waits for another server's questions."""
        untaken = self.untaken
        batch = [entry for entry in untaken if entry.asked.sender == untaken[0].asked.sender][:most]
        for entry in batch:
            entry.is_taken = True
        return batch

    # --- cancelling everything ----------------------------------------------------------------

    def dismiss(self) -> int:
        """The user has cancelled everything: settle all unseen questions, and return how many there were.

        Servers that ask very much are refused until they have been quiet for a moment.
        """
        now = self._clock()
        for server, count in self._by_server.items():
            if count >= BURST or server in self._overrun:
                self._dismissed[server] = now
        self._overrun.clear()
        untaken = self.untaken
        for entry in untaken:
            entry.is_taken = True
            entry.settle()
        return len(untaken)

    def _is_dismissed(self, server: str) -> bool:
        now, last = self._clock(), self._dismissed.pop(server, None)
        if last is None or now - last >= BURST_OVER_SECONDS:
            return False
        self._dismissed[server] = now
        return True


def _is_full(limit: int | None, count: int) -> bool:
    return limit is not None and count >= limit


class Notices:
    """Tells the user what can wait until no question is on their screen.

    Args:
        queue: Counts the questions that were refused.
        screen: Keeps questions off the screen while it's open.
        tell: Shows a sentence.
        tell_refused: Shows how many questions were refused.
    """

    def __init__(
        self,
        queue: Queue,
        screen: Callable[[], AbstractAsyncContextManager[object]],
        tell: Callable[[str], None],
        tell_refused: Callable[[int], None],
    ) -> None:
        self._queue = queue
        self._screen = screen
        self._tell = tell
        self._tell_refused = tell_refused
        self._tasks: set[asyncio.Task[None]] = set()
        self._calming: asyncio.Task[None] | None = None

    def tell(self, sentence: str) -> None:
        """Show this sentence."""
        task = asyncio.create_task(self._tell_in_turn(sentence), name="midcall notice")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _tell_in_turn(self, sentence: str) -> None:
        async with self._screen():
            self._tell(sentence)

    def refuse(self, server: str) -> None:
        """Refuse a question of this server, and tell the user when no more are refused."""
        self._queue.refuse(server)
        if self._calming is None or self._calming.done():
            self._calming = asyncio.create_task(self._tell_when_calm(), name="midcall notice of refused questions")

    async def _tell_when_calm(self) -> None:
        await self._queue.calm_down()
        async with self._screen():
            self.tell_refused()

    def tell_refused(self) -> None:
        """Show how many questions were refused, if the user doesn't know. Call it only with the screen held."""
        if count := self._queue.count_refused():
            self._tell_refused(count)
