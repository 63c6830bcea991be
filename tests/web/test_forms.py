from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from hypothesis import given
from hypothesis import strategies as st

from midcall.core.forms.check import check
from midcall.core.forms.fields import Choice, Choices, Field, Flag, Number, Text
from midcall.core.forms.form import Form
from midcall.language import DOMAIN, use
from midcall.language.problems import Problem
from midcall.web.forms import Pages, draw, inputs, read, stylesheet, too_large
from tests.core.strategies import content_for, fitting_content, forms
from tests.web.submitting import Page

TRIP = Form(
    Text("name", title="Name", description="As in the passport", min_length=2, max_length=40),
    Text("mail", title="Mail", format="email"),
    Text("page", title="Page", format="uri", required=False),
    Text("on", title="Day", format="date"),
    Text("at", title="Moment", format="date-time"),
    Number("days", title="Days", integer=True, minimum=1, maximum=30),
    Number("shift", title="Shift"),
    Flag("news", title="News"),
    Choice("seat", {"w": "Window", "a": "Aisle"}, title="Seat"),
    Choices("extras", ["bike", "guide", "skis"], title="Extras", max_items=2),
    Text("wishes", title="Wishes", max_length=500, required=False),
)


def drawn(form: Form, values: dict[str, Any] | None = None, problems: tuple[Problem, ...] = (), **how: Any) -> Page:
    return Page(draw(form, values, problems, **how))


def one(field: Field, value: Any = None, **how: Any) -> Page:
    return drawn(Form(field), None if value is None else {field.name: value}, **how)


# --- the controls ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "wanted"),
    [
        (Text("a"), {"type": "text"}),
        (Text("a", format="email"), {"type": "email", "spellcheck": "false", "autocapitalize": "none"}),
        (Text("a", format="uri"), {"type": "url"}),
        (Text("a", format="date"), {"type": "date"}),
        (Text("a", format="date-time"), {"type": "datetime-local", "step": "1"}),
        (Number("a", integer=True, minimum=0), {"type": "text", "inputmode": "numeric"}),
        (Number("a", minimum=0), {"type": "text", "inputmode": "decimal"}),
        (Number("a", minimum=-5), {"type": "text"}),
    ],
)
def test_each_format_of_text_has_its_control(field: Field, wanted: dict[str, str]) -> None:
    control = one(field).the("input", id="f0")
    assert wanted.items() <= control.items()
    assert control["autocomplete"] == "off"
    assert "required" in control
    assert ("inputmode" in control) == ("inputmode" in wanted)


def test_a_long_text_gets_more_than_a_line() -> None:
    assert one(Text("a", max_length=500)).the("textarea", name="f0")
    assert one(Text("a", default="two\nlines")).the("textarea", name="f0")


def test_a_flag_is_a_visible_choice_between_yes_and_no() -> None:
    page = one(Flag("a"))
    assert [given["value"] for tag, given in page.tags if tag == "input"] == ["yes", "no"]
    assert page.controls == []
    assert one(Flag("a", default=False)).controls == [("f0", "no")]


def test_an_optional_choice_can_be_cleared() -> None:
    for field in (Flag("a", required=False), Choice("a", ["x", "y"], required=False)):
        page = one(field)
        assert page.controls == [("f0", "")]
        assert "No answer" in page.text


def test_few_options_are_radio_buttons_and_many_are_a_list() -> None:
    few, many = [str(n) for n in range(7)], [str(n) for n in range(8)]
    assert one(Choice("a", few)).the("input", id="f0-6", type="radio")
    page = one(Choice("a", many))
    assert page.the("select", id="f0")
    assert page.controls == [("f0", "")]
    assert one(Choices("a", many)).the("div")["class"] == "options"
    assert one(Choices("a", [str(n) for n in range(13)])).the("div")["class"] == "options many"


def test_labels_are_titles_and_descriptions_and_hints_belong_to_their_field() -> None:
    page = one(TRIP.field("name"))
    assert page.the("label", **{"for": "f0"})
    assert page.the("input", id="f0")["aria-describedby"] == "f0-about f0-hint"
    assert {"f0-about", "f0-hint"} <= set(page.ids)
    assert "As in the passport" in page.text
    assert "2 to 40 characters" in page.text


def test_required_and_optional_fields_are_marked() -> None:
    assert "*" in one(Text("a")).texts
    assert "optional" in one(Text("a", required=False)).texts
    assert one(Choice("a", ["x"])).the("fieldset")["aria-required"] == "true"


def test_defaults_are_filled_in() -> None:
    form = Form(
        Text("text", default="x"),
        Number("number", default=1.5),
        Flag("flag", default=True),
        Choice("choice", ["a", "b"], default="b"),
        Choices("choices", ["a", "b"], default=["b"]),
        Text("moment", format="date-time", default="2026-07-28T09:30:00+05:41"),
    )
    assert read(form, drawn(form).controls) == {
        "text": "x",
        "number": 1.5,
        "flag": True,
        "choice": "b",
        "choices": ["b"],
        "moment": "2026-07-28T09:30:00+05:41",
    }


def test_a_moment_offers_the_users_offset_first() -> None:
    page = one(Text("at", format="date-time"), zone="+05:30")
    assert page.controls == [("f0", ""), ("f0-zone", "+05:30")]


@pytest.mark.parametrize("moment", ["2016-12-31T23:59:60Z", "2026-07-28T09:30:00.123456Z"])
def test_a_moment_that_the_browsers_control_cannot_show_is_text(moment: str) -> None:
    page = one(Text("at", format="date-time"), moment)
    assert page.the("input", id="f0")["type"] == "text"
    assert read(Form(Text("at", format="date-time")), page.controls) == {"at": moment}


def test_words_of_the_controls_can_be_in_another_language(tmp_path: Path) -> None:
    catalog = Catalog(locale="de")
    for english, german in {"Yes": "Ja", "No": "Nein", "optional": "freiwillig"}.items():
        catalog.add(english, german)
    folder = tmp_path / "de" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    with (folder / f"{DOMAIN}.mo").open("wb") as file:
        write_mo(file, catalog)
    with use(["de"], tmp_path):
        page = one(Flag("a", required=False))
    assert {"Ja", "Nein", "freiwillig"} <= set(page.texts)


def test_two_forms_on_one_page_do_not_share_ids() -> None:
    assert not set(drawn(TRIP).ids) & set(drawn(TRIP, prefix="g").ids)


# --- problems --------------------------------------------------------------------------------


def test_problems_appear_at_their_fields_and_in_a_summary_that_links_to_them() -> None:
    content = {"name": "A", "mail": "x", "days": "forty", "extras": ["bike"], "on": "2026-02-30"}
    problems = check(TRIP, content)
    page = drawn(TRIP, content, problems)
    links = {given["href"] for tag, given in page.tags if tag == "a"}
    assert links == {"#f0", "#f1", "#f3", "#f4", "#f5", "#f6", "#f7-0", "#f8-0"}
    assert {link[1:] for link in links} <= set(page.ids)
    assert page.the("div", role="alert")["tabindex"] == "-1"
    name = page.the("input", id="f0")
    assert name["aria-invalid"] == "true"
    assert name["aria-describedby"].split()[-1] == "f0-problems"
    assert page.text.count("Name must have at least 2 characters.") == 2
    assert "aria-invalid" not in page.the("input", id="f2")


def test_the_problems_on_the_page_are_those_of_check_word_for_word() -> None:
    content: dict[str, Any] = {"name": "A", "days": 31, "extras": ["bike", "guide", "skis"]}
    problems = check(TRIP, content)
    said = [sentence for each in inputs(TRIP, content, problems) for sentence in each.problems]
    assert said == [f"{TRIP.field(each.field).label} {each.message}." for each in problems]


def test_input_stays_for_correction() -> None:
    content = {"name": "A", "mail": "a b", "days": "2,5", "on": "tomorrow", "at": "noon"}
    page = drawn(TRIP, content, check(TRIP, content))
    assert {("f0", "A"), ("f1", "a b"), ("f5", "2,5"), ("f3", "tomorrow"), ("f4", "noon")} <= set(page.controls)


def test_a_label_that_is_a_question_does_not_run_into_its_problem() -> None:
    form = Form(Flag("a", title="Really?"))
    assert "Really? This is required." in drawn(form, {}, check(form, {})).text


# --- there and back --------------------------------------------------------------------------

readable = st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=20)


@given(forms.flatmap(lambda form: st.tuples(st.just(form), fitting_content(form))))
def test_a_form_posted_unchanged_keeps_its_values(both: tuple[Form, dict[str, Any] | None]) -> None:
    form, content = both
    if content is None or not carried_by_html(content):
        return
    back = read(form, drawn(form, content).controls)
    for field in form:
        assert same(field, back.get(field.name), content.get(field.name))


def carried_by_html(content: dict[str, Any]) -> bool:
    """HTML has no null character, and turns line ends into one kind."""
    texts = [value for value in content.values() if isinstance(value, str)]
    return not any(char in text for text in texts for char in "\0\r")


def same(field: Field, back: Any, value: Any) -> bool:
    """Normalize: omit empty values, sort sets, and accept both forms of a date-time."""
    match field:
        case Choices():
            return set(back or ()) == set(value or ())
        case Text(format="date-time"):
            return (back or "").upper().replace("+00:00", "Z") == (value or "").upper().replace("+00:00", "Z")
        case Text(format=format) if format is not None:
            return (back or "") == (value or "").strip()
        case Text():
            return (back or "") == (value or "")
        case _:
            return back == value


@given(forms.flatmap(lambda form: st.tuples(st.just(form), content_for(form))))
def test_any_content_can_be_drawn_with_its_problems(both: tuple[Form, dict[str, Any]]) -> None:
    form, content = both
    page = drawn(form, content, check(form, content))
    assert len(page.ids) == len(set(page.ids))


@given(readable, readable, readable)
def test_text_from_the_server_is_never_markup(title: str, about: str, option: str) -> None:
    form = Form(
        Text("<script>", title=title, description=about, default=about),
        Choice("c", {"<b>": option}, title=f"<img src=x onerror={title}>"),
    )
    tags = {tag for tag, _ in drawn(form).tags}
    assert tags <= {"div", "label", "span", "p", "input", "fieldset", "legend", "textarea"}


def test_control_characters_and_direction_marks_do_nothing() -> None:
    said = "pay\x1b[31m \u202eevil\u202c\x07 now"
    form = Form(
        Text("a", title=said, description=said, default=said), Choice("b", {"\0": said}), Choices("c", {"\r\n": said})
    )
    html = draw(form)
    assert not any(char in html for char in "\x1b\u202e\u202c\x07\0")
    assert read(form, [*Page(html).controls, ("f1", "0"), ("f2", "0")]) == {
        "a": "pay evil␇ now",
        "b": "\0",
        "c": ["\r\n"],
    }


def test_nothing_becomes_a_link() -> None:
    page = one(Text("a", title="https://evil.example", description="see http://evil.example/x"))
    assert "a" not in {tag for tag, _ in page.tags}


# --- what is posted --------------------------------------------------------------------------


def test_empty_fields_are_omitted() -> None:
    assert read(TRIP, []) == {"extras": []}
    blank = [(f"f{index}", "") for index in range(9)] + [("f4-zone", "+02:00")]
    assert read(TRIP, blank) == {"extras": []}
    optional = Form(Choices("a", ["x"], required=False), Text("b", required=False), Flag("c", required=False))
    assert read(optional, []) == {}


def test_removed_ticks_are_not_restored_by_the_default() -> None:
    assert read(Form(Choices("a", ["x"], default=["x"])), []) == {"a": []}


@pytest.mark.parametrize(
    ("typed", "value"),
    [("4", 4), (" 2.50 ", 2.5), ("-3", -3), ("1e2", 100), ("2,5", "2,5"), ("1 000", "1 000"), ("0x10", "0x10")],
)
def test_numbers_are_read_the_same_in_every_country(typed: str, value: Any) -> None:
    assert read(Form(Number("n")), [("f0", typed)]) == {"n": value}


@pytest.mark.parametrize(
    ("local", "moment"),
    [
        ("2026-07-28T09:30", "2026-07-28T09:30:00+02:00"),
        ("2026-07-28T09:30:15", "2026-07-28T09:30:15+02:00"),
        ("2026-07-28T09:30:15.5", "2026-07-28T09:30:15.5+02:00"),
        ("noon", "noon"),
    ],
)
def test_a_local_time_and_an_offset_make_a_moment(local: str, moment: str) -> None:
    assert read(Form(Text("at", format="date-time")), [("f0", local), ("f0-zone", "+02:00")]) == {"at": moment}


@given(st.lists(st.tuples(st.from_regex(r"\Af[0-9]{1,2}(-zone)?\Z") | st.text(), st.text())), forms)
def test_any_posted_data_can_be_read_and_validated(posted: list[tuple[str, str]], form: Form) -> None:
    content = read(form, posted)
    assert set(content) <= set(form.names)
    drawn(form, content, check(form, content))


def test_an_unknown_option_is_a_problem_and_not_an_error() -> None:
    form = Form(Choice("a", ["x"]), Choices("b", ["x"]))
    content = read(form, [("f0", "7"), ("f1", "x"), ("f1", "9" * 5000)])
    assert [problem.code for problem in check(form, content)] == ["option", "option"]


# --- templates and size ----------------------------------------------------------------------


def test_an_authors_templates_come_first(tmp_path: Path) -> None:
    (tmp_path / "field.html").write_text("<p>{{ input.label }}</p>")
    assert Pages(overrides=tmp_path).form(Form(Text("a", title="<A>"))).strip() == "<p>&lt;A&gt;</p>"


def test_one_stylesheet_knows_light_and_dark_and_loads_nothing() -> None:
    style = stylesheet()
    for wanted in ("prefers-color-scheme: dark", "prefers-reduced-motion", ":focus-visible", "max-width: 40rem"):
        assert wanted in style
    assert "url(" not in style
    assert "@import" not in style


def test_huge_forms_are_drawn_quickly_with_a_note_about_cuts() -> None:
    begun = time.process_time()
    page = drawn(Form(*(Text(f"t{n}", title="x" * 5_000) for n in range(1_000))))
    assert len(page.controls) == 1_000
    assert len(page.text) < 500_000
    page = one(Choices("a", [str(n) for n in range(5_001)]))
    assert "1 more option is not shown." in page.text
    page = one(Text("a", description="\x1b]" * 2_500_000))
    assert "4,998,000 more characters are not shown" in page.text
    assert time.process_time() - begun < 10


def test_a_form_that_is_too_large_is_detected() -> None:
    assert not too_large(Form(*(Text(f"t{n}") for n in range(1_000))))
    assert too_large(Form(*(Text(f"t{n}") for n in range(2_001))))
    assert too_large(Form(*(Choice(f"t{n}", [str(n) for n in range(5_000)]) for n in range(11))))
