"""Default: nobody can be asked, and the question has a default for that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from midcall.core.journal import Entry
from midcall.core.outcome import Via
from midcall.core.question import MISSING, Question, Visit
from midcall.errors import NoChannel
from midcall.server.channels.request import Asking

if TYPE_CHECKING:
    from midcall.server.call import Call


class Default:
    via: ClassVar[Via] = "default"

    def why_not(self, call: Call, question: Question[Any] | Visit) -> str | None:
        return NoChannel.NO_DEFAULT if question.default is MISSING else None

    async def carry(self, call: Call, askings: Sequence[Asking]) -> list[Entry]:
        # The journal only says that the default was used: its value is the author's own object, so `ask` and
        # `Replay.recall` take it from the question.
        return [call.replay.settle(asking.identity, asking.entry, "accept", {}, self.via) for asking in askings]
