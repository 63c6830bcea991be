"""A state continues once.

Each round of a call is a turn: the request that brings its answers continues the call. The same request sent again
joins it and gets the same outcome; other answers to a turn that was continued are refused.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import OrderedDict, deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, ErrorData

if TYPE_CHECKING:
    from midcall.server.call import Call

__all__ = ["Outcome", "Turn", "Turns", "digest_answers"]

_REMEMBERED: Final = 100_000
"""How many turns a process remembers. Older ones have expired on all but the busiest servers."""
_OUTCOMES: Final = 1_000
"""Of how many turns it keeps the outcome."""


class Outcome(NamedTuple):
    """What a turn came to, as wire data."""

    result: Any = None
    error: ErrorData | None = None


FORGOTTEN: Final = Outcome(
    error=ErrorData(code=INVALID_PARAMS, message="This request was already continued, and its result is gone.")
)


class Turn:
    """One continuation of a call."""

    __slots__ = ("answers", "cancelled", "joined", "lock", "outcome", "waiting")

    def __init__(self, answers: bytes) -> None:
        self.answers = answers
        """The digest of the answers that continued the call."""
        self.lock = asyncio.Lock()
        """Held by the request that serves the turn; the others wait for it."""
        self.outcome: Outcome | None = None
        self.waiting = 0
        """How many requests wait for the outcome."""
        self.cancelled = False
        self.joined: Call | None = None
        """The call, once it is being continued: if its request breaks off, another one can join it."""

    def check(self, answers: bytes) -> None:
        """Refuse other answers, and a call that its client has cancelled.

        Raises:
            MCPError: This can't be continued.
        """
        if answers != self.answers:
            raise MCPError(
                INVALID_PARAMS,
                "This request was already continued with other answers. Call the tool again to start over.",
            )
        if self.cancelled:
            raise MCPError(INVALID_PARAMS, "This call was cancelled. Call the tool again to start over.")


class Turns:
    """The turns that this process has continued, by call and number."""

    def __init__(self) -> None:
        self._turns: OrderedDict[tuple[str, int], Turn] = OrderedDict()
        self._settled: deque[Turn] = deque()

    def get(self, call: str, number: int) -> Turn | None:
        return self._turns.get((call, number))

    def begin(self, call: str, number: int, answers: bytes) -> Turn:
        """Continue the call."""
        turn = self._turns[call, number] = Turn(answers)
        if len(self._turns) > _REMEMBERED:
            self._turns.popitem(last=False)
        return turn

    def settle(self, turn: Turn, outcome: Outcome) -> None:
        """What this turn came to. Only the newest outcomes are kept, for requests that are sent twice."""
        turn.outcome, turn.joined = outcome, None
        self._settled.append(turn)
        if len(self._settled) > _OUTCOMES:
            self._settled.popleft().outcome = FORGOTTEN

    def forget(self, call: str, number: int) -> None:
        """This turn wasn't continued after all."""
        self._turns.pop((call, number), None)


def digest_answers(responses: Mapping[str, Any]) -> bytes:
    """Name these answers: equal ones have the same digest."""
    if not responses:
        return b""
    return hashlib.sha256(json.dumps(responses, sort_keys=True, separators=(",", ":")).encode()).digest()
