"""The review at line prompts: all answers that came together, before any of them is sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from midcall.client.lines.batches import Batch, Turn
from midcall.client.lines.display import Sheet
from midcall.client.lines.filling import Filling
from midcall.client.lines.prompt import Ended, Prompt
from midcall.core.outcome import Cancelled, Declined
from midcall.wording.client import lines as wording

__all__ = ["Review"]

Order: TypeAlias = Literal["send", "decline", "cancel"] | int
"""What the user wants; a number is the index of the field to change."""


class Review:
    """Shows what is filled, and changes it.

    Args:
        prompt: Asks for lines.
        sheet: Shows answers.
        end: Called where the user ends one question, or all of them, while changing it.
    """

    def __init__(self, prompt: Prompt, sheet: Sheet, end: Callable[[Turn, Ended], None]) -> None:
        self._prompt = prompt
        self._sheet = sheet
        self._filling = Filling(prompt, sheet)
        self._end = end

    async def go(self, batch: Batch) -> None:
        """Return when the user wants it sent, or nothing is left to send; raise `Ended` if they do not want it."""
        while True:
            match await self._order(batch):
                case "send":
                    return
                case "decline":
                    raise Ended(Declined())
                case "cancel":
                    raise Ended(Cancelled())
                case int(index):
                    self._sheet.write("\n")
                    await self._change(batch, index)

    async def _change(self, batch: Batch, index: int) -> None:
        """Ask for a field again. Whoever ends the question there ends this one alone."""
        places = [(draft, place) for draft in batch.drafts for place in range(len(draft.form))]
        draft, place = places[index]
        assert draft.content is not None
        try:
            await self._filling.field(draft.form, place, draft.content)
        except Ended as ended:
            self._end(draft, ended)
            batch.tell()

    async def _order(self, batch: Batch) -> Order:
        """What to do. Drafts that are withdrawn meanwhile are no longer shown."""
        while drafts := batch.drafts:
            changed, fields = batch.changed, sum(len(draft.form) for draft in drafts)
            offer = self._offer(drafts, fields)
            while (line := await self._prompt.line_unless(changed.wait, f"{offer} ")) is not None:
                if (order := _order(line, fields)) is not None:
                    return order
                self._sheet.complain(wording.not_understood(fields))
            self._sheet.complain(wording.withdrawn())
        return "send"

    def _offer(self, drafts: list[Turn], fields: int) -> str:
        [first, *_] = drafts
        content = first.content or {}
        if fields == 1:
            [field] = first.form.fields
            return wording.send_one(self._sheet.ink.bold(self._sheet.value(field, content.get(field.name))))
        self._sheet.review((draft.asked, draft.form, draft.content or {}) for draft in drafts)
        return wording.send_all()


def _order(line: str, fields: int) -> Order | None:
    """What the user wants at the review, if this says it."""
    match line.casefold().split():
        case [] | ["send" | "s" | "yes" | "y"]:
            return "send"
        case ["decline"]:
            return "decline"
        case ["cancel"]:
            return "cancel"
        case ["change" | "c"] if fields == 1:
            return 0
        case ["change" | "c", number] | [number] if number in map(str, range(1, fields + 1)):
            return int(number) - 1
        case _:
            return None
