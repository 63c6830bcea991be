"""The answer travels to the run: replicas that share a store continue a call where its run is.

Each round of a call is a *turn*, one record in the store. Whoever gets the client's retry creates it: the replica
that has the run claims it, any other one offers it. The owner of the run claims what is offered, and whoever continues
the call writes the outcome before anybody is answered. If the owner is gone, exactly one other replica claims the turn
and replays the call. Every step creates the record or compares and sets its version.

    absent   -> claimed   by the owner of the run, which got the retry
    absent   -> offered   by another replica, which got the retry
    offered  -> claimed   by the owner; or by a waiting replica, if the owner is gone: it replays
    claimed  -> claimed   by a waiting replica, if the claimant is gone: it replays
    claimed  -> offered   by a claimant that is stopping, once its run has ended
    claimed  -> done      by the claimant: a round, a result or an error

A replica with live runs beats: it bumps its own record every half second, on the loop that runs its tools. It is gone
if it said so when it stopped, or if four reads in a row, half a second apart, show no new beat.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from mcp.server.request_state import InvalidRequestState
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, ErrorData

from midcall.core.journal import Head
from midcall.portal.interactions import digest_of
from midcall.server.running.turns import CONTINUED, Given, Outcome
from midcall.stores.base import Record, Store, StoreError

if TYPE_CHECKING:
    from mcp.server.request_state import RequestStateCodec

    from midcall.server.keeping import Keeping

__all__ = ["BEAT_SECONDS", "Claim", "Handover"]

logger = logging.getLogger("midcall.store")

BEAT_SECONDS: Final = 0.5
_STILL: Final = 4
"""Reads in a row without a new beat before a replica counts as gone."""
_UNCLAIMED: Final = 3
"""Beats of the owner after an offer that it has not claimed: it doesn't have the run any more."""

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

    def text(self) -> str:
        return json.dumps([self.owner, self.claim, self.mac, self.answers])


def _turn_of(record: Record) -> _Turn:
    return _Turn(*json.loads(record.data))


class _Pulse:
    """Whether another process is gone, as its beats tell."""

    def __init__(self, store: Store, process: str) -> None:
        self._store = store
        self.process = process
        self._beat: int | None = None
        self._still = 0
        self.beats = 0
        """How many new ones were seen."""

    async def is_gone(self) -> bool:
        """Look once more. A read that fails starts over: nobody knows then."""
        if not self.process:
            return True
        try:
            record = await self._store.read(_replica_id(self.process))
        except StoreError:
            self._still = 0
            return False
        if record is None or not record.pending:  # it beats before its first round leaves, and says when it stops
            return True
        if record.version == self._beat:
            self._still += 1
        else:
            self.beats += self._beat is not None
            self._beat, self._still = record.version, 0
        return self._still >= _STILL - 1


def _turn_id(call: str, turn: int) -> str:
    return digest_of(f"turn:{call}:{turn}")


def _replica_id(process: str) -> str:
    return digest_of(f"replica:{process}")


class Handover:
    """Turns in the store of one installation."""

    def __init__(self, keeping: Keeping, codec: RequestStateCodec, seconds: float) -> None:
        self._keeping = keeping
        self._codec = codec
        self._seconds = seconds * 2  # a turn outlives its state
        self._pulse: Record | None = None
        self._names: dict[int, str] = {}

    @property
    def me(self) -> str:
        """The name of this replica: random, and another one after a fork."""
        return self._names.setdefault(os.getpid(), secrets.token_urlsafe(9))

    # --- claiming -----------------------------------------------------------------------------

    async def claim(self, head: Head, given: Given, *, here: bool) -> Claim | Outcome:
        """Continue this turn, if that is for this process to do; else what it came to elsewhere.

        `here` says whether its run waits in this process.

        Raises:
            MCPError: It was continued with other answers.
            StoreError: The store can't be reached.
        """
        store, me = await self._keeping.store(), self.me
        mac = _mac(head.call, given)
        mine = _Turn(head.owner, me if here else "", mac, self._sealed(head, given))
        record, ours = await self._create(store, head, mine)
        if ours and here:
            return Claim(record, given, replays=False)
        pulse: _Pulse | None = None
        while True:
            turn = _turn_of(record)
            if not hmac.compare_digest(turn.mac, mac):
                raise MCPError(INVALID_PARAMS, CONTINUED)
            if record.outcome is not None:
                return self._opened(record)
            if not turn.claim and turn.owner == me and here:
                claimed, won = await self._change(store, record, replace(turn, claim=me))
                if won:
                    return Claim(claimed, given, replays=False)
                record = claimed
                continue
            about = turn.claim or turn.owner
            if about != me:
                pulse = pulse if pulse is not None and pulse.process == about else _Pulse(store, about)
                unclaimed = not turn.claim and pulse.beats >= _UNCLAIMED
                if unclaimed or await pulse.is_gone():
                    claimed, won = await self._change(store, record, replace(turn, claim=me))
                    if won:
                        return Claim(claimed, given, replays=True)
                    record = claimed
                    continue
            elif not turn.claim:  # offered to this process, which has ended the run
                claimed, won = await self._change(store, record, replace(turn, claim=me))
                if won:
                    return Claim(claimed, given, replays=True)
                record = claimed
                continue
            record = await store.wait(record.id, BEAT_SECONDS, version=record.version) or record

    async def claim_offered(self, record: Record) -> Claim | None:
        """Claim a turn that another replica has offered to this process, whose run waits here."""
        turn = _turn_of(record)
        if turn.claim or turn.owner != self.me or record.outcome is not None:
            return None
        given = self._given(record, turn)
        if given is None:
            return None
        claimed, won = await self._change(await self._keeping.store(), record, replace(turn, claim=self.me))
        return Claim(claimed, given, replays=False) if won else None

    def went_elsewhere(self, record: Record) -> bool:
        """Whether another replica continues this turn, or has."""
        turn = _turn_of(record)
        return record.outcome is not None or turn.claim not in ("", self.me)

    async def _create(self, store: Store, head: Head, turn: _Turn) -> tuple[Record, bool]:
        now = time.time()
        record = Record(_turn_id(head.call, head.turn), "turn", "", turn.text(), now, now + self._seconds)
        try:
            return await store.create(record)
        except StoreError:
            found = await store.read(record.id)  # the reply may have been lost, and the claim names its claimant
            if found is None:
                raise
            return found, bool(turn.claim) and _turn_of(found).claim == turn.claim

    async def _change(
        self, store: Store, record: Record, turn: _Turn, outcome: str | None = None
    ) -> tuple[Record, bool]:
        changed = replace(record, data=turn.text(), outcome=outcome)
        try:
            found, won = await store.change(changed, record.version)
        except StoreError:
            found = await store.read(record.id)
            won = found is not None and found.version == record.version + 1 and found.data == changed.data
            won = won and (found is not None and found.outcome == outcome)
        if found is None:
            raise StoreError("The record of a continued call is gone from the store.")
        return found, won

    # --- the outcome --------------------------------------------------------------------------

    async def settle(self, claim: Claim, outcome: Outcome) -> Outcome | None:
        """Write what the turn came to, before anybody is answered. None if that is not for this process any more."""
        turn = _turn_of(claim.record)
        text = self._codec.seal(json.dumps([claim.record.id, *outcome.plain()]).encode())
        _, won = await self._change(await self._keeping.store(), claim.record, turn, text)
        return outcome if won else None

    async def outcome_of(self, claim: Claim) -> Outcome:
        """What a turn came to that another replica has taken over."""
        store = await self._keeping.store()
        record: Record | None = claim.record
        while record is not None and record.outcome is None:
            record = await store.wait(claim.record.id, self._seconds, version=record.version)
        if record is None:
            raise StoreError("The record of a continued call is gone from the store.")
        return self._opened(record)

    async def give_back(self, claim: Claim) -> None:
        """This process is stopping, and its run has ended: let another replica replay the call at once."""
        turn = _turn_of(claim.record)
        await self._change(await self._keeping.store(), claim.record, replace(turn, owner="", claim=""))

    async def has(self, claim: Claim | None, call: str, turn: int) -> bool:
        """Whether this process still has the call: the turn that it has claimed, or the next one."""
        id = _turn_id(call, turn) if claim is None else claim.record.id
        record = await (await self._keeping.store()).read(id)
        if claim is None:
            return record is None or not self.went_elsewhere(record)
        return record is not None and record.version == claim.record.version

    def _opened(self, record: Record) -> Outcome:
        try:
            id, result, error = json.loads(self._codec.unseal(record.outcome or ""))
        except InvalidRequestState:
            raise StoreError(
                "This call was continued by a replica with other keys. Replicas need the same keys."
            ) from None
        if id != record.id:
            raise StoreError("The record of a continued call was exchanged in the store.")
        return Outcome.from_plain(result, None if error is None else ErrorData.model_validate(error))

    # --- answers ------------------------------------------------------------------------------

    def _sealed(self, head: Head, given: Given) -> str:
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
        id = _replica_id(self.me)
        known = self._pulse if self._pulse is not None and self._pulse.id == id else None
        fresh = Record(id, "replica", "", "{}", now, now + self._seconds, "{}" if stopped else None)
        if known is None:
            known, ours = await store.create(fresh)
            if ours:
                self._pulse = known
                return
        self._pulse, _ = await store.change(fresh, known.version)


def _mac(call: str, given: Given) -> str:
    """Names the answers without telling them: the call's own name is known to no store."""
    text = json.dumps(list(given), sort_keys=True, separators=(",", ":"))
    return hmac.new(call.encode(), text.encode(), hashlib.sha256).hexdigest()
