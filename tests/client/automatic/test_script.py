from __future__ import annotations

import asyncio
import json
import logging
import sys
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.server import MCPServer
from pydantic import BaseModel

import midcall
from midcall import Accepted, Cancelled, Declined, Question, ask, ask_all, choose, confirm, visit
from midcall.client.answerer import Answerer, CannotAnswer
from midcall.client.asked import Asked, FormQuestion, VisitQuestion
from midcall.client.automatic.headless import Headless
from midcall.client.automatic.script import NoAnswer, Script
from midcall.client.automatic.script_file import BadScript
from midcall.client.connection.connect import connect
from midcall.core.forms.fields import Choice, Choices, Field, Flag, Number, Text
from midcall.core.forms.form import Form
from midcall.core.outcome import Outcome
from midcall.testing import ERAS, Era
from tests.budget import cpu_budget
from tests.client.answerers import result_of
from tests.client.raw import Raw, told
from tests.client.raw import form as raw_form
from tests.kinds import server_with

DAYS = Number("days", title="Days", integer=True, maximum=30)
SEAT = Choice("seat", {"w": "Window", "a": "Aisle"}, default="w")


def form(*fields: Field, message: str = "How many days?", key: str = "") -> Asked:
    return Asked(FormQuestion(message, Form(*fields) if fields else None), id="1", server="travel", key=key)


VISIT = Asked(VisitQuestion("Please sign in", "https://example.com/", "v1"), id="2", server="travel")


async def said(answers: Any, asked: Asked, **options: Any) -> Outcome[Any]:
    return await Script(answers, **options).answer(asked)


# --- finding the answer ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "answers",
    [
        {"How many days?": 3},
        {"q1": 3},
        {"days": 3},
        {"How many days?": {"days": 3}},
        {"How many days?": Accepted(3)},
        {"How many days?": Accepted({"days": 3})},
        {"How many days?": {"action": "accept", "content": {"days": 3}}},
        {"How many days?": {"action": "accept", "content": 3}},
        [3],
        lambda asked: 3,
        lambda asked: {"days": 3} if asked.message == "How many days?" else None,
    ],
)
async def test_an_answer_is_found_by_key_message_field_place_or_function(answers: Any) -> None:
    assert await said(answers, form(DAYS, key="q1")) == Accepted({"days": 3})


async def test_the_first_paragraph_of_a_message_is_enough() -> None:
    """What is asked again has the problems below it."""
    asked = form(DAYS, message="How many days?\n\nPlease correct:\n- Days: must be at most 30")
    assert await said({"How many days?": 3}, asked) == Accepted({"days": 3})


async def test_an_async_function_answers_too() -> None:
    async def answer(asked: Asked) -> int:
        await asyncio.sleep(0)
        return 3

    assert await said(answer, form(DAYS)) == Accepted({"days": 3})


async def test_the_fields_of_any_question_are_answered_by_name_with_defaults_for_the_rest() -> None:
    script = Script({"days": 3, "name": "Ada"})
    assert await script.answer(form(DAYS, SEAT, message="one")) == Accepted({"days": 3, "seat": "w"})
    assert await script.answer(form(Text("name"), message="two")) == Accepted({"name": "Ada"})
    assert await script.answer(form(DAYS, Text("other"), message="three")) == Cancelled()
    assert script.missing == [script.asked[2]]


async def test_a_list_is_for_successive_askings_and_ends() -> None:
    script = Script({"How many days?": [5, {"action": "decline"}, 3]})
    outcomes = [await script.answer(form(DAYS)) for _ in range(4)]
    assert outcomes == [Accepted({"days": 5}), Declined(), Accepted({"days": 3}), Cancelled()]
    script = Script({"days": [5, 3]})
    assert [await script.answer(form(DAYS)) for _ in range(2)] == [Accepted({"days": 5}), Accepted({"days": 3})]


async def test_for_a_multiple_choice_a_list_of_texts_is_one_answer() -> None:
    extras = form(Choices("extras", ["bike", "skis"]), message="Extras?")
    for answers in ({"Extras?": ["bike", "skis"]}, {"extras": ["bike", "skis"]}, {"extras": "bike, skis"}):
        script = Script(answers)
        for _ in range(2):
            assert await script.answer(extras) == Accepted({"extras": ["bike", "skis"]})
    script = Script({"extras": [["bike"], []]})
    assert [await script.answer(extras) for _ in range(2)] == [Accepted({"extras": ["bike"]}), Accepted({"extras": []})]


# --- what an answer means --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (Declined(), Declined()),
        (Cancelled(), Cancelled()),
        ({"action": "decline"}, Declined()),
        ({"action": "cancel"}, Cancelled()),
    ],
)
@pytest.mark.parametrize("asked", [form(DAYS), form(), VISIT])
async def test_every_question_can_be_declined_and_cancelled(answer: Any, outcome: Any, asked: Asked) -> None:
    assert await said({asked.message: answer}, asked) == outcome


@pytest.mark.parametrize("answer", [True, "yes", {"action": "accept"}, Accepted(None)])
async def test_a_visit_and_an_empty_form_are_agreed_to(answer: Any) -> None:
    assert await said([answer], VISIT) == Accepted(None)
    assert await said([answer], form()) == Accepted({})
    assert await said([False], VISIT) == Declined()
    assert await said([7], VISIT) == Cancelled()


async def test_a_field_that_is_called_action_is_a_field() -> None:
    asked = form(Choice("action", ["accept", "decline"]))
    assert await said([{"action": "decline"}], asked) == Accepted({"action": "decline"})
    assert await said([{"action": "decline", "content": None}], asked) == Declined()


@pytest.mark.parametrize(
    ("field", "value", "meant"),
    [
        (Text("f"), 7, "7"),
        (Text("f"), 1.5, "1.5"),
        (Text("f", format="date"), date(2026, 7, 28), "2026-07-28"),
        (
            Text("f", format="date-time"),
            datetime.fromisoformat("2026-07-28T09:30:00+00:00"),
            "2026-07-28T09:30:00+00:00",
        ),
        (Number("f"), "2.5", 2.5),
        (Number("f", integer=True), "3", 3),
        (Flag("f"), "no", False),
        (Flag("f"), "Y", True),
        (Choice("f", ["yes", "no", "maybe"]), False, "no"),
        (Choice("f", ["On", "Off"]), True, "On"),
        (Choice("f", ["1", "2"]), 2, "2"),
        (Choice("f", {"w": "Window", "a": "Aisle"}), "aisle", "a"),
        (Choices("f", ["1", "no"]), [1, False], ["1", "no"]),
        (Choices("f", ["a", "b"]), ("b",), ["b"]),
    ],
)
async def test_a_value_is_taken_for_what_the_field_makes_of_it(field: Field, value: Any, meant: Any) -> None:
    assert await said([{"f": value}], form(field)) == Accepted({"f": meant})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (Text("f"), False),
        (Number("f"), True),
        (Number("f"), "2,5"),
        (Choice("f", ["yes", "true"]), True),
        (Choice("f", {"a": "B", "b": "A", "c": "a"}), "A"),
        (Choice("f", ["x", "y"]), "2"),
        (Flag("f"), "maybe"),
        (DAYS, {"nested": 1}),
    ],
)
async def test_what_could_mean_two_things_is_not_guessed(field: Field, value: Any) -> None:
    script = Script([{field.name: value}])
    assert await script.answer(form(field)) == Cancelled()
    assert len(script.missing) == 1


async def test_nothing_leaves_an_optional_field_empty() -> None:
    asked = form(DAYS, Text("wish", required=False))
    assert await said([{"days": 3, "wish": None}], asked) == Accepted({"days": 3})


NAMES = st.sampled_from(["days", "seat", "action", "content", "x"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner)
)


@given(ANYTHING)
def test_no_answer_makes_a_script_fail(answer: Any) -> None:
    for asked in (form(DAYS), form(DAYS, SEAT), form(Choices("c", ["a"])), form(), VISIT):
        outcome = asyncio.run(Script({asked.message: answer, "days": answer}).answer(asked))
        assert isinstance(outcome, (Accepted, Declined, Cancelled))


# --- no answer -------------------------------------------------------------------------------


async def test_a_question_without_an_answer_is_reported_exactly(caplog: pytest.LogCaptureFixture) -> None:
    script = Script({"How many day?": 3, "dayz": 4, "unrelated": 1})
    with caplog.at_level(logging.WARNING, "midcall.client"):
        assert await script.answer(form(DAYS, SEAT)) == Cancelled()
    [record] = caplog.records
    assert record.getMessage() == (
        'no answer for the question "How many days?" of travel (fields: days, seat). '
        "Did you mean 'How many day?' or 'dayz'?"
    )
    assert script.missing == script.asked
    assert script.unused == ["How many day?", "dayz", "unrelated"]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"days": 31}, "days: must be at most 30"),
        ({"dayz": 3}, "it names dayz, and the fields are days, seat"),
        (3, "this question has 2 fields, so its answer must name them: days, seat"),
        ({"action": "refuse"}, "an action is one of accept, decline, cancel"),
        ({"seat": "w"}, "days: is required"),
    ],
)
async def test_an_invalid_answer_is_reported_like_a_missing_one(
    answer: Any, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    script = Script({"How many days?": answer})
    assert await script.answer(form(DAYS, SEAT)) == Cancelled()
    [record] = caplog.records
    told = 'the answer to the question "How many days?" of travel (fields: days, seat) does not fit: '
    assert record.getMessage().startswith(f"{told}{why}")
    assert "no answer" not in caplog.text
    assert len(script.missing) == 1


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("answers", "told"),
    [
        ({}, "the user has probably not seen it"),
        ({"How many days?": "lots"}, "the user has probably not seen it"),
        ({"How many days?": Cancelled()}, "The user dismissed the question"),
    ],
)
async def test_a_question_without_an_answer_is_not_reported_as_dismissed_by_the_user(
    answers: Any, told: str, era: Era
) -> None:
    async def book() -> int:
        return await ask("How many days?", int)

    assert told in await result_of(server_with(book), Script(answers), "book", era)


async def test_the_log_never_holds_the_answer(caplog: pytest.LogCaptureFixture) -> None:
    for field in (DAYS, SEAT, Flag("f"), Choices("c", ["a"]), Text("t", format="email"), Text("p", pattern="^[0-9]$")):
        await said([{field.name: "hunter2"}], form(field))
    assert len(caplog.records) == 6
    assert "hunter2" not in caplog.text


async def test_a_strict_script_ends_the_call_with_an_error() -> None:
    with pytest.raises(NoAnswer, match='no answer for the question "How many days') as error:
        await said({}, form(DAYS), strict=True)
    assert isinstance(error.value, CannotAnswer)
    assert error.value.asked.message == "How many days?"


@pytest.mark.parametrize(
    "answers",
    [{"prod_database_region": "x"}, {"Where is prod_database_reg?": {"days": 3}}, {}],
    ids=["a name that is similar", "an answer that does not fit", "nothing"],
)
async def test_a_server_learns_nothing_about_a_script(answers: Any) -> None:
    errors: list[Any] = []

    async def handle(raw: Raw, call: dict[str, Any]) -> dict[str, Any]:
        errors.append((await raw.ask(**raw_form("Where is prod_database_reg?")))["error"])
        return told()

    async with connect(Raw(handle).transport(), Script(answers, strict=True)) as client:
        await client.call_tool("it", {})
    assert errors == [{"code": -32603, "message": "This client has no answer to this question."}]


@pytest.mark.parametrize("era", ERAS)
async def test_of_a_strict_script_too_the_log_names_the_question_and_what_may_have_been_meant(
    era: Era, caplog: pytest.LogCaptureFixture
) -> None:
    async def tool() -> str:
        return await ask("Summary?", str)

    async with connect(server_with(tool, name="desk"), Script({"Summry?": "a"}, strict=True), era=era) as client:
        assert (await client.call_tool("tool", {})).is_error
    told = [record.getMessage() for record in caplog.records if record.name == "midcall.client"]
    assert told == ["no answer for the question \"Summary?\" of desk (fields: answer). Did you mean 'Summry?'?"]


async def test_fields_that_are_not_listed_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    many = [Text(f"f{number}") for number in range(1, 22)]
    await said([3], form(*many[:11]))
    assert "so its answer must name them: f1, f2, f3, f4, f5, f6, f7, f8, f9, f10 and 1 more." in caplog.text
    await said([{"x": 1}], form(*many[:12]))
    assert "f9, f10 and 2 more." in caplog.text
    await said([], form(*many))
    assert "f19, f20 and 1 more)" in caplog.text


@pytest.mark.parametrize(
    ("default", "outcome"),
    [
        (Declined(), Declined()),
        (Accepted({"days": 1}), Accepted({"days": 1})),
        (Headless("decline"), Declined()),
        (Accepted({"days": 99}), Cancelled()),
    ],
)
async def test_what_the_script_has_not_can_be_left_to_another(default: Any, outcome: Any) -> None:
    script = Script({}, default=default)
    assert await script.answer(form(DAYS)) == outcome
    assert len(script.missing) == (outcome == Cancelled())


async def test_a_hostile_question_cannot_fill_the_log(caplog: pytest.LogCaptureFixture) -> None:
    evil = "\x1b[2J\n" + "x" * 1_000_000
    await said({"x" * 300: 1}, form(*(Text(f"{n}{evil}") for n in range(30)), message=evil))
    assert len(caplog.text) < 10_000
    assert "\x1b" not in caplog.text


async def test_very_long_names_of_a_form_are_compared_with_those_of_the_script_in_little_time() -> None:
    question = form(*(Text(f"{n}{'x' * 3_000_000}") for n in range(20)))
    with cpu_budget(0.5):
        await said({"x" * 300: 1}, question)


def test_a_script_is_an_answerer_and_a_path_is_not_a_script() -> None:
    assert isinstance(Script({}), Answerer)
    with pytest.raises(TypeError, match="from_file"):
        Script("answers.yaml")


# --- files -----------------------------------------------------------------------------------


def written(tmp_path: Path, text: str, name: str = "answers.yaml") -> Path:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return path


YAML = """\
# what to answer
How many days?: 3
"Going on?": {action: decline}
name: 007
on: 2026-07-28
news: no
size: No
extras: [bike, skis]
"Again: really?":
  - yes
  - {action: cancel}
"""


async def test_a_yaml_file_means_what_it_says(tmp_path: Path) -> None:
    script = Script.from_file(written(tmp_path, YAML))
    cases: list[tuple[Asked, Any]] = [
        (form(DAYS), Accepted({"days": 3})),
        (form(message="Going on?"), Declined()),
        (form(Text("name")), Accepted({"name": "007"})),
        (form(Text("on", format="date")), Accepted({"on": "2026-07-28"})),
        (form(Flag("news")), Accepted({"news": False})),
        (form(Choice("size", ["Yes", "No"])), Accepted({"size": "No"})),
        (form(Text("size")), Accepted({"size": "No"})),
        (form(Choices("extras", ["bike", "skis"])), Accepted({"extras": ["bike", "skis"]})),
        (form(Flag("sure"), message="Again: really?"), Accepted({"sure": True})),
        (form(Flag("sure"), message="Again: really?"), Cancelled()),
    ]
    asked = form(DAYS)
    for asked, outcome in cases:
        message = asked.message if asked.message != "How many days?" or asked.form == Form(DAYS) else "Another"
        assert await script.answer(Asked(FormQuestion(message, asked.form), id="1")) == outcome
    assert script.missing == []


async def test_a_json_file_and_a_list_of_answers_are_read_too(tmp_path: Path) -> None:
    script = Script.from_file(written(tmp_path, json.dumps([3, {"action": "decline"}]), "answers.json"))
    assert [await script.answer(form(DAYS)) for _ in range(2)] == [Accepted({"days": 3}), Declined()]
    script = Script.from_file(written(tmp_path, "- 3\n- {action: decline}\n"))
    assert [await script.answer(form(DAYS)) for _ in range(2)] == [Accepted({"days": 3}), Declined()]
    assert await Script.from_file(written(tmp_path, "")).answer(form(DAYS)) == Cancelled()


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.yaml", "a: [1, 2\nb: 3\n", "a.yaml, line 2: "),
        ("a.yaml", "a: 1\nb: 2\na: 3\n", "a.yaml, line 3: 'a' appears twice"),
        ("a.yaml", "just words\n", "a.yaml, line 1: expected questions (or names of fields) and their answers"),
        ("a.yaml", "a: 1\nb: !!python/object/apply:os.system [id]\n", "a.yaml, line 2: expected plain text"),
        ("a.yaml", "a: 1\nb: {action: refuse}\n", "a.yaml, line 2: an action is one of accept, decline, cancel"),
        ("a.yaml", "? [a, b]\n: 1\n", "a.yaml, line 1: expected a question"),
        ("a.yaml", "a: &x [*x]\n", "a.yaml: this is nested too deeply"),
        ("a.yaml", "a: \x07\n", "a.yaml: this is not YAML"),
        ("a.json", '{"a": 1,\n "b": }', "a.json, line 2: "),
        ("a.json", '{"a": 1, "a": 2}', "a.json: 'a' appears twice"),
        ("a.json", '{"a": {"action": "refuse"}}', "a.json: an action is one of"),
        ("a.json", "3", "a.json, line 1: expected questions"),
        ("a.json", "[" * 100_000, "a.json: this is nested too deeply"),
        ("a.txt", "a: 1", "a.txt: a file of answers must end in .yaml, .yml or .json"),
    ],
)
def test_a_file_that_cannot_be_read_says_where_and_what_is_expected(
    tmp_path: Path, name: str, text: str, told: str
) -> None:
    path = written(tmp_path, text, name)
    with pytest.raises(BadScript) as error:
        Script.from_file(path)
    assert str(error.value).startswith(str(path.parent / told.partition(":")[0].partition(",")[0]))
    assert told in str(error.value)


def test_a_file_that_is_missing_or_not_text_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BadScript, match=r"none\.yaml: the file cannot be read \(No such file"):
        Script.from_file(tmp_path / "none.yaml")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadScript, match="not UTF-8 text"):
        Script.from_file(str(tmp_path / "binary.yaml"))


def test_a_file_with_many_aliases_is_read_at_once(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60))]
    assert len(Script.from_file(written(tmp_path, "\n".join(lines))).unused) == 60


def test_without_yaml_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(BadScript, match=r'pip install "midcall\[cli\]"'):
        Script.from_file(written(tmp_path, "a: 1"))
    assert Script.from_file(written(tmp_path, '{"a": 1}', "a.json")).unused == ["a"]


# --- with a real server ----------------------------------------------------------------------


class Guest(BaseModel):
    name: str
    vip: bool = False


def hotel() -> MCPServer:
    mcp = MCPServer("hotel", title="Grand Hotel")
    midcall.install(mcp)

    @mcp.tool()
    async def check_in() -> str:
        guest, nights = await ask_all(Question("Who stays?", Guest), Question("How many nights?", int))
        extras = await choose("Extras?", {"b": "Bike", "s": "Skis"}, many=True)
        sure = await confirm("Sure?")
        return f"{guest.name}, {guest.vip}, {nights}, {sorted(extras)}, {sure}"

    @mcp.tool()
    async def pay() -> str:
        await visit("Pay here", "https://pay.example.com/1")
        return "paid"

    return mcp


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("extras", ["Bike, Skis", ["b", "Skis"], {"choice": ["b", "s"]}])
async def test_one_script_answers_on_every_version(era: str, extras: Any) -> None:
    script = Script({"name": "Ada", "How many nights?": 3, "Extras?": extras, "Sure?": True})
    assert await result_of(hotel(), script, "check_in", era) == "Ada, False, 3, ['b', 's'], True"
    assert script.missing == []


@pytest.mark.parametrize("era", ERAS)
async def test_a_list_in_a_list_is_one_multiple_choice_on_every_version(era: str) -> None:
    script = Script({"name": "Ada", "How many nights?": [3, 4], "Extras?": [["Bike", "s"], ["b"]], "Sure?": True})
    assert await result_of(hotel(), script, "check_in", era) == "Ada, False, 3, ['b', 's'], True"


@pytest.mark.parametrize("era", ERAS)
async def test_one_question_without_an_answer_takes_no_other_along(era: str) -> None:
    script = Script({"name": "Ada", "Extras?": "Bike", "Sure?": True})
    assert "Nobody decided anything" in await result_of(hotel(), script, "check_in", era)
    assert [asked.message for asked in script.missing] == ["How many nights?"]


@pytest.mark.parametrize("era", ERAS[1:])
async def test_a_script_agrees_to_a_visit(era: str) -> None:
    assert await result_of(hotel(), Script({"Pay here": True}), "pay", era) == "paid"
