"""The runs between two requests, and who makes room if there are too many: the caller with most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from midcall.server.running.sizes import size_of_request
from midcall.server.running.threads import size_of_pool
from midcall.settings.live_runs import WAITING_BYTES

if TYPE_CHECKING:
    from midcall.server.call import Call


class _Wait(NamedTuple):
    call: Call
    until: float
    """When it expires, by the clock of its loop."""
    size: int
    """About how many bytes its requests take."""


class _Share(NamedTuple):
    """What one user has."""

    runs: int = 0
    size: int = 0


_NOTHING: Final = _Share()


class Waiting:
    """The runs that wait for their next request, by call, oldest first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._each = max(1, most // 2)
        """How many runs one user may have."""
        self._waits: dict[str, _Wait] = {}
        self._size = 0
        self._of_users: dict[str, _Share] = {}

    def __len__(self) -> int:
        return len(self._waits)

    def __iter__(self) -> Iterator[Call]:
        return (wait.call for wait in self._waits.values())

    def find(self, name: str) -> Call | None:
        """The call of this name."""
        wait = self._waits.get(name)
        return None if wait is None else wait.call

    def deadlines(self) -> Iterator[tuple[Call, float]]:
        """The calls, and when each expires, the earliest first."""
        return ((wait.call, wait.until) for wait in self._waits.values())

    def add(self, call: Call, until: float) -> bool:
        """Let this call wait. Whether there are too many now."""
        size = size_of_request(call.ctx, WAITING_BYTES)
        if call.first_size:
            size += call.first_size  # its tool holds the arguments of its first request, too
        else:
            call.first_size = size
        self._waits[call.name] = _Wait(call, until, size)
        self._size += size
        self._count(call, 1, size)
        return not self._has_room(call, self._share_of(call))

    def remove(self, call: Call) -> bool:
        """Take this call out. False if it doesn't wait."""
        wait = self._waits.get(call.name)
        if wait is None or wait.call is not call:
            return False
        del self._waits[call.name]
        self._size -= wait.size
        self._count(call, -1, -wait.size)
        return True

    def _count(self, call: Call, runs: int, size: int) -> None:
        if not (is_counted(call) and call.owner):
            return
        share = self._of_users.pop(call.owner, _NOTHING)
        share = _Share(share.runs + runs, share.size + size)
        if share.runs:
            self._of_users[call.owner] = share

    # --- room ---------------------------------------------------------------------------------

    def surplus(self, newest: Call) -> Call | None:
        """The run that has to make room, now that this one waits; None if there is room for all."""
        own = self._share_of(newest)
        if self._has_room(newest, own):
            return None
        return self._of_runs(newest, own) or self._of_threads() or self._of_bytes(newest, own)

    def _share_of(self, call: Call) -> _Share:
        return self._of_users.get(call.owner, _NOTHING) if is_counted(call) and call.owner else _NOTHING

    def _has_room(self, newest: Call, own: _Share) -> bool:
        return (
            len(self._waits) <= self._most
            and own.runs <= self._each
            and self._size <= WAITING_BYTES
            and own.size <= WAITING_BYTES // 2
            and not newest.run.threads_waiting
        )

    def _of_runs(self, newest: Call, own: _Share) -> Call | None:
        """A run that is one too many; or one that has ended and only keeps its result, if those are."""
        waiting = [call for call in self if not call.run.done]
        if own.runs > self._each:
            mine = [call for call in waiting if call.owner == newest.owner]
            if len(mine) > self._each:
                return mine[0]
        if len(waiting) > self._most:
            return _oldest_of_busiest(waiting)
        done = [call for call in self if call.run.done]
        return _oldest_of_busiest(done) if len(done) > self._most else None

    def _of_threads(self) -> Call | None:
        """Runs may hold half of the worker threads: the others serve."""
        holding = [call for call in self if call.run.threads_waiting]
        return _oldest_of_busiest(holding) if len(holding) > size_of_pool() // 2 else None

    def _of_bytes(self, newest: Call, own: _Share) -> Call | None:
        """The largest run, if the requests of its caller take too much memory."""
        waits = list(self._waits.values())
        if own.size > WAITING_BYTES // 2:
            waits = [wait for wait in waits if wait.call.owner == newest.owner]
        elif self._size > WAITING_BYTES:
            sizes: Counter[str] = Counter()
            for wait in waits:
                sizes[wait.call.caller] += wait.size
            most = sizes.most_common(1)[0][0]
            waits = [wait for wait in waits if wait.call.caller == most]
        else:
            return None
        return max(waits, key=lambda wait: wait.size).call


def is_counted(call: Call) -> bool:
    """Whether the caller of this may be one of many."""
    return call.ctx.request is not None or call.installation.principal is not None


def caller_of(call: Call) -> str:
    """Who has made this call, among callers of this server; empty if there is only one."""
    return call.caller if is_counted(call) else ""


def busiest(callers: Iterable[str]) -> str:
    """The caller who is named most often."""
    return Counter(callers).most_common(1)[0][0]


def _oldest_of_busiest(calls: Sequence[Call]) -> Call:
    most = busiest(call.caller for call in calls)
    return next(call for call in calls if call.caller == most)
