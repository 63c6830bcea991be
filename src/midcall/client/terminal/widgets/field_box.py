"""One field of a form: label, hints, entry, and problems."""

from __future__ import annotations

from typing import Final

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.events import DescendantBlur, DescendantFocus
from textual.widget import Widget
from textual.widgets import Input, Static

from midcall.client.lines.excerpt import shorten, shorten_paragraphs
from midcall.client.terminal.flow import Draft
from midcall.client.terminal.widgets.entries import LONG, EntryChanged, Finder, Picks, TextBox, YesNo
from midcall.core.forms.fields import Choice, Choices, Field, Flag, Number, Text
from midcall.core.forms.hints import describe_amount, format_value, list_hints
from midcall.core.text import reveal
from midcall.language import _
from midcall.settings.client import DESCRIPTION_CHARACTERS

_WIDEST: Final = 72
"""The columns of an input, as in window.tcss."""
_AROUND: Final = 8
"""Columns that a field needs besides its input, with a scroll bar."""


class FieldBox(Vertical):
    """A field on the form. Every entry goes into the draft at once."""

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
        """Move the focus to this field's entry."""
        target = self._entry if self._entry.can_focus else self._entry.query_one(Input)
        self.screen.set_focus(target)

    def on_entry_changed(self, event: EntryChanged) -> None:
        event.stop()
        self._draft.put(self.field, event.entry)
        self.judge(gently=not self.has_class("-wrong"))

    def may_leave(self) -> bool:
        """Show problems. Returns whether there are none, or nothing was entered."""
        return not self._draft.has_entry(self.field) or self.judge()

    def on_descendant_blur(self, event: DescendantBlur) -> None:
        self.may_leave()

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        self.call_after_refresh(self.scroll_visible, animate=False)

    def judge(self, *, gently: bool = False) -> bool:
        """Show problems: gently while the user is still typing. Returns whether the entry is valid."""
        problems = self._draft.problems_of(self.field)
        self.set_class(bool(problems) and not gently, "-wrong")
        text = "; ".join(shorten(problem.message) for problem in problems)
        self._note.update(Content(f"{'…' if gently else '✗'} {text}" if problems else self._explain_hidden()))
        return not problems

    def on_resize(self) -> None:
        """Show what a narrow input hides, such as the end of a long default."""
        if self._draft.has_entry(self.field):
            self.judge(gently=not self.has_class("-wrong"))
        else:
            self._note.update(Content(self._explain_hidden()))

    def _explain_hidden(self) -> str:
        """What is sent, if the input can't show all of it."""
        value = self._draft.value(self.field)
        if not isinstance(self.field, (Text, Number)) or value is None:
            return ""
        given, shown = self._draft.text(self.field), reveal(str(value))
        # By the width of the screen: a note that comes and goes with a scroll bar would never come to rest.
        fits = cell_len(given) <= min(_WIDEST, self.screen.size.width - _AROUND)
        return "" if fits and shown in (str(value), given) else _("sent as: {value}").format(value=shown)


def _entry(field: Field, draft: Draft) -> Widget:
    match field:
        case Text() | Number():
            return TextBox(draft.text(field), _placeholder(field))
        case Flag():
            choice = draft.choice(field)
            return YesNo(choice if isinstance(choice, bool) else None)
        case Choice() | Choices():
            return (Finder if len(field.values) > LONG else Picks)(field, draft.choice(field))


def _placeholder(field: Field) -> str:
    """Show the default that is used if the user empties the field."""
    if field.required or field.default is None:
        return ""
    return _("if left empty: {value}").format(value=shorten(format_value(field, field.default)))


def needs_answer(field: Field) -> bool:
    """Whether the user must fill this in. If choosing no option is allowed, they needn't."""
    return bool(field.required) and not (isinstance(field, Choices) and not field.min_items)


def _title(field: Field) -> Content:
    mark = " *" if needs_answer(field) else ""
    hints = " · ".join(_hints(field))
    title = Content.assemble((shorten(field.label), "bold"), (mark, "$accent bold"), "  ", (hints, "dim"))
    if not field.description:
        return title
    return Content.assemble(title, "\n", (shorten_paragraphs(field.description, DESCRIPTION_CHARACTERS), "dim"))


def _hints(field: Field) -> list[str]:
    match field:
        case Choices():
            hint = _("choose {amount}") if field.min_items else _("choose {amount}, or none")
            return [hint.format(amount=describe_amount(field.min_items, field.max_items))]
        case Flag():
            return [] if field.required or field.default is not None else [_("optional")]
        case _:
            return [shorten(hint) for hint in list_hints(field)]
