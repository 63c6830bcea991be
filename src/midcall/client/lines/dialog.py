"""Forms at line prompts: filled in field by field, then reviewed before they are sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias, cast

from midcall.client.lines.batches import Batch, BatchedQuestion
from midcall.client.lines.display import Sheet
from midcall.client.lines.excerpt import find_default
from midcall.client.lines.prompt import EndedByUser, Prompt
from midcall.core.forms import line_input
from midcall.core.forms.check import check
from midcall.core.forms.fields import Choice, Choices, Field, Flag, Text
from midcall.core.forms.form import Form
from midcall.core.outcome import Cancelled, Declined
from midcall.language import _

Order: TypeAlias = Literal["send", "decline", "cancel"] | int
"""What the user orders at the review; a number is the index of the field to change."""


class Dialog:
    """Asks for the fields of forms, and reviews the answers with the user.

    Args:
        prompt: Reads lines.
        sheet: Shows fields and answers.
        end: Called if the user ends one question, or all of them, while changing an answer.
    """

    def __init__(self, prompt: Prompt, sheet: Sheet, end: Callable[[BatchedQuestion, EndedByUser], None]) -> None:
        self._prompt = prompt
        self._sheet = sheet
        self._end = end

    # --- fill -----------------------------------------------------------------------------------

    async def fill(self, form: Form) -> dict[str, Any]:
        """Ask for all fields of this form."""
        content: dict[str, Any] = {}
        for index in range(len(form)):
            self._sheet.write("\n" if index else "")
            await self._ask_field(form, index, content, fresh=not index)
        return content

    async def _ask_field(self, form: Form, index: int, content: dict[str, Any], *, fresh: bool = False) -> None:
        """Ask for one field until the answer is valid. If it was answered before, that is the default."""
        field = form.fields[index]
        current = content.get(field.name, find_default(field))
        clearable = field.name in content and not field.required and field.default is None
        self._sheet.field(form, index, clearable=clearable)
        value = await self._ask_value(field, current, clearable, fresh)
        if value is None:
            content.pop(field.name, None)
        else:
            content[field.name] = value

    async def _ask_value(self, field: Field, current: Any, clearable: bool, fresh: bool) -> Any:
        """A valid value, or None if the field is left empty."""
        while True:
            default = "" if current is None else self._sheet.value(field, current)
            line = await self._prompt.line(default=default, strip=not _keeps_spaces(field), fresh=fresh)
            if line.strip() == ":clear" and clearable:
                return None
            value = _read(field, line, current)
            if value is None and not field.required:
                return None
            problems = check(Form(field), {} if value is None else {field.name: value})
            if not problems:
                return value
            if (found := line_input.search(field, value)) is not None:
                self._sheet.options(cast("Choice | Choices", field), found)
                current = _only_match(field, value, found) or current
            elif line and isinstance(field, Flag):
                self._sheet.complain(_("Please answer yes or no."))
            else:
                self._sheet.problems(field, problems)
                if value is None and _may_be_empty(field):
                    self._sheet.advise(_("To send empty text, type :empty."))

    # --- review ---------------------------------------------------------------------------------

    async def review(self, batch: Batch) -> None:
        """Return when the user wants to send the answers, or none are left. Raise `EndedByUser` if they don't."""
        while True:
            match await self._ask_order(batch):
                case "send":
                    return
                case "decline":
                    raise EndedByUser(Declined())
                case "cancel":
                    raise EndedByUser(Cancelled())
                case int(index):
                    self._sheet.write("\n")
                    await self._change(batch, index)

    async def _change(self, batch: Batch, index: int) -> None:
        """Ask for a field again. Declining or cancelling here ends only the question of that field."""
        places = [(draft, place) for draft in batch.drafts for place in range(len(draft.form))]
        draft, place = places[index]
        assert draft.content is not None
        try:
            await self._ask_field(draft.form, place, draft.content)
        except EndedByUser as ended:
            self._end(draft, ended)
            batch.tell()

    async def _ask_order(self, batch: Batch) -> Order:
        """Show the answers and ask what to do. If one is withdrawn meanwhile, show the others again."""
        while drafts := batch.drafts:
            changed, fields = batch.changed, sum(len(draft.form) for draft in drafts)
            offer = self._offer(drafts, fields)
            while (line := await self._prompt.line_unless(changed.wait, offer)) is not None:
                if (order := _read_order(line, fields)) is not None:
                    return order
                self._sheet.complain(_explain_orders(fields))
            self._sheet.complain(_("The question was withdrawn."))
        return "send"

    def _offer(self, drafts: list[BatchedQuestion], fields: int) -> str:
        if fields == 1:
            [field] = drafts[0].form.fields
            answer = self._sheet.value(field, (drafts[0].content or {}).get(field.name))
            offer = _("Send {answer}? Press Enter, or type change, decline or cancel")
            if self._sheet.fits(f"{offer.format(answer=answer)} > "):
                return offer.format(answer=self._sheet.ink.bold(answer))
        self._sheet.review((draft.asked, draft.form, draft.content or {}) for draft in drafts)
        if fields == 1:
            return _("Send? Press Enter, or type change, decline or cancel")
        return _("Send? Press Enter, or type change N, decline or cancel")


def _read(field: Field, line: str, current: Any) -> Any:
    """The value that the user means by this line."""
    if line.strip() == ":empty" and _may_be_empty(field):
        return ""
    if line or _takes_none(field, current):
        return line_input.read(field, line)
    return list(cast("tuple[str, ...]", current)) if isinstance(current, tuple) else current


def _takes_none(field: Field, current: Any) -> bool:
    """Whether an empty line chooses no option, in a field that must be answered."""
    return isinstance(field, Choices) and bool(field.required) and current is None


def _keeps_spaces(field: Field) -> bool:
    """Whether spaces around a typed text belong to it: not in a date or an address."""
    return isinstance(field, Text) and field.format is None


def _may_be_empty(field: Field) -> bool:
    """Whether empty text is a valid answer, as for a multiple choice that an old version can only send as text."""
    return isinstance(field, Text) and bool(field.required) and not field.rule()("")


def _only_match(field: Field, value: Any, found: list[str]) -> Any:
    """The new default after a search, if only one option matches."""
    if len(found) != 1:
        return None
    if isinstance(field, Choice):
        return found[0]
    known = [item for item in cast("list[str]", value) if item in cast("Choices", field).values]
    return [*known, *(item for item in found if item not in known)]


def _explain_orders(fields: int) -> str:
    if fields == 1:
        return _("Press Enter to send, or type change, decline or cancel.")
    sentence = _("Press Enter to send, or type decline, cancel, or change and a number from 1 to {last}.")
    return sentence.format(last=fields)


def _read_order(line: str, fields: int) -> Order | None:
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
