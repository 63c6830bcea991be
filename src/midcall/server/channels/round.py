"""Round: the questions leave in `InputRequiredResult`, and the client's retry brings the answers. 2026-07-28."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from midcall.core.journal import Entry
from midcall.core.outcomes import Via
from midcall.core.questions import Question, Visit
from midcall.server import audit
from midcall.server.channels.capability import lacks
from midcall.server.channels.request import elicitation_params

if TYPE_CHECKING:
    from midcall.server.call import Call
    from midcall.server.reach import Asking

__all__ = ["Round"]


class Round:
    via: ClassVar[Via] = "round"

    def why_not(self, call: Call, question: Question[Any] | Visit) -> str | None:
        if not call.modern:
            return f"protocol {call.version} has no rounds"
        return lacks(call, question.mode)

    async def carry(self, call: Call, askings: Sequence[Asking]) -> list[Entry]:
        assert call.rounds is not None, "a call on 2026-07-28 has rounds"
        requests: dict[str, dict[str, Any]] = {}
        for asking in askings:
            audit.leaves(call, asking)
            wire = call.replay.wire_key(asking.identity, asking.entry.attempt)
            requests[wire] = {"method": "elicitation/create", "params": elicitation_params(call, asking)}
        await call.rounds.ask(requests)
