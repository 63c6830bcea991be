"""Places for the questions that wait for one person. `Pending`, the browser and `Guard` use this queue.

A server has a limited number of places, and so have all servers together. When they're taken, its questions are
refused. A question that its server withdraws frees its place, even if nobody has seen it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from midcall.client.asked import Asked
from midcall.core.outcome import Cancelled, Outcome
from midcall.core.remembered import Remembered
from midcall.settings import MAX_PENDING, MAX_RATED_SERVERS


@dataclass(eq=False, slots=True)
class Entry:
    """A question in the queue, and the future of its outcome."""

    asked: Asked
    outcome: asyncio.Future[Outcome[Any]] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def settle(self, outcome: Outcome[Any] | None = None) -> None:
        """Set the outcome, unless there is one. By default, the question is cancelled."""
        if not self.outcome.done():
            self.outcome.set_result(Cancelled(self.asked.via) if outcome is None else outcome)


class Queue:
    """Counts waiting questions, by server and in all.

    Args:
        per_server: How many questions of one server may wait; None for no limit.
        in_all: How many questions may wait together; None for no limit.
    """

    def __init__(self, per_server: int | None = MAX_PENDING, in_all: int | None = None) -> None:
        self.per_server = per_server
        self.in_all = in_all
        self._entries: dict[Entry, None] = {}
        self._by_server: Counter[str] = Counter()
        self._overrun: Remembered[None] = Remembered(MAX_RATED_SERVERS)

    @contextmanager
    def join(self, asked: Asked) -> Generator[Entry]:
        """Keep this question in the queue while the context is open. Check `is_full` first."""
        entry = Entry(asked)
        self._entries[entry] = None
        self._by_server[asked.server] += 1
        try:
            yield entry
        finally:
            self.leave(entry)

    def is_full(self, server: str) -> bool:
        """Whether the next question of this server has to be refused."""
        return _reached(self.per_server, self._by_server[server]) or _reached(self.in_all, len(self._entries))

    def refuse(self, server: str) -> bool:
        """Note a refusal. Returns whether it's the first one since no question of this server was waiting."""
        first = server not in self._overrun
        self._overrun[server] = None
        return first

    def leave(self, entry: Entry) -> None:
        """Free the place of this question early, before its context closes."""
        if entry not in self._entries:
            return
        server = entry.asked.server
        del self._entries[entry]
        self._by_server[server] -= 1
        if not self._by_server[server]:
            del self._by_server[server]
            self._overrun.pop(server, None)
        if not self._entries:
            self._overrun.clear()


def _reached(limit: int | None, count: int) -> bool:
    return limit is not None and count >= limit
