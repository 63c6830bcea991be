"""Relay: the model asks in the chat, and hands the answer over. Opted into, by the author and per question.

Nobody can tell whether the user has said it: a question that matters does not take this channel.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from midcall.core.journal import Entry, mark_name
from midcall.core.outcome import Via
from midcall.core.question import Question, Visit
from midcall.server.channels.request import asked_again
from midcall.wording import later as wording

if TYPE_CHECKING:
    from midcall.server.call import Call
    from midcall.server.channels.table import Asking

__all__ = ["RELAYED", "Relay"]

RELAYED = mark_name("relay")
"""The mark in the journal: which question the model is to ask."""


class Relay:
    via: ClassVar[Via] = "relay"

    def why_not(self, call: Call, question: Question[Any] | Visit) -> str | None:
        if not call.installation.relay:
            return "relay is not switched on (install(..., relay=True))"
        if question.via is None or self.via not in question.via:
            return "the question does not ask for it"
        if isinstance(question, Visit):
            return "it is a visit"
        return None if call.can_go_on_later else "only the call of a tool, on a server with a store, can go on later"

    async def carry(self, call: Call, askings: Sequence[Asking]) -> list[Entry]:
        asking = askings[0]  # one at a time: a model should not have to sort answers out
        question = asking.question
        assert isinstance(question, Question)
        schema = json.dumps(question.form.schema(), ensure_ascii=False)
        message = wording.needs_the_chat(asked_again(question, asking.entry), schema)
        while (entry := call.journal.entry(asking.identity)) is not None and entry.kind == "waiting":
            if entry.deadline is not None and time.time() > entry.deadline:
                call.replay.settle(asking.identity, entry, "timeout", None, self.via)
                break
            call.replay.mark(RELAYED, "relay", asking.identity)
            await call.go_on_later(message, answers=True)
        return [call.journal.entry(each.identity) or each.entry for each in askings]
