"""What this process has continued: a state continues once, for as long as that is remembered."""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable
from typing import Final, TypeAlias

from midcall.core.journal import Head
from midcall.server.running.turn import FORGOTTEN, Outcome, Turn
from midcall.settings.live_runs import MAX_TURN_OUTCOMES, MAX_TURNS, OUTCOME_BYTES

_Key: TypeAlias = tuple[str, int]

_SHARE: Final = 100
"""So much of what is remembered makes room at once: finding the busiest caller takes a while."""


class Past:
    """The turns that this process has continued, by call and number, and what the newest came to.

    Args:
        in_store: Whether a store remembers the outcomes, too.
    """

    def __init__(self, *, in_store: bool) -> None:
        self._in_store = in_store
        self._turns: dict[_Key, Turn] = {}
        self._of: dict[str, dict[_Key, Turn]] = {}
        """The same by caller, oldest first."""
        self._kept = _Kept()

    def __contains__(self, key: _Key) -> bool:
        return key in self._turns

    def join(self, head: Head, answers: bytes, caller: Callable[[], str]) -> Turn:
        """The turn that this state continues with these answers; if other requests do the same, it's the same turn.

        Raises:
            MCPError: It was continued with other answers, or cancelled.
        """
        key = head.call, head.turn
        if (turn := self._turns.get(key)) is not None:
            turn.check(answers)
            return turn
        turn = Turn(answers, caller=caller())
        self._remember(key, turn)
        return turn

    def refuse(self, call: str, number: int, caller: str) -> None:
        """Nobody may continue this turn: what it came to is gone."""
        self._remember((call, number), Turn(None, outcome=FORGOTTEN, caller=caller))

    def forget(self, head: Head) -> None:
        """This turn wasn't continued after all."""
        self._remove((head.call, head.turn))

    def settle(self, turn: Turn, outcome: Outcome) -> None:
        """What this turn came to. Only the newest outcomes are kept, for requests that are sent twice."""
        turn.settle(outcome)
        self._kept.add(turn)
        while (oldest := self._kept.surplus(turn)) is not None:
            oldest.outcome, oldest.given = None if self._in_store else FORGOTTEN, None

    def _remember(self, key: _Key, turn: Turn) -> None:
        self._remove(key)
        if len(self._turns) >= MAX_TURNS:
            self._make_room()
        self._turns[key] = turn
        self._of.setdefault(turn.caller, {})[key] = turn

    def _remove(self, key: _Key) -> None:
        if (turn := self._turns.pop(key, None)) is not None:
            of_caller = self._of[turn.caller]
            del of_caller[key]
            if not of_caller:
                del self._of[turn.caller]

    def _make_room(self) -> None:
        """Forget the oldest turns of the callers with most. A turn in service stays: its call would run again."""
        busiest = [(-len(turns), caller) for caller, turns in self._of.items()]
        heapq.heapify(busiest)
        left = math.ceil(MAX_TURNS / _SHARE)
        while left and busiest:
            count, caller = heapq.heappop(busiest)
            oldest = next((key for key, turn in self._of[caller].items() if not turn.is_in_service), None)
            if oldest is None:
                continue
            self._remove(oldest)
            left -= 1
            if count < -1:
                heapq.heappush(busiest, (count + 1, caller))


class _Kept:
    """The turns whose outcomes are kept."""

    def __init__(self) -> None:
        self._count = 0
        self._size = 0
        self._of: dict[str, deque[Turn]] = {}
        """By caller, oldest first."""
        self._sizes: dict[str, int] = {}

    def add(self, turn: Turn) -> None:
        self._count += 1
        self._size += turn.size
        self._of.setdefault(turn.caller, deque()).append(turn)
        self._sizes[turn.caller] = self._sizes.get(turn.caller, 0) + turn.size

    def surplus(self, newest: Turn) -> Turn | None:
        """Take out the oldest turn of the caller with most, if there are too many, but never the newest of all."""
        if self._count > MAX_TURN_OUTCOMES:
            caller = max(self._of, key=lambda caller: len(self._of[caller]))
        elif self._size > OUTCOME_BYTES:
            caller = max(self._sizes, key=lambda caller: self._sizes[caller])
        else:
            return None
        return None if self._of[caller][0] is newest else self._take_oldest(caller)

    def _take_oldest(self, caller: str) -> Turn:
        turn = self._of[caller].popleft()
        self._count -= 1
        self._size -= turn.size
        self._sizes[caller] -= turn.size
        if not self._of[caller]:
            del self._of[caller], self._sizes[caller]
        return turn
