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
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, ErrorData
from pydantic import BaseModel

from midcall.settings import MAX_TURN_OUTCOMES, MAX_TURNS

if TYPE_CHECKING:
    from midcall.server.call import Call


class OwnState(str):
    """A state that midcall made: unsealed and verified, or about to be sealed."""

    __slots__ = ()


CONTINUED: Final = "This request was already continued with other answers. Call the tool again to start over."
PAST: Final = "This request was already continued, and its result is gone. Call the tool again to start over."
WAS_CANCELLED: Final = "This call was cancelled. Call the tool again to start over."


class Given(NamedTuple):
    """What a request brings to continue a call with."""

    responses: Mapping[str, Any]
    relayed: Mapping[str, Any] | None = None
    """The answer that the model brings, with a code."""


class Outcome(NamedTuple):
    """What a turn came to, as wire data."""

    result: Any = None
    error: ErrorData | None = None

    def again(self) -> Any:
        """The result, for one more request.

        Raises:
            MCPError: It was an error.
        """
        if self.error is not None:
            raise MCPError.from_error_data(self.error)
        return self.result

    def plain(self) -> tuple[Any, Any]:
        """The outcome as JSON data, for another process."""
        result = self.result
        if isinstance(result, BaseModel):
            result = result.model_dump(by_alias=True, mode="json", exclude_none=True)
        if isinstance(state := _state_of(result), OwnState):
            result = {**result, "requestState": {_OWN: str(state)}}
        return result, None if self.error is None else self.error.model_dump(mode="json")

    @classmethod
    def from_plain(cls, result: Any, error: ErrorData | None) -> Outcome:
        if isinstance(state := _state_of(result), dict):
            result = {**result, "requestState": OwnState(cast("dict[str, str]", state)[_OWN])}
        return cls(result, error)


def _state_of(result: Any) -> object:
    return cast("dict[str, Any]", result).get("requestState") if isinstance(result, dict) else None


_OWN: Final = "own"


FORGOTTEN: Final = Outcome(error=ErrorData(code=INVALID_PARAMS, message=PAST))


class Turn:
    """One continuation of a call."""

    __slots__ = ("cancelled", "given", "joined", "lock", "outcome", "waiting")

    def __init__(self, given: Given) -> None:
        self.given: bytes | None = _fingerprint(given)
        """Names the answers that continued the call, as long as its outcome is kept. Answers may be large."""
        self.lock = asyncio.Lock()
        """Held by the request that serves the turn; the others wait for it."""
        self.outcome: Outcome | None = None
        self.waiting = 0
        """How many requests wait for the outcome."""
        self.cancelled = False
        self.joined: Call | None = None
        """The call, once it is being continued: if its request breaks off, another one can join it."""

    def check(self, given: Given) -> None:
        """Refuse other answers, and a call that its client has cancelled.

        Raises:
            MCPError: This can't be continued.
        """
        if self.given is not None and _fingerprint(given) != self.given:
            raise MCPError(INVALID_PARAMS, CONTINUED)
        if self.cancelled:
            raise MCPError(INVALID_PARAMS, WAS_CANCELLED)


def _fingerprint(given: Given) -> bytes:
    return hashlib.sha256(json.dumps(list(given), sort_keys=True).encode()).digest()


class Turns:
    """The turns that this process has continued, by call and number."""

    def __init__(self) -> None:
        self._turns: OrderedDict[tuple[str, int], Turn] = OrderedDict()
        self._settled: deque[Turn] = deque()

    def join(self, call: str, number: int, given: Given) -> Turn:
        """Continue the call, or join the request that does.

        Raises:
            MCPError: It was continued with other answers, or cancelled.
        """
        if (turn := self._turns.get((call, number))) is not None:
            turn.check(given)
            return turn
        turn = self._turns[call, number] = Turn(given)
        if len(self._turns) > MAX_TURNS:
            self._turns.popitem(last=False)
        return turn

    def settle(self, turn: Turn, outcome: Outcome) -> None:
        """What this turn came to. Only the newest outcomes are kept, for requests that are sent twice."""
        turn.outcome, turn.joined = outcome, None
        self._settled.append(turn)
        if len(self._settled) > MAX_TURN_OUTCOMES:
            oldest = self._settled.popleft()
            oldest.outcome, oldest.given = FORGOTTEN, None

    def forget(self, call: str, number: int) -> None:
        """This turn wasn't continued after all."""
        self._turns.pop((call, number), None)
