"""The answer travels to the run: replicas that share a store continue a call where its run is.

Each round of a call is a *turn*, one record in the store. The replica that gets the retry creates it: it claims
the turn if it has the run, and offers it otherwise. The owner of the run claims what is offered, and writes the outcome
before anyone is answered. If the owner is gone, exactly one other replica claims the turn and replays the call. Every
step creates the record or compares and sets its version.

    absent   -> claimed   by the owner of the run, which got the retry
    absent   -> offered   by another replica, which got the retry
    offered  -> claimed   by the owner; or by a waiting replica, if the owner is gone: it replays
    claimed  -> claimed   by a waiting replica, if the claimant is gone: it replays
    claimed  -> offered   by a claimant that is stopping, once its run has ended; or whose request is gone
    claimed  -> done      by the claimant: a round, a result or an error

A replica that has live runs, or has claimed a turn, beats: it bumps its own record every half second, on the loop that
runs its tools. It is gone if it announced that when it stopped, or if four reads in a row, half a second apart, show no
new beat.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import math
import os
import secrets
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from mcp.server.request_state import InvalidRequestState
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from midcall.core.journal import Head
from midcall.errors import RecordRefused, StoreError, StoreFull
from midcall.server.running.turn import CONTINUED, Given, Outcome
from midcall.settings.live_runs import BEAT_SECONDS, LATE_BEATS, SILENT_BEATS, UNCLAIMED_BEATS
from midcall.stores.base import Record, Store
from midcall.stores.interactions import digest_of

if TYPE_CHECKING:
    from mcp.server.request_state import RequestStateCodec

    from midcall.server.resuming.storage import Keeping

logger = logging.getLogger("midcall.store")


_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Claim:
    """A turn that this process continues."""

    record: Record
    given: Given
    replays: bool
    """Whether the run is gone, or elsewhere with a replica that is."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """What the record of a turn says."""

    owner: str
    """The process that has the run; empty if none has."""
    claim: str
    """The process that continues the call; empty while the turn is only offered."""
    mac: str
    answers: str
    """Sealed, and bound to the turn."""
    token: str
    """Names this change of the record: a reply that was lost is settled by it."""

    def text(self) -> str:
        return json.dumps([self.owner, self.claim, self.mac, self.answers, self.token])


def _turn_of(record: Record) -> _Turn:
    return _Turn(*json.loads(record.data))


class _Pulse:
    """Whether another process is gone, as its beats tell."""

    def __init__(self, store: Store, process: str) -> None:
        self._store = store
        self.process = process
        self._beat: int | None = None
        self._still = 0
        self._looked = -math.inf
        self.beats = 0
        """How many new ones were seen."""

    async def is_gone(self) -> bool:
        """Look once more, if the last look is a beat ago. A look that fails or is late starts over."""
        if not self.process:
            return True
        asked, before = time.monotonic(), self._looked
        if asked - before < BEAT_SECONDS * 0.9:
            return False
        try:
            record = await self._store.read(_replica_id(self.process))
        except StoreError:
            self._beat = None
            return False
        if record is not None and not record.pending:  # it says when it stops
            return True
        self._looked = time.monotonic()
        if self._looked - asked > LATE_BEATS * BEAT_SECONDS or asked - before > LATE_BEATS * BEAT_SECONDS:
            self._beat = None
        self._note(record.version if record is not None else self._beat or 0)  # anyone may have deleted it
        return self._still >= SILENT_BEATS - 1

    def _note(self, beat: int) -> None:
        if beat == self._beat:
            self._still += 1
        else:
            self.beats += self._beat is not None
            self._beat, self._still = beat, 0


def _turn_id(call: str, turn: int) -> str:
    return digest_of(f"turn:{call}:{turn}")


def _replica_id(process: str) -> str:
    return digest_of(f"replica:{process}")


def _join_id(turn: str) -> str:
    return digest_of(f"join:{turn}")


def _token() -> str:
    return secrets.token_urlsafe(6)


def _gone() -> NoReturn:
    raise StoreError("The record of a continued call is gone from the store.")


class Handover:
    """Turns in the store of one installation."""

    present: Callable[[], Awaitable[None]]
    """Makes sure that this process beats."""
    stopping = False
    """Whether this process is about to end: then no request waits here for another replica."""

    def __init__(self, keeping: Keeping, codec: RequestStateCodec, seconds: float) -> None:
        self._keeping = keeping
        self._codec = codec
        self._seconds = seconds * 2  # a turn outlives its state
        self._pulse: Record | None = None
        self._names: dict[int, str] = {}
        self._held: Counter[str] = Counter()
        """How many hold each turn here: it is claimed, or about to be, and not settled. Two may claim at once."""
        self._owed: dict[str, tuple[str, Record]] = {}
        """What could not be written, by turn: the data of our claim, and what has to follow it."""
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def me(self) -> str:
        """The name of this replica: random, and another one after a fork."""
        return self._names.setdefault(os.getpid(), secrets.token_urlsafe(9))

    @property
    def busy(self) -> bool:
        """Whether others may wait for a turn that this process has claimed: then it has to beat."""
        return bool(self._held)

    # --- claiming -----------------------------------------------------------------------------

    async def claim(self, head: Head, given: Given, *, here: bool) -> Claim | Outcome:
        """Continue this turn, if that is for this process to do; else what it came to elsewhere.

        `here` says whether its run waits in this process.

        Raises:
            MCPError: It was continued with other answers.
            StoreError: The store can't be reached.
        """
        store = await self._keeping.store()
        mac = _mac(head.call, given)
        mine = _Turn(head.owner, self.me if here else "", mac, self._seal(head, given), _token())
        record, ours = await self._surely(self._create(store, head, mine))
        if ours and here:
            return Claim(record, given, replays=False)
        if not ours:
            self._check(record, mac)
            await self._join(store, record)
        pulse: _Pulse | None = None
        while record.outcome is None:
            turn = _turn_of(record)
            about = turn.claim or turn.owner
            pulse = pulse if pulse is not None and pulse.process == about else _Pulse(store, about)
            if about == self.me:
                free = not turn.claim or record.id not in self._held
            else:
                free = (not turn.claim and pulse.beats >= UNCLAIMED_BEATS) or await pulse.is_gone()
            if free:
                record, won = await self._surely(self._take(store, record, turn))
                if won:
                    return Claim(record, given, replays=not here or about != self.me)
            elif self.stopping:
                raise MCPError(INTERNAL_ERROR, "The server is stopping. Send the request again.")
            else:
                record = await store.wait(record.id, BEAT_SECONDS, version=record.version) or _gone()
            self._check(record, mac)
        return self._opened(record)

    @staticmethod
    def _check(record: Record, mac: str) -> None:
        """Refuse other answers than those that the turn was continued with."""
        if not hmac.compare_digest(_turn_of(record).mac, mac):
            raise MCPError(INVALID_PARAMS, CONTINUED)

    async def claim_offered(self, record: Record) -> Claim | None:
        """Claim a turn that another replica has offered to this process, whose run waits here."""
        turn = _turn_of(record)
        if turn.claim or turn.owner != self.me or record.outcome is not None:
            return None
        given = self._given(record, turn)
        if given is None:
            return None
        claimed, won = await self._take(await self._keeping.store(), record, turn)
        return Claim(claimed, given, replays=False) if won else None

    def went_elsewhere(self, record: Record) -> bool:
        """Whether another replica continues this turn, or has."""
        turn = _turn_of(record)
        return record.outcome is not None or turn.claim not in ("", self.me)

    async def _create(self, store: Store, head: Head, turn: _Turn) -> tuple[Record, bool]:
        now = time.time()
        record = Record(_turn_id(head.call, head.turn), "turn", "", turn.text(), now, now + self._seconds)
        if turn.claim:
            self._held[record.id] += 1
        try:
            if turn.claim:
                await self.present()
            found, ours = await self._create_surely(store, record, turn)
        except BaseException:
            if turn.claim:
                self._let_go(record)
            raise
        if turn.claim and not ours:
            self._let_go(record)
        return found, ours

    async def _create_surely(self, store: Store, record: Record, turn: _Turn) -> tuple[Record, bool]:
        try:
            return await store.create(record)
        except (RecordRefused, StoreFull):  # it was not created
            raise
        except StoreError:
            found = await self._read_again(store, record, turn)
            if found is None:
                raise
            return found, found.data == record.data

    async def _take(self, store: Store, record: Record, turn: _Turn) -> tuple[Record, bool]:
        """Claim this turn, if it is still as it was read."""
        self._held[record.id] += 1
        try:
            await self.present()
            found, won = await self._change(store, record, replace(turn, claim=self.me, token=_token()))
        except BaseException:
            self._let_go(record)
            raise
        if not won:
            self._let_go(record)
        return found, won

    def _let_go(self, record: Record) -> None:
        """One claim fewer is under way here. If something is owed for the turn, it stays held until that is written."""
        if record.id not in self._owed:
            self._held[record.id] -= 1
            if self._held[record.id] <= 0:
                del self._held[record.id]

    def _drop(self, id: str) -> None:
        """Nobody here continues this turn any more."""
        self._held.pop(id, None)

    async def _change(
        self, store: Store, record: Record, turn: _Turn, outcome: str | None = None
    ) -> tuple[Record, bool]:
        changed = replace(record, data=turn.text(), outcome=outcome)
        try:
            found, won = await store.change(changed, record.version)
        except RecordRefused:
            raise
        except StoreError:  # the reply may have been lost: the data shows whose change it was
            found = await self._read_again(store, changed, turn, before=record.data)
            won = found is not None and (found.data, found.outcome) == (changed.data, outcome)
        return found or _gone(), won

    async def _read_again(self, store: Store, written: Record, turn: _Turn, before: str | None = None) -> Record | None:
        """Read back a write whose reply was lost. If the store is still down, the next beats settle it.

        `before` is what the record said, if there was one.
        """
        try:
            return await store.read(written.id)
        except StoreError:
            if written.outcome is not None:
                self._owed[written.id] = (written.data, written)
            elif turn.claim == self.me:
                undone = replace(written, data=replace(turn, claim="", token=_token()).text())
                self._owed[written.id] = (written.data, undone)
            elif before is not None:  # it gives our claim back
                self._owed[written.id] = (before, written)
            raise

    async def _surely(self, claiming: Coroutine[Any, Any, tuple[Record, bool]]) -> tuple[Record, bool]:
        """Claim to the end, even if the request is gone by then. Nobody would continue the turn: it is given back."""
        task = self._aside(claiming)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            self._aside(self._give_up(task))
            raise

    async def _give_up(self, claiming: asyncio.Task[tuple[Record, bool]]) -> None:
        with suppress(StoreError):
            record, won = await claiming
            if won and _turn_of(record).claim == self.me:
                await self.give_back(Claim(record, Given({}), replays=False), keep=True)

    def _aside(self, work: Coroutine[Any, Any, _Result]) -> asyncio.Task[_Result]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # --- joining ------------------------------------------------------------------------------

    async def _join(self, store: Store, record: Record) -> None:
        """Let a claimant whose own request breaks off know that another one waits here."""
        turn, now = _turn_of(record), time.time()
        if record.outcome is None and turn.claim not in ("", self.me):
            await store.create(Record(_join_id(record.id), "join", "", "{}", now, now + self._seconds))

    async def is_joined(self, claim: Claim) -> bool:
        """Whether a request at another replica waits for this turn, too."""
        if claim.record.version > 1:  # it was offered, or taken over
            return True
        return await (await self._keeping.store()).read(_join_id(claim.record.id)) is not None

    # --- the outcome --------------------------------------------------------------------------

    async def settle(self, claim: Claim, outcome: Outcome) -> bool:
        """Write what the turn came to, before anybody is answered. False if that isn't for this process any more."""
        text = self._codec.seal(json.dumps([claim.record.id, *outcome.plain()]).encode())
        _, won = await self._change(await self._keeping.store(), claim.record, _turn_of(claim.record), text)
        self._drop(claim.record.id)
        return won

    async def give_back(self, claim: Claim, *, keep: bool = False) -> None:
        """This process does not continue the turn: another replica may replay it at once.

        With `keep`, its run still waits at its owner.
        """
        turn = _turn_of(claim.record)
        offered = replace(turn, owner=turn.owner if keep else "", claim="", token=_token())
        try:
            await self._change(await self._keeping.store(), claim.record, offered)
        finally:
            if claim.record.id not in self._owed:
                self._drop(claim.record.id)

    async def has(self, claim: Claim | None, call: str, turn: int) -> bool:
        """Whether this process still has the call: the turn that it has claimed, or the next one."""
        id = _turn_id(call, turn) if claim is None else claim.record.id
        record = await (await self._keeping.store()).read(id)
        if claim is None:
            return record is None or not self.went_elsewhere(record)
        return record is not None and record.data == claim.record.data

    def _opened(self, record: Record) -> Outcome:
        try:
            id, *plain = json.loads(self._codec.unseal(record.outcome or ""))
        except InvalidRequestState:
            raise StoreError(
                "This call was continued by a replica with other keys. Replicas need the same keys."
            ) from None
        if id != record.id:
            raise StoreError("The record of a continued call was exchanged in the store.")
        return Outcome.from_plain(*plain)

    # --- answers ------------------------------------------------------------------------------

    def _seal(self, head: Head, given: Given) -> str:
        return self._codec.seal(json.dumps([_turn_id(head.call, head.turn), *given]).encode())

    def _given(self, record: Record, turn: _Turn) -> Given | None:
        try:
            id, responses, relayed = json.loads(self._codec.unseal(turn.answers))
        except InvalidRequestState:
            return None
        return Given(responses, relayed) if id == record.id else None

    # --- watching -----------------------------------------------------------------------------

    async def offer_of(self, call: str, turn: int) -> Record | None:
        """The record of this turn, as soon as somebody has created it."""
        return await (await self._keeping.store()).wait(_turn_id(call, turn), self._seconds, version=0)

    async def look(self, turns: Mapping[str, int]) -> dict[str, Record]:
        """The records of these turns that exist, by call."""
        ids = {_turn_id(call, turn): call for call, turn in turns.items()}
        found = await (await self._keeping.store()).look(list(ids))
        return {ids[id]: record for id, record in found.items()}

    async def beat(self, *, stopped: bool = False) -> None:
        """Show the other replicas that this one is there, or that it stops."""
        store, now = await self._keeping.store(), time.time()
        fresh = Record(_replica_id(self.me), "replica", "", "{}", now, now + self._seconds, "{}" if stopped else None)
        known = self._pulse if self._pulse is not None and self._pulse.id == fresh.id else None
        done = False
        while not done:  # another beat may be under way
            if known is None:
                known, done = await store.create(fresh)
            else:
                known, done = await store.change(fresh, known.version)
        self._pulse = known
        await self._pay(store)

    async def _pay(self, store: Store) -> None:
        """Write what could not be written, if the turn is still as our claim has left it."""
        for id, (mine, owed) in list(self._owed.items()):
            with suppress(RecordRefused):
                found = await store.read(id)
                if found is not None and found.outcome is None and found.data == mine:
                    await store.change(owed, found.version)
            self._owed.pop(id, None)
            self._drop(id)


def _mac(call: str, given: Given) -> str:
    """Names the answers without telling them: the call's own name is known to no store."""
    text = json.dumps(list(given), sort_keys=True, separators=(",", ":"))
    return hmac.new(call.encode(), text.encode(), hashlib.sha256).hexdigest()
