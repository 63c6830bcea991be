"""A state continues once, for as long as that is remembered.

Each round of a call is a turn: the request that brings its answers continues the call. The same request sent again
joins it and gets the same outcome; other answers to a turn that was continued are refused.
"""

from __future__ import annotations

import asyncio
import hashlib
import heapq
import json
import math
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeGuard, cast

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, ErrorData
from pydantic import BaseModel
from pydantic_core import to_json

from midcall.errors import StoreError
from midcall.server.channels.push import take_back
from midcall.server.frameworks.errors import protocol_error
from midcall.server.running.run import CANCELLED, ELSEWHERE, STOPPED, UNSETTLED
from midcall.server.running.sizes import size_of
from midcall.settings.live_runs import MAX_TURN_OUTCOMES, MAX_TURNS, OUTCOME_BYTES

if TYPE_CHECKING:
    from midcall.core.journal import Head
    from midcall.server.call import Call
    from midcall.server.running.handover import Claim
    from midcall.server.running.runs import Runs


_Key: TypeAlias = tuple[str, int]

_SHARE: Final = 100
"""So much of what is remembered makes room at once: finding the busiest caller takes a while."""

_canonical: Final = json.JSONEncoder(sort_keys=True).encode


class OwnState(str):
    """A state that midcall made: unsealed and verified, or about to be sealed."""

    __slots__ = ()


class _Packed(bytes):
    """A result as JSON."""

    __slots__ = ()


class _PackedRound(_Packed):
    """A round with an own state, as JSON."""

    __slots__ = ()


CONTINUED: Final = "This request was already continued with other answers. Call the tool again to start over."
PAST: Final = "This request was already continued, and its result is gone. Call the tool again to start over."
WAS_CANCELLED: Final = "This call was cancelled. Call the tool again to start over."
REFUSALS: Final = {CONTINUED: "continued", PAST: "past", WAS_CANCELLED: "cancelled"}
"""What the audit trail calls them."""


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
        if not isinstance(self.result, _Packed):
            return self.result
        try:
            result = json.loads(self.result)
        except ValueError:  # Python reads no number of more than 4,300 digits
            raise MCPError(INVALID_PARAMS, PAST) from None
        if isinstance(self.result, _PackedRound):
            result["requestState"] = OwnState(result["requestState"])
        return result

    def pack(self) -> Outcome:
        """The same in less memory: of those that are kept, few are asked for again."""
        result = self.result
        if not isinstance(result, (dict, BaseModel)):
            return self
        try:
            text = to_json(result, by_alias=True, exclude_none=True, inf_nan_mode="constants")
        except Exception:  # a text that isn't valid Unicode, or an author's own type
            return self
        return Outcome(_PackedRound(text) if has_own_state(result) else _Packed(text))

    def size(self) -> int:
        """About how many bytes of memory it takes."""
        return len(self.result) if isinstance(self.result, _Packed) else size_of(self.result, OUTCOME_BYTES)

    def plain(self) -> tuple[Any, Any, str | None]:
        """The outcome as JSON data, for another process: result, error, and our state.

        The state is apart from the result, which may contain anything that a tool returns.
        """
        result = self.result
        if isinstance(result, BaseModel):
            result = result.model_dump(by_alias=True, mode="json", exclude_none=True)
        error = None if self.error is None else self.error.model_dump(mode="json")
        if has_own_state(result):
            return {**result, "requestState": None}, error, str(result["requestState"])
        return result, error, None

    @classmethod
    def from_plain(cls, result: Any, error: Any, state: str | None) -> Outcome:
        if state is not None:
            result = {**result, "requestState": OwnState(state)}
        return cls(result, None if error is None else ErrorData.model_validate(error))


def has_own_state(result: Any) -> TypeGuard[dict[str, Any]]:
    """Whether this is a round that midcall has made, or put its journal into."""
    return isinstance(result, dict) and isinstance(cast("dict[str, Any]", result).get("requestState"), OwnState)


FORGOTTEN: Final = Outcome(error=ErrorData(code=INVALID_PARAMS, message=PAST))


@dataclass(slots=True, eq=False)
class Turn:
    """One continuation of a call."""

    given: bytes | None
    """Names the answers that continued the call, as long as its outcome is kept. Answers may be large."""
    caller: str = ""
    """Who has continued the call."""
    outcome: Outcome | None = None
    waiting: int = 0
    """How many requests wait for the outcome."""
    size: int = 0
    """How much memory its outcome takes, about."""
    cancelled: bool = False
    joined: Call | None = None
    """The call, once it is being continued: if its request breaks off, another one can join it."""
    deciding: asyncio.Task[Any] | None = None
    """Decides what the call comes to, and writes that down, even if the request is gone. Others wait for it."""
    _lock: asyncio.Lock | None = None

    @property
    def lock(self) -> asyncio.Lock:
        """Held by the request that serves the turn; the others wait for it."""
        if self._lock is None:
            self._lock = asyncio.Lock()
        return self._lock

    def settle(self, outcome: Outcome) -> None:
        """This is what the call came to. The turn may be kept for long: it holds no more than it needs."""
        self.outcome, self.joined = outcome.pack(), None
        self.size = self.outcome.size()
        if self.waiting <= 1:  # nobody waits for the one who serves it
            self._lock = None

    @property
    def is_in_service(self) -> bool:
        """Whether a request waits for it, or may join it."""
        return self.waiting > 0 or self.joined is not None

    def check(self, given: bytes) -> None:
        """Refuse other answers, and a call that its client has cancelled.

        Raises:
            MCPError: This can't be continued.
        """
        if self.given is not None and given != self.given:
            raise MCPError(INVALID_PARAMS, CONTINUED)
        if self.cancelled:
            raise MCPError(INVALID_PARAMS, WAS_CANCELLED)


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

    def join(self, head: Head, given: Given, caller: str) -> Turn:
        """The turn that this state continues with these answers; if other requests do the same, it's the same turn.

        Raises:
            MCPError: It was continued with other answers, or cancelled.
        """
        key = head.call, head.turn
        answers = hashlib.sha256(_canonical(given).encode()).digest()
        if (turn := self._turns.get(key)) is not None:
            turn.check(answers)
            return turn
        turn = Turn(answers, caller)
        self._remember(key, turn)
        return turn

    def refuse(self, call: str, number: int, caller: str) -> None:
        """Nobody may continue this turn: what it came to is gone."""
        self._remember((call, number), Turn(None, caller, FORGOTTEN))

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


async def publish(runs: Runs, call: Call, outcome: Outcome, turn: Turn | None = None) -> None:
    """Settle the turn, once all replicas can see its outcome. If that can't be written, end the run.

    Raises:
        MCPError: The store can't be reached.
    """
    claim, handover = call.claim, runs.handover
    if claim is not None and call.run.ending in (ELSEWHERE, UNSETTLED):  # known from the turn before: it's given back
        call.claim = None
        if turn is not None:
            turn.joined = None
        return
    stopped = call.run.ending == STOPPED and call.run.task.cancelled()  # then the claim is given back
    try:
        won = stopped or claim is None or handover is None or await handover.settle(claim, outcome)
    except StoreError as exc:
        await _give_up(runs, call, claim, turn, UNSETTLED)
        raise protocol_error(exc, None) from None
    if not won:
        await _give_up(runs, call, claim, turn, ELSEWHERE)
        return
    if not stopped and call.claim is claim:  # else the next turn came while the store replied
        call.claim = None
    if turn is not None:
        runs.past.settle(turn, outcome)


async def _give_up(runs: Runs, call: Call, claim: Claim | None, turn: Turn | None, why: str) -> None:
    """The turn isn't this run's to settle, and neither is one that it has continued since."""
    later = call.claim if call.claim is not claim else None
    if later is None:
        call.claim = None
    if turn is not None:
        turn.joined = None
    runs.take(call)
    await call.end(why)
    if later is not None and runs.handover is not None:
        with suppress(StoreError):
            await runs.handover.give_back(later, keep=True)


async def cancel(runs: Runs, call: Call, turn: Turn | None) -> None:
    """End the run, and refuse its state from now on."""
    if turn is not None:
        turn.cancelled = True
    runs.take(call)
    await call.end(CANCELLED)
    if turn is not None and turn.deciding is not None:
        await asyncio.wait((turn.deciding,))
        runs.take(call)  # it may have begun to wait meanwhile
    if call.run.sending:
        await take_back(call)
    if call.cancel_requested or call.over_http:  # else the host has ended the server: the call may resume in another
        await call.close_pages()
    if turn is not None and call.claim is not None and turn.outcome is None:
        with suppress(MCPError):
            await publish(runs, call, Outcome(error=cancellation()), turn)


def cancel_unless_joined(runs: Runs, call: Call, turn: Turn) -> None:
    """Nobody has sent the request again, which broke off."""
    if turn.waiting == 0 and turn.outcome is None:
        runs.aside(_cancel_unless_joined(runs, call, turn))


async def _cancel_unless_joined(runs: Runs, call: Call, turn: Turn) -> None:
    if turn.deciding is not None:
        await asyncio.wait((turn.deciding,))
    call = turn.joined or call  # it may have been run again
    if turn.waiting or turn.outcome is not None or call.run.done:
        return
    claim, handover = call.claim, runs.handover
    with suppress(StoreError):
        if claim is None or handover is None or not await handover.is_joined(claim):
            await cancel(runs, call, turn)


def cancellation() -> ErrorData:
    return ErrorData(code=INVALID_PARAMS, message=WAS_CANCELLED)
