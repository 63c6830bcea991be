"""The pages of a flow: a question, and the review of all answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from midcall.client.terminal.excerpt import brief, server_name, whole
from midcall.client.terminal.flow import NOBODY, Behind, Flow, Step
from midcall.client.terminal.widgets.bar import Act, Bar
from midcall.client.terminal.widgets.entries import GoOn
from midcall.client.terminal.widgets.fields import FieldBox, needs_answer
from midcall.client.terminal.widgets.page import Page
from midcall.client.urls.consent import Address, look
from midcall.core.forms import typed
from midcall.core.forms.fields import Field
from midcall.core.outcome import Accepted, Declined
from midcall.wording.client import terminal as wording

__all__ = ["FIELDS", "QuestionPage", "ReviewPage", "portion_of"]

FIELDS: Final = 40
"""More fields than this come in portions: each is a handful of widgets, and has to be there at once."""
_REVIEWED: Final = 200
_LONG: Final = 400
"""A message from this length on may have to be scrolled, also without a mouse."""


class QuestionPage(Page):
    """A question: a form, an address to visit, or only a yes or no."""

    def __init__(self, flow: Flow, step: Step, portion: int = 0, behind: Behind = NOBODY) -> None:
        super().__init__()
        self._flow = flow
        self.step = step
        self._address = look(step.asked.url) if step.asked.url is not None else None
        self._portion = portion
        self._boxes: list[FieldBox] = []
        self._behind = behind

    # --- what is shown ------------------------------------------------------------------------

    def head(self) -> Content:
        asked, server = self.step.asked, server_name(self.step.asked)
        title = wording.asks_to_open(server) if self._address is not None else wording.asks(server)
        about = brief(wording.about_server(asked.server_version, asked.protocol, asked.via), 100)
        where = self._whereabouts()
        return Content.assemble((where, "$accent bold"), "  " if where else "", (title, "bold"), "  ", (about, "dim"))

    def _whereabouts(self) -> str:
        """Which question it is, and what waits behind it. No name is so long that this would be out of sight."""
        step = "" if self._flow.alone else wording.step(self._flow.number(self.step), len(self._flow.steps))
        waits = wording.more_waiting(self._behind.waiting) if self._behind.waiting else ""
        return " · ".join(filter(None, (step, waits)))

    def body(self) -> Iterator[Widget]:
        yield from _message(self.step.asked.message)
        if self._address is not None:
            yield from _address(self._address, self._flow.alone)
        elif (draft := self.step.draft) is None:
            yield Static(wording.nothing_to_fill(), classes="advice", markup=False)
        else:
            self._boxes = [FieldBox(field, draft) for field in self._fields()]
            yield from self._where()
            yield from self._boxes

    def note(self) -> str:
        return wording.must_be_answered() if any(needs_answer(box.field) for box in self._boxes) else ""

    def _where(self) -> Iterator[Widget]:
        first, fields = self._portion * FIELDS, len(self._all)
        if fields > FIELDS:
            text = wording.some_fields(first + 1, first + len(self._boxes), fields)
            yield Static(text, classes="advice", markup=False)

    def acts(self) -> Sequence[str]:
        """What matters most comes first: in a narrow terminal the last ones may be out of sight."""
        return [*self._yes(), "decline", "cancel", *self._turns(), "cancel_all"]

    def hidden(self) -> Sequence[str]:
        """With nothing else to cancel, Cancel is enough."""
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
        if (self._portion + 1) * FIELDS < len(self._all):
            yield "more"

    @property
    def _all(self) -> tuple[Field, ...]:
        return self.step.draft.form.fields if self.step.draft is not None else ()

    def _fields(self) -> tuple[Field, ...]:
        return self._all[self._portion * FIELDS : (self._portion + 1) * FIELDS]

    def look_behind(self, behind: Behind) -> None:
        """Show what waits by now."""
        if behind != self._behind:
            self._behind = behind
            self.retitle()
            self.query_one(Bar).hide(self.hidden())
            self._tell_turned_away()

    def _tell_turned_away(self) -> None:
        if self._behind.turned_away:
            self.tell(wording.turned_away(self._behind.turned_away))

    # --- what is done -------------------------------------------------------------------------

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
        """To the next field, and from the last one to the first button."""
        event.stop()
        at = next((index for index, box in enumerate(self._boxes) if box.has_focus_within), len(self._boxes))
        if at + 1 < len(self._boxes):
            self._boxes[at + 1].take_focus()
        else:
            self.set_focus(self.query(Act).first())

    def show_field(self, name: str) -> None:
        """Go to this field, and say what is wrong with any."""
        for box in self._boxes:
            if box.field.name == name:
                box.take_focus()

    def judge(self) -> None:
        """Show all problems at their fields."""
        for box in self._boxes:
            box.judge()


def portion_of(step: Step, name: str) -> int:
    """The portion of the form that holds this field."""
    return step.draft.form.names.index(name) // FIELDS if step.draft is not None else 0


def _message(message: str) -> Iterator[Widget]:
    """What the server says stands behind a bar: it cannot pose as the client."""
    text = whole(message)
    if text:
        yield VerticalScroll(Static(text, markup=False), id="message", can_focus=len(text) > _LONG)


def _address(address: Address, alone: bool) -> Iterator[Widget]:
    before, domain, after = address.parts
    if not address.openable:
        yield Static(f"✗ {wording.cannot_open(address.why_not)}", classes="doubt", markup=False)
        yield Static(whole(address.url, 2_000), id="address", markup=False)
        return
    yield Static(wording.site(domain), classes="site", markup=False)
    if address.doubts:  # before the address, which may be so long that they would be out of sight
        yield Static("\n".join(f"! {doubt}" for doubt in address.doubts), classes="doubt", markup=False)
    yield Static(Content.assemble(before, (domain, "$accent bold reverse"), after), id="address")
    yield Static(wording.will_open_now() if alone else wording.will_open_when_sent(), classes="advice", markup=False)


class ReviewPage(Page):
    """All answers, before any of them is sent."""

    def __init__(self, flow: Flow) -> None:
        super().__init__()
        self._flow = flow
        self._list = OptionList(compact=True, markup=False, id="review")
        self._places: list[tuple[Step, str]] = []

    def head(self) -> Content:
        return Content.assemble((wording.review_title(len(self._flow.steps)), "bold"))

    def body(self) -> Iterator[Widget]:
        yield Static(wording.review_advice(), classes="advice", markup=False)
        yield self._list

    def acts(self) -> Sequence[str]:
        return ["send", "back", "cancel_all"]

    def on_mount(self) -> None:
        self.fill()
        self.set_focus(self._list)

    def fill(self) -> None:
        """Show the answers as they stand."""
        self._list.clear_options()
        self._places.clear()
        for step in self._flow.steps:
            self._add(step, "", _headline(self._flow.number(step), step))
            for name, line in _lines(step):
                self._add(step, name, line)

    def _add(self, step: Step, name: str, line: Content) -> None:
        self._places.append((step, name))
        self._list.add_option(Option(line))

    def place(self, index: int) -> tuple[Step, str]:
        """The question and the field that this line is about."""
        return self._places[index]


def _headline(number: int, step: Step) -> Content:
    asked = step.asked
    return Content.assemble(
        (f"{number}", "$accent bold"),
        f" {server_name(asked)}: ",
        (brief(asked.message.partition("\n")[0], 120), "bold"),
    )


def _lines(step: Step) -> Iterator[tuple[str, Content]]:
    if not isinstance(step.outcome, Accepted):
        said = wording.review_declined() if isinstance(step.outcome, Declined) else wording.review_cancelled()
        yield "", Content.assemble(("    ✗ ", "$error"), said)
    elif step.asked.url is not None:
        yield "", Content.assemble(("    ✓ ", "$success"), wording.review_open(step.asked.url))
    elif step.draft is None:
        yield "", Content.assemble(("    ✓ ", "$success"), wording.review_agreed())
    else:
        yield from _values(step)


def _values(step: Step) -> Iterator[tuple[str, Content]]:
    assert step.draft is not None
    fields = step.draft.form.fields
    labels = [brief(field.label, 40) for field in fields[:_REVIEWED]]
    widest = max(map(len, labels))
    for field, label in zip(fields, labels, strict=False):
        value = step.draft.value(field)
        shown = brief(typed.shown(field, value), 200)
        yield field.name, Content.assemble(f"    {label:<{widest}}  ", (shown, "dim" if value is None else "bold"))
    if len(fields) > _REVIEWED:
        yield "", Content.assemble("    ", (wording.and_more(len(fields) - _REVIEWED), "dim"))
