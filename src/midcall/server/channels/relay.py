"""Relay: the model asks in the chat, and passes on the answer. Opt-in, by the author and per question.

Nobody can verify that the user said it, so don't use it for a question that matters.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from midcall.core.journal import Entry, mark_name
from midcall.core.outcome import Via
from midcall.core.question import Question, Visit
from midcall.server import model_text
from midcall.server.channels.request import Asking, message_for

if TYPE_CHECKING:
    from midcall.server.call import Call

RELAYED = mark_name("relay")
"""The mark in the journal: which question the model asks."""


class Relay:
    via: ClassVar[Via] = "relay"

    def why_not(self, call: Call, question: Question[Any] | Visit) -> str | None:
        if not call.installation.relay:
            return "relay is not switched on (install(..., relay=True))"
        if question.via is None or self.via not in question.via:
            return "the question does not allow it (via=)"
        if isinstance(question, Visit):
            return "it is a visit"
        return None if call.can_continue_later else "only a tool call, on a server with a store, can resume later"

    async def carry(self, call: Call, askings: Sequence[Asking]) -> list[Entry]:
        asking = askings[0]  # one at a time: a model should not have to sort out answers
        question = asking.question
        assert isinstance(question, Question)
        schema = json.dumps(question.form.schema(), ensure_ascii=False)
        message = model_text.ask_in_chat(message_for(question, asking.entry), schema)
        while (entry := call.journal.entry(asking.identity)) is not None and entry.kind == "waiting":
            if entry.deadline is not None and time.time() > entry.deadline:
                call.replay.settle(asking.identity, entry, "timeout", None, self.via)
                break
            call.replay.mark(RELAYED, "relay", asking.identity)
            await call.continue_later(message, answers=True)
        return [call.journal.entry(each.identity) or each.entry for each in askings]
