"""The pages of a flow: one for each question, and the review of all answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Spacing
from textual.visual import Padding, Visual
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from midcall.client.asked import Asked
from midcall.client.lines.display import format_turned_away
from midcall.client.lines.excerpt import one_line, server_name, shorten, shorten_paragraphs
from midcall.client.terminal.flow import Behind, QuestionFlow, Step
from midcall.client.terminal.widgets.entries import GoOn
from midcall.client.terminal.widgets.field_box import FieldBox, needs_answer
from midcall.client.terminal.widgets.frame import Act, Bar, TerminalPage
from midcall.client.urls import Address, look
from midcall.core.forms.fields import Field
from midcall.core.forms.hints import format_value
from midcall.core.outcome import Accepted, Declined
from midcall.core.text import reveal
from midcall.language import _, ngettext
from midcall.settings.client import PORTION_FIELDS, REVIEWED_CHARACTERS

_LONG: Final = 400
"""Longer messages can have the focus, so that they can be scrolled without a mouse."""


class QuestionPage(TerminalPage):
    """A question: a form, an address to visit, or a form without fields."""

    def __init__(self, flow: QuestionFlow, step: Step, portion: int, behind: Behind) -> None:
        super().__init__()
        self._flow = flow
        self.step = step
        self._address = look(step.asked.url) if step.asked.url is not None else None
        self._portion = portion
        self._boxes: list[FieldBox] = []
        self._behind = behind

    # --- content ------------------------------------------------------------------------------

    def head(self) -> Content:
        asked, server = self.step.asked, server_name(self.step.asked.server)
        title = _("{server} asks") if self._address is None else _("{server} asks you to open a web page")
        where, about = self._progress(), shorten(_format_origin(asked), 100)
        return Content.assemble(
            (where, "$accent bold"), "  " if where else "", (title.format(server=server), "bold"), "  ", (about, "dim")
        )

    def _progress(self) -> str:
        """The number of this question, and how many wait. It comes first, so that no name can push it out of sight."""
        notes: list[str] = []
        if not self._flow.alone:
            number, count = self._flow.number(self.step), len(self._flow.steps)
            notes.append(_("{number} of {count}").format(number=number, count=count))
        if self._behind.waiting:
            notes.append(_("{count:,} more waiting").format(count=self._behind.waiting))
        return " · ".join(notes)

    def body(self) -> Iterator[Widget]:
        yield from _show_message(self.step.asked.shown_message)
        if self._address is not None:
            yield from _show_address(self._address, self._flow.alone)
        elif (draft := self.step.draft) is None:
            yield Static(_("There is nothing to fill in. Accept or decline."), classes="advice", markup=False)
        else:
            fields = self._all[self._portion * PORTION_FIELDS : (self._portion + 1) * PORTION_FIELDS]
            self._boxes = [FieldBox(field, draft) for field in fields]
            yield from self._portion_note()
            yield from self._boxes

    def note(self) -> str:
        return _("* required") if any(needs_answer(box.field) for box in self._boxes) else ""

    def _portion_note(self) -> Iterator[Widget]:
        first, fields = self._portion * PORTION_FIELDS, len(self._all)
        if fields > PORTION_FIELDS:
            text = _("Fields {first:,} to {last:,} of {count:,}")
            text = text.format(first=first + 1, last=first + len(self._boxes), count=fields)
            yield Static(text, classes="advice", markup=False)

    def acts(self) -> Sequence[str]:
        """The most important acts first: a narrow terminal may not show the last ones."""
        return [*self._yes(), "decline", "cancel", *self._turns(), "cancel_all"]

    def hidden(self) -> Sequence[str]:
        """Hide Cancel all if there is only this question."""
        return ["cancel_all"] if self._flow.alone and not self._behind.waiting else []

    def _yes(self) -> Sequence[str]:
        if self._address is not None:
            return ["open" if self._flow.alone else "agree"] if self._address.openable else []
        if self.step.draft is None:
            return ["yes"]
        return ["send"] if self._flow.alone else ["next"]

    def _turns(self) -> Iterator[str]:
        if self._address is not None and self._address.openable:
            yield "copy"
        if not self._flow.alone and self._flow.before(self.step) is not None:
            yield "back"
        if self._portion:
            yield "less"
        if (self._portion + 1) * PORTION_FIELDS < len(self._all):
            yield "more"

    @property
    def _all(self) -> tuple[Field, ...]:
        return self.step.draft.form.fields if self.step.draft is not None else ()

    def look_behind(self, behind: Behind) -> None:
        """Show how many questions are pending."""
        if behind != self._behind:
            self._behind = behind
            self.retitle()
            self.query_one(Bar).hide(self.hidden())
            self._tell_turned_away()

    def _tell_turned_away(self) -> None:
        if self._behind.turned_away:
            self.tell(format_turned_away(self._behind.turned_away))

    # --- events -------------------------------------------------------------------------------

    @property
    def portion(self) -> int:
        return self._portion

    @property
    def may_accept(self) -> bool:
        return self._address is None or self._address.openable

    def on_mount(self) -> None:
        self._tell_turned_away()
        if self._boxes:
            self._boxes[0].take_focus()

    def on_go_on(self, event: GoOn) -> None:
        """Go to the next field, or from the last one to the first button, unless its answer has to be corrected."""
        event.stop()
        at = next((index for index, box in enumerate(self._boxes) if box.has_focus_within), len(self._boxes))
        if at + 1 < len(self._boxes):
            self._boxes[at + 1].take_focus()
        elif at == len(self._boxes) or self._boxes[at].may_leave():
            self.set_focus(self.query(Act).first())

    def show_field(self, name: str) -> None:
        """Go to this field."""
        for box in self._boxes:
            if box.field.name == name:
                box.take_focus()

    def judge(self) -> None:
        """Show every problem at its field."""
        for box in self._boxes:
            box.judge()


def _format_origin(asked: Asked) -> str:
    """The server's version, the protocol's, and how the question came."""
    ways = {"push": _("pushed"), "round": _("in a round"), "required": _("required")}
    version = _("version {version}").format(version=asked.server_version) if asked.server_version else ""
    protocol = f"MCP {asked.protocol}" if asked.protocol else ""
    return " · ".join(filter(None, (version, protocol, ways[asked.via])))


def portion_of(step: Step, name: str) -> int:
    """The portion of the form that holds this field."""
    return step.draft.form.names.index(name) // PORTION_FIELDS if step.draft is not None else 0


def _show_message(message: str) -> Iterator[Widget]:
    """The server's text, behind a bar so it can't pose as the client."""
    text = shorten_paragraphs(message)
    if text:
        yield VerticalScroll(Static(text, markup=False), id="message", can_focus=len(text) > _LONG)


def _show_address(address: Address, alone: bool) -> Iterator[Widget]:
    before, domain, after = address.parts
    if not address.openable:
        why = _("This address cannot be opened: {reason}.").format(reason=address.why_not)
        yield Static(f"✗ {why}", classes="doubt", markup=False)
        yield Static(shorten_paragraphs(address.url, 2_000), id="address", markup=False)
        return
    yield Static(_("Site: {domain}").format(domain=domain), classes="site", markup=False)
    if address.doubts:  # above the address, because a long one would push them out of sight
        yield Static("\n".join(f"! {doubt}" for doubt in address.doubts), classes="doubt", markup=False)
    yield Static(Content.assemble(before, (domain, "$accent bold reverse"), after), id="address")
    now, later = _("Nothing opens until you press Open."), _("It opens in your browser when you send your answers.")
    yield Static(now if alone else later, classes="advice", markup=False)


class ReviewPage(TerminalPage):
    """All answers, before any of them is sent."""

    def __init__(self, flow: QuestionFlow) -> None:
        super().__init__()
        self._flow = flow
        self._list = OptionList(compact=True, markup=False, id="review")
        self._places: list[tuple[Step, str]] = []

    def head(self) -> Content:
        count = len(self._flow.steps)
        title = ngettext("Your answer to {count:,} question", "Your answers to {count:,} questions", count)
        return Content.assemble((title.format(count=count), "bold"))

    def body(self) -> Iterator[Widget]:
        yield Static(_("Nothing has been sent yet. Choose a line to change it."), classes="advice", markup=False)
        yield self._list

    def acts(self) -> Sequence[str]:
        return ["send", "back", "cancel_all"]

    def on_mount(self) -> None:
        self.fill()
        self.set_focus(self._list)

    def fill(self) -> None:
        """Show the current answers."""
        self._list.clear_options()
        self._places.clear()
        for step in self._flow.steps:
            self._add(step, "", _headline(self._flow.number(step), step))
            for name, line in _lines(step):
                self._add(step, name, Padding(line, Spacing(left=4)))  # no part of a value looks like a headline

    def _add(self, step: Step, name: str, line: Visual) -> None:
        self._places.append((step, name))
        self._list.add_option(Option(line))

    def place(self, index: int) -> tuple[Step, str]:
        """The question and the field of this line."""
        return self._places[index]


def _headline(number: int, step: Step) -> Content:
    asked = step.asked
    return Content.assemble(
        (f"{number}", "$accent bold"),
        f" {server_name(asked.server)}: ",
        (shorten(asked.message.partition("\n")[0], 120), "bold"),
    )


def _lines(step: Step) -> Iterator[tuple[str, Content]]:
    if not isinstance(step.outcome, Accepted):
        decision = _("declined") if isinstance(step.outcome, Declined) else _("cancelled")
        yield "", Content.assemble(("✗ ", "$error"), decision)
    elif step.asked.url is not None:
        yield "", Content.assemble(("✓ ", "$success"), _("open {url}").format(url=reveal(step.asked.url)))
    elif step.draft is None:
        yield "", Content.assemble(("✓ ", "$success"), _("agreed"))
    else:
        yield from _values(step)


def _values(step: Step) -> Iterator[tuple[str, Content]]:
    assert step.draft is not None
    for field in step.draft.form.fields:
        value = step.draft.value(field)
        shown = (format_value(field, value), "dim" if value is None else "bold")
        yield (
            field.name,
            Content.assemble((one_line(field.label, REVIEWED_CHARACTERS, reveal), "dim"), "  ", shown),
        )
