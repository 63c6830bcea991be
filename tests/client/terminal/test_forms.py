"""Forms in the terminal, filled by keys through Textual's own driver."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual import _wait

from midcall.client.terminal.flow import Draft
from midcall.core.forms.check import check
from midcall.core.forms.fields import Choice, Choices, Field, Flag, Number, Text
from midcall.core.forms.form import Form
from midcall.core.outcome import Accepted, Cancelled, Declined
from tests.core.strategies import forms
from tests.terminals import Desk, Hands, fill, form

SEATS = {"w": "Window", "a": "Aisle"}
EXTRAS = {"bike": "A bicycle", "guide": "A guide", "skis": "Skis"}
COUNTRIES = {f"c{number}": f"Country {number}" for number in range(500)}


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """After each key Textual's pilot looks whether the process is idle: four times as often, by the same measure."""
    for name in ("SLEEP_GRANULARITY", "SLEEP_IDLE"):
        monkeypatch.setattr(_wait, name, getattr(_wait, name) / 4)


# --- every kind of field -----------------------------------------------------------------------


ENTERED: dict[str, list[tuple[Field, list[str], dict[str, Any]]]] = {
    "text": [
        (Text("f"), ["a", "d", "a"], {"f": "ada"}),
        (Text("f"), ["space", "a", "space", "space"], {"f": " a  "}),
        (Text("f", format="email"), ["space", "a", "at", *"b", "full_stop", *"de", "space"], {"f": "a@b.de"}),
        (Text("f", format="date"), [*"2026", "minus", *"08", "minus", *"01"], {"f": "2026-08-01"}),
        (Text("f", default="x"), [], {"f": "x"}),
        (Text("f", default="x"), ["backspace", "y"], {"f": "y"}),
        (Text("f", default="x"), ["backspace"], {}),
        (Text("f", required=False), [], {}),
        (Text("f", required=False), ["space"], {}),
        (Text("f", default="two\nlines"), [], {"f": "two\nlines"}),
    ],
    "number": [
        (Number("f", integer=True), ["space", "7"], {"f": 7}),
        (Number("f"), ["2", "full_stop", "5"], {"f": 2.5}),
        (Number("f", default=4), [], {"f": 4}),
        (Number("f", required=False), [], {}),
    ],
    "flag": [
        (Flag("f"), ["y"], {"f": True}),
        (Flag("f"), ["n"], {"f": False}),
        (Flag("f"), ["space"], {"f": True}),
        (Flag("f"), ["space", "right"], {"f": False}),
        (Flag("f", default=False), [], {"f": False}),
        (Flag("f", default=True), [], {"f": True}),
        (Flag("f", required=False), [], {}),
        (Flag("f", required=False), ["y", "delete"], {}),
    ],
    "choice": [
        (Choice("f", SEATS), ["space"], {"f": "w"}),
        (Choice("f", SEATS), ["enter"], {"f": "w"}),
        (Choice("f", SEATS), ["down", "space"], {"f": "a"}),
        (Choice("f", SEATS), ["down", "enter"], {"f": "a"}),
        (Choice("f", SEATS, default="a"), [], {"f": "a"}),
        (Choice("f", SEATS, default="a"), ["up", "space"], {"f": "w"}),
        (Choice("f", SEATS, required=False), [], {}),
        (Choice("f", SEATS, required=False), ["enter"], {}),
        (Choice("f", SEATS, required=False), ["down", "up", "enter"], {"f": "w"}),
        (Choice("f", SEATS, required=False), ["down", "space", "delete"], {}),
        (Choice("f", SEATS, required=False), ["down", "space", "space"], {}),
    ],
    "choices": [
        (Choices("f", EXTRAS), [], {"f": []}),
        (Choices("f", EXTRAS, required=False), [], {}),
        (Choices("f", EXTRAS), ["end", "space", "home", "space"], {"f": ["bike", "skis"]}),
        (Choices("f", EXTRAS, default=["guide"]), [], {"f": ["guide"]}),
        (Choices("f", EXTRAS, default=["guide"]), ["backspace"], {"f": []}),
    ],
    "many": [
        (Choice("f", COUNTRIES), [*"country", "space", *"321", "enter"], {"f": "c321"}),
        (Choice("f", COUNTRIES), [*"c49", "enter", "down", "enter"], {"f": "c490"}),
        (Choice("f", COUNTRIES, default="c400"), ["down", "down", "space"], {"f": "c0"}),
        (Choices("f", COUNTRIES), [*"y", "space", *"7", "down", "space", "down", "space"], {"f": ["c7", "c17"]}),
    ],
}


@pytest.mark.parametrize("kind", ENTERED)
async def test_what_is_entered_is_what_is_sent(kind: str) -> None:
    """Each row is a separate form, all in one flow: opening a window takes longer than filling in a form."""
    rows = ENTERED[kind]

    async def person(hands: Hands) -> None:
        for number, (field, keys, _) in enumerate(rows, 1):
            assert f"{number} of {len(rows)}" in hands.screen, (field, keys)
            await hands.press(*keys, "ctrl+s")
        assert "Nothing has been sent yet" in hands.screen
        await hands.press("ctrl+s")

    outcomes = await Desk(person).answer(*(form(field, id=str(number)) for number, (field, _, _) in enumerate(rows)))
    assert outcomes == [Accepted(content, "round") for _, _, content in rows]
    assert not any(check(Form(field), content) for field, _, content in rows)


UNFIT: list[tuple[Field, list[str], str]] = [
    (Text("f"), [], "is required"),
    (Text("f"), ["space"], "is required"),
    (Text("f", min_length=3), ["a"], "must have at least 3 characters"),
    (Text("f", format="date"), [*"2026"], "must be a date such as 2026-07-28"),
    (Text("f", format="date-time"), ["1"], "must be a date and time with its offset"),
    (Number("f", integer=True), ["2", "full_stop", "5"], "must be a whole number"),
    (Number("f"), ["2", "comma", "5"], "must be a number"),
    (Number("f", maximum=9), ["1", "0"], "must be at most 9"),
    (Flag("f"), [], "is required"),
    (Flag("f"), ["y", "delete"], "is required"),
    (Choice("f", SEATS), [], "is required"),
    (Choice("f", COUNTRIES), [], "is required"),
    (Choices("f", EXTRAS, min_items=1), [], "needs at least 1 choice"),
    (Choices("f", EXTRAS, max_items=1), ["home", "space", "down", "space"], "takes at most 1 choice"),
]


async def test_what_does_not_fit_is_not_sent_and_the_field_says_why() -> None:
    async def person(hands: Hands) -> None:
        for number, (field, keys, problem) in enumerate(UNFIT, 1):
            assert f"{number} of {len(UNFIT)}" in hands.screen, (field, keys)
            await hands.press(*keys, "ctrl+s")
            assert f"✗ {problem}" in hands.note("f"), (field, keys)
            assert "1 answer is not valid yet." in hands.screen, (field, keys)
            assert hands.at == "f", (field, keys)
            await hands.press("escape")

    outcomes = await Desk(person).answer(*(form(field, id=str(number)) for number, (field, _, _) in enumerate(UNFIT)))
    assert outcomes == [Cancelled("round")] * len(UNFIT)


async def test_a_problem_is_shown_gently_while_typing_and_firmly_once_the_field_is_left() -> None:
    async def person(hands: Hands) -> None:
        assert hands.note("mail") == ""
        await hands.press("a")
        assert hands.note("mail").startswith("… must be an email address")
        assert not hands.box("mail").has_class("-wrong")
        await hands.press("enter")
        assert hands.note("mail").startswith("✗ must be an email address")
        assert hands.box("mail").has_class("-wrong")
        assert hands.note("name") == ""
        await hands.press("shift+tab")
        await hands.type("@b.de")
        assert hands.note("mail") == ""
        await hands.press("escape")

    await fill(Text("mail", format="email"), Text("name"), person=person)


async def test_sending_goes_to_the_first_problem_and_shows_all_of_them() -> None:
    async def person(hands: Hands) -> None:
        await hands.type("Ada")
        await hands.press("ctrl+s")
        assert hands.at == "age"
        assert "is required" in hands.note("age")
        assert "is required" in hands.note("sure")
        assert "2 answers are not valid yet." in hands.screen
        await hands.press("7", "enter", "y", "ctrl+s")

    outcome, _ = await fill(Text("name"), Number("age"), Flag("sure"), person=person)
    assert outcome == Accepted({"name": "Ada", "age": 7, "sure": True}, "round")


async def test_enter_stays_in_the_last_field_until_its_answer_is_valid() -> None:
    """What the user types next is the correction, and belongs in the field."""

    async def person(hands: Hands) -> None:
        await hands.press("tab", *"three", "enter")
        assert (hands.at, hands.note("days")) == ("days", "✗ must be a whole number")
        await hands.press("ctrl+u", "3", "enter")
        assert hands.at == "send"
        await hands.press("enter")

    outcome, _ = await fill(Text("name", required=False), Number("days", integer=True), person=person)
    assert outcome == Accepted({"days": 3}, "round")


async def test_enter_moves_from_field_to_field_and_then_to_send() -> None:
    async def person(hands: Hands) -> None:
        seen = [hands.at]
        for _ in range(5):
            await hands.press("enter")
            seen.append(hands.at)
        assert seen == ["a", "b", "c", "d", "e", "send"]
        await hands.press("enter")

    fields = (
        Text("a", default="x"),
        Number("b", default=1),
        Flag("c", default=True),
        Choice("d", SEATS, default="w"),
        Choices("e", EXTRAS),
    )
    outcome, _ = await fill(*fields, person=person)
    assert outcome == Accepted({"a": "x", "b": 1, "c": True, "d": "w", "e": []}, "round")


async def test_the_user_sees_who_asks_what_and_what_each_field_takes() -> None:
    async def person(hands: Hands) -> None:
        for piece in (
            "Fjord Travel asks  version 1.4.0 · MCP 2026-07-28 · in a round",
            "Tell me",
            "Name *  2 to 40 characters",
            "As in the passport",
            "Days  a whole number from 1 to 30",
            "News  optional",
            "● Window",
            "○ Aisle",
            "Extras  choose at most 2, or none",
            "□ A bicycle",
            "Send ^S   Decline ^D   Cancel Esc",
            "* required",
        ):
            assert piece in hands.screen
        assert "commas" not in hands.screen
        await hands.press("escape")

    await fill(
        Text("name", title="Name", description="As in the passport", min_length=2, max_length=40),
        Number("days", title="Days", integer=True, minimum=1, maximum=30, default=3),
        Flag("news", title="News", required=False),
        Choice("seat", SEATS, title="Seat", default="w"),
        Choices("extras", EXTRAS, title="Extras", max_items=2),
        person=person,
    )


@pytest.mark.parametrize("size", [(40, 12), (50, 15), (80, 24), (120, 40)])
async def test_decline_and_cancel_are_in_sight_in_every_size(size: tuple[int, int]) -> None:
    async def person(hands: Hands) -> None:
        for _ in range(12):
            bottom = hands.screen.splitlines()[-1]
            assert "Send" in bottom
            assert "Decline" in bottom
            assert "Cancel" in bottom
            await hands.press("tab")
        await hands.press("ctrl+d")

    outcome, _ = await fill(*(Text(f"f{n}", description="word " * 30) for n in range(10)), person=person, size=size)
    assert isinstance(outcome, Declined)


async def test_a_pasted_text_of_several_lines_stays_whole() -> None:
    async def person(hands: Hands) -> None:
        from textual.events import Paste

        assert hands.app.focused is not None
        hands.app.focused.post_message(Paste("one\ntwo\x1b[31m three"))
        await hands.press("ctrl+s")

    outcome, _ = await fill(Text("f"), person=person)
    assert outcome == Accepted({"f": "one two three"}, "round")


# --- decline and cancel ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "kind", "line"),
    [
        (["ctrl+d"], Declined, "✗ Fjord Travel: Declined.\n"),
        (["escape"], Cancelled, "✗ Fjord Travel: Cancelled: nothing was sent.\n"),
        (["ctrl+c"], Cancelled, "✗ Fjord Travel: Cancelled: nothing was sent.\n"),
        (["shift+tab", "enter"], Cancelled, "✗ Fjord Travel: Cancelled: nothing was sent.\n"),
        (["shift+tab", "shift+tab", "enter"], Declined, "✗ Fjord Travel: Declined.\n"),
        (["ctrl+s"], Accepted, "✓ Fjord Travel: Sent.\n"),
    ],
)
async def test_keys_and_buttons_end_a_form_and_one_line_is_left(keys: list[str], kind: type, line: str) -> None:
    async def person(hands: Hands) -> None:
        await hands.press(*keys)

    outcome, desk = await fill(Text("f", default="x"), person=person)
    assert isinstance(outcome, kind)
    assert desk.left == [line]


@pytest.mark.parametrize(("button", "kind"), [("#send", Accepted), ("#decline", Declined), ("#cancel", Cancelled)])
async def test_the_mouse_does_the_same(button: str, kind: type) -> None:
    async def person(hands: Hands) -> None:
        await hands.pilot.click(button)

    outcome, _ = await fill(Text("f", default="x"), person=person)
    assert isinstance(outcome, kind)


async def test_yes_and_no_can_be_clicked() -> None:
    async def person(hands: Hands) -> None:
        from midcall.client.terminal.widgets.entries import YesNo

        yes, no = hands.app.screen.query(YesNo)
        await hands.pilot.click(yes, offset=(2, 0))
        await hands.pilot.click(no, offset=(11, 0))
        await hands.press("ctrl+s")

    outcome, _ = await fill(Flag("a"), Flag("b"), person=person)
    assert outcome == Accepted({"a": True, "b": False}, "round")


@pytest.mark.parametrize(("key", "kind"), [("ctrl+s", Accepted), ("ctrl+d", Declined), ("escape", Cancelled)])
async def test_a_form_without_fields_is_a_plain_accept_decline_or_cancel(key: str, kind: type) -> None:
    async def person(hands: Hands) -> None:
        assert "nothing to fill in" in hands.screen
        await hands.press("enter", "space")  # nothing is agreed to by a stray key
        await hands.press(key)

    desk = Desk(person)
    [outcome] = await desk.answer(form())
    assert isinstance(outcome, kind)
    if isinstance(outcome, Accepted):
        assert outcome.value == {}


# --- what a hostile server sends -----------------------------------------------------------------

EVIL = "\x1b[2J\x1b]0;owned\x07\r\u202epay\x9b31m[bold red]x[/][@click=app.exit]y[/][link=https://evil.example]z[/link]"


async def test_text_from_a_server_is_text() -> None:
    async def person(hands: Hands) -> None:
        seen = hands.screen
        assert not set(seen) & set("\x1b\x9b\x07\r\u202e")
        assert seen.count("[@click=app.exit]y[/]") >= 5
        assert not any(
            segment.style and (segment.style.link or segment.style.meta.get("@click"))
            for strip in hands.app.screen._compositor.render_strips()
            for segment in strip
        )
        await hands.press("escape")

    asked = form(
        Text("t", title=f"T{EVIL}", description=f"D{EVIL}", default=f"V{EVIL}"),
        Choice("c", {"a": f"A{EVIL}", "b": "B"}, title=f"C{EVIL}"),
        Choices("d", {"a": f"A{EVIL}", "b": "B"}),
        message=f"M{EVIL}\nmore",
        server=f"S{EVIL}",
    )
    desk = Desk(person, size=(160, 50))
    await desk.answer(asked)
    assert not set(desk.left[0]) & set("\x9b\x07\r\u202e")


async def test_a_message_of_five_megabytes_is_cut_with_a_notice() -> None:
    async def person(hands: Hands) -> None:
        assert "more characters are not shown" in str(hands.app.screen.query_one("#message Static").render())
        await hands.press("y", "ctrl+s")

    desk = Desk(person)
    [outcome] = await desk.answer(form(Flag("f"), message="all work and no play\n" * 250_000))
    assert outcome == Accepted({"f": True}, "round")


async def test_five_thousand_options_can_be_found() -> None:
    async def person(hands: Hands) -> None:
        assert "type to search 5,000 options" in hands.screen
        assert "showing the first 100 of 5,000" in hands.screen
        await hands.type("4999")
        assert "1 found" in hands.screen
        await hands.press("enter", "ctrl+s")

    outcome, _ = await fill(Choice("f", {f"v{n}": f"Number {n}" for n in range(5000)}), person=person)
    assert outcome == Accepted({"f": "v4999"}, "round")


async def test_a_thousand_fields_come_in_portions_and_none_is_forgotten() -> None:
    async def person(hands: Hands) -> None:
        assert "Fields 1 to 40 of 1,000" in hands.screen
        await hands.type("x")
        await hands.press("ctrl+s")
        assert hands.at == "f700"
        await hands.type("y")
        await hands.press("ctrl+p", "ctrl+n")
        assert "Fields 681 to 720 of 1,000" in hands.screen
        await hands.press("ctrl+s")

    fields = [Text(f"f{n}", required=n == 700) for n in range(1000)]
    outcome, _ = await fill(*fields, person=person)
    assert outcome == Accepted({"f0": "x", "f700": "y"}, "round")


# --- the draft -----------------------------------------------------------------------------------


@given(forms)
@settings(max_examples=100)
def test_an_untouched_draft_holds_the_defaults_and_nothing_else(form: Form) -> None:
    content = Draft(form).content()
    for field in form.fields:
        if field.default is not None:
            expected = list(field.default) if isinstance(field, Choices) else field.default
            assert content[field.name] == expected
        else:
            assert content.get(field.name, []) == []


@given(forms, st.data())
@settings(max_examples=100)
def test_what_a_draft_says_of_one_field_is_what_the_check_says(form: Form, data: st.DataObject) -> None:
    draft = Draft(form)
    for field in form.fields:
        if isinstance(field, (Text, Number)):
            draft.put(field, data.draw(st.text(max_size=5) | st.integers().map(str)))
    assert draft.problems() == tuple(problem for field in form.fields for problem in draft.problems_of(field))
    assert draft.problems() == check(form, draft.content())
    assert not any(draft.content().get(field.name) == "" for field in form.fields if isinstance(field, Text))
