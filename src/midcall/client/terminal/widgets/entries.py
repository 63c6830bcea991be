"""The widgets that fill in a form: a text input, yes or no, a list of options, a list to search.

Each posts `EntryChanged` when the user changes it, and `GoOn` when they want the next field.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from midcall.client.lines.excerpt import shorten
from midcall.client.terminal.flow import FieldEntry
from midcall.core.forms.fields import Choice, Choices
from midcall.core.text import plain_line
from midcall.language import _
from midcall.settings.client import FOUND_OPTIONS

LONG: Final = 8
"""Longer lists can be searched."""
_MOST_NAMED: Final = 5


class EntryChanged(Message):
    """The user entered this."""

    def __init__(self, entry: FieldEntry) -> None:
        super().__init__()
        self.entry = entry


class GoOn(Message):
    """The user wants the next field."""


class Line(Input):
    """An input that is underlined over its whole width, even while it's empty."""

    def __init__(self, text: str = "", placeholder: str = "") -> None:
        super().__init__(text, placeholder, compact=True, select_on_focus=False)

    def render_line(self, y: int) -> Strip:
        return super().render_line(y).extend_cell_length(self.size.width, self.rich_style)

    def on_paste(self, event: events.Paste) -> None:
        """Paste everything on one line. Textual would drop all but the first line."""
        event.prevent_default()
        event.stop()
        self.insert_text_at_cursor(plain_line(event.text))


class TextBox(Line):
    """A text input."""

    def __init__(self, text: str, placeholder: str) -> None:
        super().__init__(text, placeholder)
        self._text = text

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if event.value != self._text:
            self._text = event.value
            self.post_message(EntryChanged(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(GoOn())


class YesNo(Widget, can_focus=True):
    """Yes, no, or neither yet."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,right,space", "turn", show=False),
        Binding("y,Y", "say(True)", show=False),
        Binding("n,N", "say(False)", show=False),
        Binding("delete,backspace", "say(None)", show=False),
        Binding("enter", "go_on", show=False),
    ]

    def __init__(self, value: bool | None) -> None:
        super().__init__()
        self.value = value

    def render(self) -> Content:
        return Content.assemble(*self._half(True, _("Yes")), "    ", *self._half(False, _("No")))

    def _half(self, value: bool, word: str) -> tuple[tuple[str, str], tuple[str, str]]:
        if self.value is value:
            return ("●", "$accent"), (f" {word}", "bold")
        return ("○", "dim"), (f" {word}", "")

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return 1

    def action_turn(self) -> None:
        self.action_say(not self.value)

    def action_say(self, value: bool | None) -> None:
        self.value = value
        self.refresh()
        self.post_message(EntryChanged(value))

    def action_go_on(self) -> None:
        self.post_message(GoOn())

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        yes, no = 2 + cell_len(_("Yes")), 2 + cell_len(_("No"))
        if at is not None and at.x <= yes:
            self.action_say(True)
        elif at is not None and yes + 4 <= at.x <= yes + 4 + no:
            self.action_say(False)


def toggle(field: Choice | Choices, entry: FieldEntry, value: str) -> FieldEntry:
    """The new choice after the user picks this option."""
    if isinstance(field, Choice):
        return None if entry == value and not field.required else value
    now = set(_several(entry)) ^ {value}
    return [each for each in field.values if each in now]


def _several(entry: FieldEntry) -> Sequence[str]:
    return entry if isinstance(entry, (list, tuple)) else ()


class Picks(OptionList):
    """A list of options to choose one or several from."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "go_on", show=False),
        Binding("space", "select", show=False),
        Binding("delete,backspace", "clear", show=False),
    ]

    def __init__(self, field: Choice | Choices, entry: FieldEntry, values: Sequence[str] | None = None) -> None:
        super().__init__(compact=True, markup=False)
        self._field = field
        self._labels = field.labels
        self.entry: FieldEntry = entry
        self.values: Sequence[str] = ()
        self._offered = False
        self.show(field.values if values is None else values)

    def show(self, values: Sequence[str]) -> None:
        """Offer these options."""
        self.values = values
        self.clear_options()
        self.add_options([Option(self._line(value)) for value in values])
        at = next((index for index, value in enumerate(values) if self._is_chosen(value)), None)
        self.highlighted = at if isinstance(self._field, Choice) else None

    def _line(self, value: str) -> Content:
        title = shorten(self._labels[value]) or shorten(value) or _("(left empty)")
        several = isinstance(self._field, Choices)
        if self._is_chosen(value):
            return Content.assemble(("■" if several else "●", "$accent"), " ", (title, "bold"))
        return Content.assemble(("□" if several else "○", "dim"), " ", title)

    def _is_chosen(self, value: str) -> bool:
        return value == self.entry if isinstance(self._field, Choice) else value in _several(self.entry)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._enter(toggle(self._field, self.entry, self.values[event.option_index]))

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()

    def on_focus(self) -> None:
        """If nothing is chosen, start at the first option without choosing it."""
        if self.highlighted is None and self.values:
            self.highlighted = 0
            self._offered = True

    def watch_highlighted(self, highlighted: int | None) -> None:
        self._offered = False
        super().watch_highlighted(highlighted)

    def choose(self, entry: FieldEntry) -> None:
        """Show these options as chosen."""
        self.entry = entry
        for index, value in enumerate(self.values):
            self.replace_option_prompt_at_index(index, self._line(value))

    def _enter(self, entry: FieldEntry) -> None:
        self.choose(entry)
        self.post_message(EntryChanged(entry))

    def action_clear(self) -> None:
        self._enter(None if isinstance(self._field, Choice) else [])

    def action_go_on(self) -> None:
        """Take the highlighted option. An optional field stays empty unless the user has moved."""
        stays = self._offered and not self._field.required
        if isinstance(self._field, Choice) and self.highlighted is not None and not stays:
            self._enter(self.values[self.highlighted])
        self.post_message(GoOn())


class Finder(Vertical):
    """A long list: type to search, then choose."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("down", "enter_list", show=False)]

    def __init__(self, field: Choice | Choices, entry: FieldEntry) -> None:
        super().__init__()
        self._field = field
        self._names = [(value, f"{value} {title}".casefold()) for value, title in field.labels.items()]
        self._matching = len(self._names)
        self._box = Line(placeholder=_("type to search {count:,} options").format(count=self._matching))
        self._picks = Picks(field, entry, _first(field.values, entry))
        self._state = Static(classes="state", markup=False)

    def compose(self) -> ComposeResult:
        yield self._box
        yield self._picks
        yield self._state

    def on_mount(self) -> None:
        self._tell()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow the list."""
        event.stop()
        wanted = event.value.casefold().split()
        matching = [value for value, name in self._names if all(word in name for word in wanted)]
        self._matching = len(matching)
        self._picks.show(_first(matching, None if wanted else self._picks.entry))
        self._tell()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Move from the input into the list. If there's only one match, take it and move to the next field."""
        event.stop()
        if event.value and len(self._picks.values) > 1:
            self._enter_list()
            return
        if event.value and self._picks.values:
            self._take(self._picks.values[0])
        self.post_message(GoOn())

    def on_entry_changed(self, event: EntryChanged) -> None:
        self._tell()

    def action_enter_list(self) -> None:
        if self._picks.values:
            self._enter_list()

    def _take(self, value: str) -> None:
        taken = (self._picks.entry, *_several(self._picks.entry))
        if value not in taken:
            self._picks.choose(toggle(self._field, self._picks.entry, value))
            self.post_message(EntryChanged(self._picks.entry))

    def _enter_list(self) -> None:
        self.screen.set_focus(self._picks)
        if self._picks.highlighted is None:
            self._picks.highlighted = 0

    def _tell(self) -> None:
        entry, labels = self._picks.entry, self._field.labels
        chosen = [shorten(labels[each], 40) for each in ([entry] if isinstance(entry, str) else _several(entry))]
        if (more := len(chosen) - _MOST_NAMED) > 0:
            chosen[_MOST_NAMED:] = [_("and {count:,} more").format(count=more)]
        notes = [_("chosen: {names}").format(names=", ".join(chosen))] if chosen else []
        notes.append(_format_found(len(self._picks.values), self._matching))
        self._state.update(Content(" · ".join(notes)))


def _format_found(shown: int, matching: int) -> str:
    if not matching:
        return _("nothing found")
    if shown == matching:
        return _("{count:,} found").format(count=matching)
    sentence = _("showing the first {shown:,} of {matching:,}: type more to find others")
    return sentence.format(shown=shown, matching=matching)


def _first(values: Sequence[str], entry: FieldEntry = None) -> list[str]:
    """The options to show: the chosen ones first, then as many others as fit."""
    chosen = [entry] if isinstance(entry, str) else list(_several(entry))
    ahead = set(chosen)
    return [*chosen, *(value for value in values if value not in ahead)][:FOUND_OPTIONS]
