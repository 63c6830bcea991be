"""How many questions may wait for one person at once, and what becomes of the rest.

What comes on top is turned away: it is cancelled, and the user is told how many there were. When the user
has cancelled all, the rest of such a burst goes the same way, and does not open one form after the other.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from time import monotonic

from midcall.core.remembered import Remembered
from midcall.settings import BURST, BURST_OVER_SECONDS, BURST_POLL_SECONDS, MAX_PENDING, MAX_RATED_SERVERS


class Crowd:
    """Counts waiting questions.

    Args:
        most: How many questions of one server may wait; None for any number.
        clock: Seconds that only grow.
    """

    def __init__(self, most: int | None = MAX_PENDING, clock: Callable[[], float] = monotonic) -> None:
        self.most = most
        self.turned_away = 0
        """How many were, since the user was last told."""
        self._clock = clock
        self._waiting: Counter[str] = Counter()
        self._overrun: set[str] = set()
        self._hushed: Remembered[float] = Remembered(MAX_RATED_SERVERS)

    @contextmanager
    def one_more(self, server: str) -> Generator[bool]:
        """Tells whether one more question of this server may wait; if so, it does while this is open."""
        if not self._has_room(server):
            self.turned_away += 1
            yield False
            return
        self._waiting[server] += 1
        try:
            yield True
        finally:
            self._waiting[server] -= 1
            if not self._waiting[server]:
                del self._waiting[server]
                self._overrun.discard(server)

    def dismiss(self) -> None:
        """The user has cancelled all. Of servers that ask too much, that means what is still on its way, too."""
        now = self._clock()
        many = {server for server, count in self._waiting.items() if count >= BURST}
        self._hushed.update((server, now) for server in self._overrun | many)
        self._overrun.clear()

    async def calm(self) -> None:
        """Return when nobody has been turned away for a moment."""
        seen = -1
        while seen != self.turned_away:
            seen = self.turned_away
            await asyncio.sleep(BURST_POLL_SECONDS)

    def told(self) -> int:
        """How many were turned away since the last call, for a note to the user."""
        count, self.turned_away = self.turned_away, 0
        return count

    def _has_room(self, server: str) -> bool:
        if self._is_hushed(server):
            return False
        if self.most is None or self._waiting[server] < self.most:
            return True
        self._overrun.add(server)
        return False

    def _is_hushed(self, server: str) -> bool:
        now, last = self._clock(), self._hushed.pop(server, None)
        if last is None or now - last >= BURST_OVER_SECONDS:
            return False
        self._hushed[server] = now
        return True
