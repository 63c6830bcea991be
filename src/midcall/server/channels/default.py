"""Default: nobody can be asked, and the question says what to take then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from midcall.core.journal import Entry
from midcall.core.outcome import Via
from midcall.core.question import MISSING, Question, Visit
from midcall.wording import reaching as wording

if TYPE_CHECKING:
    from midcall.server.call import Call
    from midcall.server.channels.table import Asking

__all__ = ["Default"]


class Default:
    via: ClassVar[Via] = "default"

    def why_not(self, call: Call, question: Question[Any] | Visit) -> str | None:
        return wording.no_default() if question.default is MISSING else None

    async def carry(self, call: Call, askings: Sequence[Asking]) -> list[Entry]:
        # The value is the author's own object. That it was taken is recorded; the question has it.
        return [call.replay.settle(asking.identity, asking.entry, "accept", {}, self.via) for asking in askings]
