"""Round: the questions leave in `InputRequiredResult`, and the client's retry brings the answers. 2026-07-28."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from midcall.core.journal import Entry
from midcall.core.outcome import Via
from midcall.core.question import Question, Visit
from midcall.server import telemetry
from midcall.server.channels.capability import lacks
from midcall.server.channels.request import elicitation_params

if TYPE_CHECKING:
    from midcall.server.call import Call
    from midcall.server.channels.table import Asking

__all__ = ["Round"]


class Round:
    via: ClassVar[Via] = "round"

    def why_not(self, call: Call, question: Question[Any] | Visit) -> str | None:
        if not call.modern:
            return f"protocol {call.version} has no rounds"
        return lacks(call, question.mode)

    async def carry(self, call: Call, askings: Sequence[Asking]) -> list[Entry]:
        requests: dict[str, dict[str, Any]] = {}
        for asking in askings:
            telemetry.leaves(call, asking)
            wire = call.replay.wire_key(asking.identity, asking.entry.attempt)
            requests[wire] = {"method": "elicitation/create", "params": elicitation_params(call, asking)}
        deadlines = [asking.entry.deadline for asking in askings if asking.entry.deadline is not None]
        try:
            if not deadlines:
                await call.run.ask(requests)
            else:
                async with asyncio.timeout(max(0.0, min(deadlines) - time.time())):
                    await call.run.ask(requests)
        except TimeoutError:
            self._time_out(call, askings)
        except asyncio.CancelledError:
            if call.run.ending is None:  # a scope or a timeout of the tool's
                for asking in askings:
                    call.replay.withdraw(asking.identity)
            raise
        return [call.journal.entry(asking.identity) or asking.entry for asking in askings]

    def _time_out(self, call: Call, askings: Sequence[Asking]) -> None:
        now = time.time()
        for asking in askings:
            entry = call.journal.entry(asking.identity)
            if entry is not None and entry.kind == "waiting" and entry.deadline is not None and entry.deadline <= now:
                call.replay.settle(asking.identity, entry, "timeout", None, self.via)
