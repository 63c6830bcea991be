"""One field of a form: its label, what it takes, the entry, and what is wrong with it."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.events import DescendantBlur, DescendantFocus
from textual.widget import Widget
from textual.widgets import Input, Static

from midcall.client.terminal.draft import Draft
from midcall.client.terminal.excerpt import brief, paragraphs
from midcall.client.terminal.widgets.entries import LONG, Entered, Finder, Picks, TextBox, YesNo
from midcall.core.forms import typed
from midcall.core.forms.fields import Choice, Choices, Field, Flag, Number, Text
from midcall.wording.client import terminal as wording

__all__ = ["FieldBox", "needs_answer"]


class FieldBox(Vertical):
    """A field on the form. What is entered goes into the draft at once."""

    def __init__(self, field: Field, draft: Draft) -> None:
        super().__init__(classes="field")
        self.field = field
        self._draft = draft
        self._entry = _entry(field, draft)
        self._note = Static(classes="note", markup=False)

    def compose(self) -> ComposeResult:
        yield Static(_title(self.field), classes="label")
        yield self._entry
        yield self._note

    def take_focus(self) -> None:
        """Put the cursor where this field is filled in."""
        target = self._entry if self._entry.can_focus else self._entry.query_one(Input)
        self.screen.set_focus(target)

    def on_entered(self, event: Entered) -> None:
        event.stop()
        self._draft.put(self.field, event.entry)
        self.judge(gently=not self.has_class("-wrong"))

    def on_descendant_blur(self, event: DescendantBlur) -> None:
        if self._draft.touched(self.field):
            self.judge()

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        self.call_after_refresh(self.scroll_visible, animate=False)

    def judge(self, *, gently: bool = False) -> bool:
        """Show what is wrong, if anything is: gently while the user is still typing. Tells whether it fits."""
        problems = self._draft.problems_of(self.field)
        self.set_class(bool(problems) and not gently, "-wrong")
        text = "; ".join(brief(problem.message) for problem in problems)
        self._note.update(Content(f"{'…' if gently else '✗'} {text}" if problems else ""))
        return not problems


def _entry(field: Field, draft: Draft) -> Widget:
    match field:
        case Text() | Number():
            return TextBox(draft.text(field), _placeholder(field))
        case Flag():
            chosen = draft.chosen(field)
            return YesNo(chosen if isinstance(chosen, bool) else None)
        case Choice() | Choices():
            return (Finder if len(field.values) > LONG else Picks)(field, draft.chosen(field))


def _placeholder(field: Field) -> str:
    """A default stands again where the user empties the field, and that should be no surprise."""
    if field.required or field.default is None:
        return ""
    return wording.if_left_empty(brief(typed.shown(field, field.default)))


def needs_answer(field: Field) -> bool:
    """Whether the user has to do something here: to choose none is an answer too, where it is allowed."""
    return bool(field.required) and not (isinstance(field, Choices) and not field.min_items)


def _title(field: Field) -> Content:
    mark = " *" if needs_answer(field) else ""
    hints = " · ".join(_hints(field))
    title = Content.assemble((brief(field.label), "bold"), (mark, "$accent bold"), "  ", (hints, "dim"))
    if not field.description:
        return title
    return Content.assemble(title, "\n", (paragraphs(field.description), "dim"))


def _hints(field: Field) -> list[str]:
    match field:
        case Choices():
            return [wording.pick_some(field.min_items, field.max_items)]
        case Flag():
            return [] if field.required or field.default is not None else [wording.optional()]
        case _:
            return [brief(hint) for hint in typed.hints(field)]
