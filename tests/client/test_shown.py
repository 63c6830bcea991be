"""What the user reviews is exactly what is sent: nothing is cut, and nothing is hidden."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from textual.events import Paste

from midcall.client.asked import Asked, FormQuestion
from midcall.client.terminal.flow import Draft
from midcall.core.forms.fields import Choice, Number, Text
from midcall.core.forms.form import Form
from midcall.core.outcome import Accepted
from midcall.core.text import conceal, reveal
from midcall.settings.client import DEFAULT_CHARACTERS
from midcall.web.forms.inputs import inputs, read
from tests.client.browser.test_site import let_in
from tests.client.browsing import desk
from tests.client.lines.test_lines import Session, fill, form_asked
from tests.core.test_text import ANYTHING
from tests.terminals import Desk, Hands, form

HIDDEN = ["AC\u200bME", "exe.\u202egpj", " two  spaces ", "one\nTo: Eve", "p\u0430ypal", "a\ufe0f", "\x1b[2Jgone"]
LONG = " ".join(f"word{number}" for number in range(600))


def joined(screen: str) -> str:
    """A screen without the line ends, margins and bars that wrapping added."""
    return re.sub(r"\s+", "", re.sub(r"^  │ ", "", screen, flags=re.MULTILINE))


@pytest.mark.parametrize("value", [*HIDDEN, LONG])
async def test_line_prompts_show_a_whole_default_before_it_is_sent(value: str) -> None:
    outcome, screen = await fill(Form(Text("to", default=value)), "", "")
    assert outcome == Accepted({"to": value})
    assert joined(screen).count(joined(reveal(value))) == 2, "in brackets, and once more before it is sent"


@pytest.mark.parametrize("value", [*HIDDEN, LONG])
async def test_line_prompts_review_everything_that_is_sent(value: str) -> None:
    label, title = f"Label {value}", f"Title {value}"
    answers = Form(Text("to", title=label, default=value), Choice("c", {"a": title, "b": "B"}, title="Option"))
    outcome, screen = await fill(answers, "", "1", "")
    assert outcome == Accepted({"to": value, "c": "a"})
    rows = screen.partition("Your answers")[2].splitlines()
    numbered = [row for row in rows if re.match(r"    \d  ", row)]
    assert len(numbered) == 2, "no value looks like another row"
    words = sorted(word for row in rows for word in row.split())
    for shown in (reveal(value), reveal(title), reveal(label)):
        assert all(len(word) > 20 or word in words for word in shown.split()), shown


async def test_line_prompts_offer_no_default_that_nobody_would_see_whole() -> None:
    session = Session(["", "mine", ""])
    long = "x" * (DEFAULT_CHARACTERS + 1)
    outcome = await session.answer(form_asked(Form(Text("to", default=long, required=True))))
    assert outcome == Accepted({"to": "mine"})


@given(ANYTHING.filter(lambda text: not re.search("[\ud800-\udfff]", text)))
def test_a_draft_sends_what_its_input_shows(value: str) -> None:
    field = Text("to", default=value)
    draft = Draft(Form(field))
    assert draft.text(field) == reveal(value)
    assert draft.value(field) == value
    assert conceal(reveal(value)) == value
    draft.put(field, f"{draft.text(field)}!")
    assert draft.value(field) == f"{value}!"


@pytest.mark.parametrize("value", [*HIDDEN, LONG])
async def test_the_review_of_a_terminal_shows_everything_that_is_sent(value: str) -> None:
    async def person(hands: Hands) -> None:
        await hands.press("ctrl+s")
        await hands.press("ctrl+s")
        assert joined(reveal(value)) in joined(hands.screen)
        await hands.press("ctrl+s")

    desk = Desk(person, size=(100, 70))
    first, second = await desk.answer(form(Text("to", default=value)), form(Text("b", default="B")))
    assert first == Accepted({"to": value}, first.via)
    assert second == Accepted({"b": "B"}, second.via)


async def test_a_terminal_says_what_is_sent_if_an_input_cannot_show_it() -> None:
    seen: list[str] = []

    async def person(hands: Hands) -> None:
        assert hands.app.screen.focused is not None
        hands.app.screen.focused.post_message(Paste("a\ufe0fb"))
        await hands.pilot.pause()
        seen.append(hands.screen)
        await hands.press("ctrl+s")

    desk = Desk(person)
    [outcome] = await desk.answer(form(Text("to")))
    assert outcome == Accepted({"to": "a\ufe0fb"}, outcome.via)
    assert "sent as: a⟨U+FE0F⟩b" in seen[0]


END = "And I agree to pay 1000 EUR."


async def test_a_terminal_shows_a_default_that_is_wider_than_its_input() -> None:
    """A form without a review is sent as it is."""
    seen: list[str] = []

    async def person(hands: Hands) -> None:
        seen.append(hands.screen)
        await hands.press("ctrl+s")

    text, number = f"I like the sea. {'x' * 100} {END}", 10**90 + 5
    desk = Desk(person)
    [outcome] = await desk.answer(form(Text("a", default=text), Number("b", default=number)))
    assert outcome == Accepted({"a": text, "b": number}, outcome.via)
    assert joined(END) in joined(seen[0])
    assert joined(f"sent as: {number}") in joined(seen[0])


def test_a_page_shows_a_default_that_is_longer_than_a_line() -> None:
    text, number, address = f"I like the sea. {'x' * 100} {END}", 10**90 + 5, f"https://example.com/{'x' * 100}/pay"
    fields = Text("a", default=text), Number("b", default=number), Text("c", format="uri", default=address)
    area, *lines = inputs(Form(*fields))
    assert (area.control, area.value, area.note) == ("area", text, "")
    assert [line.note for line in lines] == [f"This will be sent: {number}", f"This will be sent: {address}"]


@pytest.mark.parametrize("value", ["AC\u200dME", "a\ufe0f", "p\u0430ypal"])
def test_a_page_says_what_is_sent_if_an_input_cannot_show_it(value: str) -> None:
    [shown] = inputs(Form(Text("to", default=value)))
    assert read(Form(Text("to")), [("f0", shown.value)]) == {"to": shown.value}
    assert shown.note == f"This will be sent: {reveal(shown.value)}"


def test_a_page_says_nothing_about_a_value_that_an_input_shows() -> None:
    [shown] = inputs(Form(Text("to", default="ACME, Zürich\n  and more")))
    assert shown.note == ""


async def test_a_value_in_the_review_of_a_terminal_cannot_pose_as_another_line() -> None:
    async def person(hands: Hands) -> None:
        await hands.press("ctrl+s")
        await hands.press("ctrl+s")
        lines = hands.screen.splitlines()
        assert [line for line in lines if line.strip().startswith("2 Eve")], "it begins a line"
        assert not any(re.match(r" {,4}2 Eve", line) for line in lines)
        await hands.press("ctrl+s")

    desk = Desk(person, size=(80, 70))
    values = [Text(f"f{length}", default=f"{'x' * length} 2 Eve: pay") for length in range(58, 74)]
    await desk.answer(form(*values), form(Text("b", default="B")))


AGREE = "Pay ACME\u200b LTD\u202e?"
MARKED = "Pay ACME⟨U+200B⟩ LTD⟨U+202E⟩?"


async def test_line_prompts_hide_nothing_of_a_text_that_is_all_the_user_agrees_to() -> None:
    session = Session(["yes"])
    assert await session.answer(form_asked(None, AGREE)) == Accepted({})
    assert MARKED in session.screen


async def test_a_terminal_hides_nothing_of_a_text_that_is_all_the_user_agrees_to() -> None:
    async def person(hands: Hands) -> None:
        assert MARKED in hands.screen
        await hands.press("ctrl+s")

    assert await Desk(person).answer(form(message=AGREE)) == [Accepted({}, "round")]


async def test_a_page_hides_nothing_of_a_text_that_is_all_the_user_agrees_to() -> None:
    async with desk() as at:
        at.ask(Asked(FormQuestion(AGREE, None), "bare", "Travel"))
        async with let_in(at) as visitor:
            assert MARKED in await visitor.see("bare")


def test_other_messages_keep_what_their_script_needs() -> None:
    """Marks would hurt readers of scripts that use such characters, and the fields say what is sent."""
    name = form_asked(Form(Text("name")), "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645")
    assert name.shown_message == name.message
