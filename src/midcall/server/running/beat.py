"""A replica with runs beats, and takes the turns of its runs that other replicas offer it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from midcall.errors import StoreError
from midcall.server.running.handover import Handover
from midcall.server.running.run import ELSEWHERE
from midcall.settings.live_runs import BEAT_SECONDS
from midcall.stores.base import Record

if TYPE_CHECKING:
    from midcall.server.call import Call
    from midcall.server.running.runs import Runs

logger = logging.getLogger("midcall")


class Beat:
    """What the other replicas see of this one's runs.

    It beats while a run waits or is being continued. Each beat finds the offers that no notification has told of.
    """

    def __init__(self, runs: Runs, handover: Handover) -> None:
        self._runs = runs
        self._handover = handover
        handover.present = self.start
        self._beating: asyncio.Task[None] | None = None
        self._watching: dict[str, asyncio.Task[None]] = {}
        """Who waits for an offer of another replica, by call."""

    async def start(self) -> None:
        """Show the other replicas that this one is there, before a round leaves that only it can continue."""
        if not self._is_beating():
            await self._handover.beat()
            if not self._is_beating():  # another call may have been faster
                self._beating = self._runs.aside(self._beat())

    def watch(self, call: Call) -> None:
        """This run waits: learn of its offers."""
        self._watching[call.name] = self._runs.aside(self._watch(call))
        if not self._is_beating():  # the store took its time since the run was known to stay
            self._beating = self._runs.aside(self._beat(at_once=True))

    def unwatch(self, call: Call) -> None:
        """This run doesn't wait any more."""
        if (watching := self._watching.pop(call.name, None)) is not None:
            watching.cancel()

    async def stop(self, calls: Sequence[Call]) -> None:
        """These have ended: let the other replicas replay what was continued here."""
        if self._beating is None:
            return
        try:
            for call in calls:
                if call.claim is not None:
                    await self._handover.give_back(call.claim)
            if not self._runs.running:
                self._beating.cancel()
                await self._handover.beat(stopped=True)
        except StoreError as error:
            logger.warning("Could not tell the other replicas that this one stops: %s", error)

    def _is_beating(self) -> bool:
        """Whether this process beats, on this loop."""
        beating = self._beating
        return beating is not None and not beating.done() and beating.get_loop() is asyncio.get_running_loop()

    async def _beat(self, *, at_once: bool = False) -> None:
        while True:
            if not at_once:
                await asyncio.sleep(BEAT_SECONDS)
            at_once = False
            if not (self._runs.waiting or self._handover.busy):
                return
            for step in (self._handover.beat, self._look):
                try:
                    await step()
                except StoreError as error:
                    logger.warning("Could not reach the store to beat: %s", error)
                except Exception:  # the next one may work: without a beat, others would replay the calls
                    logger.exception("A beat failed")

    async def _look(self) -> None:
        """Find the offers that no notification has told of, and what was continued elsewhere."""
        turns = {call.name: call.journal.turn for call in self._runs.waiting}
        for name, record in (await self._handover.look(turns) if turns else {}).items():
            if (call := self._runs.find(name)) is not None and call.journal.turn == turns[name]:
                self._runs.aside(self._meet(call, record))

    async def _watch(self, call: Call) -> None:
        """Notifications only make it faster: the beat finds every offer."""
        try:
            if (record := await self._handover.offer_of(call.name, call.journal.turn)) is not None:
                self._runs.aside(self._meet(call, record))  # who takes the run cancels the watch, and no claim
        except StoreError:
            pass

    async def _meet(self, call: Call, record: Record) -> None:
        """Somebody has created the turn that this run waits for."""
        runs, handover = self._runs, self._handover
        if runs.find(call.name) is not call:
            return
        if handover.went_elsewhere(record):
            runs.end_soon(call, ELSEWHERE)
            return
        try:
            claim = await handover.claim_offered(record)
            if claim is not None and runs.find(call.name) is call:
                runs.take(call)
                await runs.drive(call, claim)
            elif claim is not None:  # the run was ended meanwhile
                await runs.until_ended(call.name)
                await handover.give_back(claim)
        except StoreError as error:
            logger.warning("Could not claim a call for its run: %s", error)
