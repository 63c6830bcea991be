"""Round: the questions leave in an `InputRequiredResult`, and the client's retry brings the answers. 2026-07-28."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from opentelemetry import trace

from midcall.core.journal import Entry, wire_key
from midcall.core.outcome import Via
from midcall.core.question import Question, Visit
from midcall.server.channels import telemetry
from midcall.server.channels.request import Asking, elicitation_params

if TYPE_CHECKING:
    from midcall.server.call import Call


class Round:
    via: ClassVar[Via] = "round"

    def why_not(self, call: Call, question: Question[Any] | Visit) -> str | None:
        if not call.modern:
            return f"protocol {call.version} has no rounds"
        return call.lacks(question.mode)

    async def carry(self, call: Call, askings: Sequence[Asking]) -> list[Entry]:
        deadlines = [asking.entry.deadline for asking in askings if asking.entry.deadline is not None]
        requests: dict[str, dict[str, Any]] = {}
        watched = trace.get_current_span().is_recording() or telemetry.logger.isEnabledFor(logging.DEBUG)
        for asking in askings:
            if watched:
                telemetry.leave(call, asking)
            question, attempt = asking.question, asking.entry.attempt
            if attempt == 1 and isinstance(question, Question) and not call.replay.asks_as_text:
                wire, params = asking.identity, dict(question.params)
            else:
                wire, params = wire_key(asking.identity, attempt), elicitation_params(call, asking)
            requests[wire] = {"method": "elicitation/create", "params": params}
        try:
            if not deadlines:
                await call.run.ask(requests)
            else:
                async with asyncio.timeout(max(0.0, min(deadlines) - time.time())):
                    await call.run.ask(requests)
        except TimeoutError:
            self._time_out(call, askings)
        except asyncio.CancelledError:
            if call.run.ending is None:  # the tool's own scope or timeout
                for asking in askings:
                    call.replay.withdraw(asking.identity)
            raise
        entries: list[Entry] = []
        for asking in askings:
            raw = call.journal.entries.get(asking.identity)
            entries.append(raw if isinstance(raw, Entry) else call.journal.entry(asking.identity) or asking.entry)
        return entries

    def _time_out(self, call: Call, askings: Sequence[Asking]) -> None:
        now = time.time()
        for asking in askings:
            entry = call.journal.entry(asking.identity)
            if entry is not None and entry.kind == "waiting" and entry.deadline is not None and entry.deadline <= now:
                call.replay.settle(asking.identity, entry, "timeout", None, self.via)
