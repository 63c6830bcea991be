from __future__ import annotations

import asyncio
import os
import queue
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

import pytest
from mcp.server import MCPServer
from mcp_types import TextContent
from pydantic import BaseModel, Field
from rich.cells import cell_len

import midcall
from midcall import Accepted, Cancelled, Declined, Question, UrlElicitationRequired, ask, ask_all, choose, visit
from midcall.client.answerer import Answerer, Waiting, Waits
from midcall.client.asked import Asked, FormQuestion, VisitQuestion
from midcall.client.connection.connect import connect
from midcall.client.lines.keyboard import Keyboard
from midcall.client.lines.lines import Lines
from midcall.client.lines.screen import Ink
from midcall.core.forms import fields
from midcall.core.forms.form import Form
from midcall.core.outcome import Outcome
from midcall.core.question import Visit
from midcall.testing import ERAS
from tests.client.answerers import result_of

TRIP = Form(
    fields.Text("name", title="Name", description="As in the passport", min_length=2, max_length=40),
    fields.Text("mail", title="Mail", format="email"),
    fields.Number("days", title="Days", integer=True, minimum=1, maximum=30),
    fields.Flag("news", title="News", default=False),
    fields.Choice("seat", {"w": "Window", "a": "Aisle"}, title="Seat", default="w"),
    fields.Choices("extras", ["bike", "guide", "skis"], title="Extras", max_items=2),
    fields.Text("wishes", title="Wishes", required=False),
)
TYPED = ["Ada", "ada@example.com", "4", "", "", "1, skis", ""]
ANSWERED = {
    "name": "Ada",
    "mail": "ada@example.com",
    "days": 4,
    "news": False,
    "seat": "w",
    "extras": ["bike", "skis"],
}


class Session:
    """A person at a terminal: types these lines, and then there are no more."""

    def __init__(self, lines: Iterable[str | Callable[[], str]], **options: Any) -> None:
        self._lines = iter(lines)
        self._shown: list[str] = []
        self.opened: list[str] = []
        self.keyboard = Keyboard(self._read)
        self.keyboard.quickest = 0
        settings: dict[str, Any] = {
            "keyboard": self.keyboard,
            "write": self._shown.append,
            "ink": Ink(False),
            "open_url": lambda url: not self.opened.append(url),
            "width": 80,
        }
        self.lines = Lines(**settings | options)
        self.answer = self.lines.answer

    def _read(self) -> str:
        line = next(self._lines, None)
        if line is None:
            raise EOFError
        line = line if isinstance(line, str) else line()
        self._shown.append(f"{line}\n")
        return line

    @property
    def screen(self) -> str:
        return "".join(self._shown)


def form_asked(form: Form | None, message: str = "Tell me", **about: Any) -> Asked:
    return Asked(FormQuestion(message, form), id=about.pop("id", "1"), **about)


async def fill(form: Form, *lines: str) -> tuple[Outcome[Any], str]:
    session = Session(lines)
    return await session.answer(form_asked(form)), session.screen


async def shown(session: Session, text: str, times: int = 1) -> None:
    """Wait until this is on the screen."""
    async with asyncio.timeout(20):
        while session.screen.count(text) < times:
            await asyncio.sleep(0)


class Typist:
    """Returns the lines that the test types."""

    def __init__(self) -> None:
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.type = self._lines.put

    def __call__(self) -> str:
        return self._lines.get(timeout=20)


def at_keyboard() -> tuple[Session, Typist]:
    typist = Typist()
    return Session(iter(lambda: typist, None)), typist


# --- a form ----------------------------------------------------------------------------------


async def test_every_kind_of_field_is_asked_for_and_sent() -> None:
    result, _ = await fill(TRIP, *TYPED, "")
    assert result == Accepted(ANSWERED)


async def test_the_user_sees_what_each_field_wants() -> None:
    _, screen = await fill(TRIP, *TYPED, "")
    for line in (
        "1/7 Name · 2 to 40 characters",
        "│ As in the passport",
        "2/7 Mail · an email address",
        "3/7 Days · a whole number from 1 to 30",
        "4/7 News · yes or no",
        "[no] >",
        "1  Window",
        "[Window] >",
        "6/7 Extras · choose at most 2, separated by commas, or none",
        "7/7 Wishes · optional",
    ):
        assert f"  {line}" in screen


@pytest.mark.parametrize(
    ("field", "wrong", "problem", "right", "value"),
    [
        (fields.Text("name", title="Name", min_length=2), "A", "Name must have at least 2 characters", "Al", "Al"),
        (fields.Text("name", title="Name"), "", "Name is required", "A", "A"),
        (fields.Text("mail", title="Mail", format="email"), "a", "Mail must be an email address", "a@b.co", "a@b.co"),
        (fields.Text("on", title="Day", format="date"), "2026-02-30", "Day must be a date", "2026-02-28", "2026-02-28"),
        (fields.Number("n", title="Days", integer=True), "2.5", "Days must be a whole number", "2", 2),
        (fields.Number("n", title="Days", maximum=9), "10", "Days must be at most 9", "9", 9),
        (fields.Number("n", title="Price"), "2,5", "Price must be a number", "2.5", 2.5),
        (fields.Flag("f", title="News"), "maybe", "Please answer yes or no", "No", False),
        (fields.Choice("c", ["a", "b"], title="Seat"), "c", "Seat must be one of: a, b", "b", "b"),
        (fields.Choices("c", ["a", "b"], title="Seats"), "a,c", "Seats must contain only these: a, b", "a", ["a"]),
        (fields.Choices("c", ["a", "b"], title="Seats", min_items=1), "", "Seats needs at least 1 choice", "2", ["b"]),
        (fields.Flag("f", title="Really?"), "", "This field is required", "y", True),
        (fields.Text("name", title="Name"), "Al\x1b[D", "Arrow keys and control characters", "Ada", "Ada"),
    ],
)
async def test_an_invalid_line_is_reported_at_once_and_asked_again(
    field: fields.Field, wrong: str, problem: str, right: str, value: Any
) -> None:
    result, screen = await fill(Form(field), wrong, right, "")
    assert f"✗ {problem}" in screen
    assert result == Accepted({field.name: value})


async def test_spaces_around_a_text_are_sent_and_those_around_anything_else_are_not() -> None:
    form = Form(*(fields.Text(name) for name in "ab"), fields.Text("mail", format="email"), fields.Number("days"))
    person = Session(["  two ", "   ", "b", " ada@example.com ", " 4 ", ""])
    assert await person.answer(form_asked(form)) == Accepted(
        {"a": "  two ", "b": "b", "mail": "ada@example.com", "days": 4}
    )


async def test_an_empty_line_takes_the_default() -> None:
    form = Form(
        fields.Text("text", default="x"),
        fields.Number("number", default=1.5),
        fields.Choices("many", ["a", "b"], default=["b"]),
    )
    result, screen = await fill(form, "", "", "", "")
    assert result == Accepted({"text": "x", "number": 1.5, "many": ["b"]})
    assert "Enter takes the value in [brackets]" in screen


async def test_an_optional_field_that_is_left_empty_is_omitted() -> None:
    form = Form(fields.Text("text", required=False), fields.Flag("flag", required=False))
    result, screen = await fill(form, "", "", "")
    assert result == Accepted({})
    assert "1  text  (left empty)" in screen


async def test_none_of_several_options_is_an_answer() -> None:
    result, screen = await fill(Form(fields.Choices("extras", ["a", "b"])), "", "")
    assert result == Accepted({"extras": []})
    assert "Send (none)?" in screen


async def test_a_form_without_fields_accepts_yes_or_no() -> None:
    asked = form_asked(None, "Go on?")
    assert await Session(["what", "Yes"]).answer(asked) == Accepted({})
    assert await Session(["no"]).answer(asked) == Declined()
    assert await Session([":cancel"]).answer(asked) == Cancelled()


# --- the review ------------------------------------------------------------------------------


async def test_all_values_are_shown_before_they_are_sent() -> None:
    _, screen = await fill(TRIP, *TYPED, "send")
    review = screen[screen.index("Your answers") :]
    for line in ("1  Name    Ada", "3  Days    4", "4  News    no", "5  Seat    Window", "6  Extras  bike, skis"):
        assert line in review


@pytest.mark.parametrize("order", ["change 3", "c 3", "3", "CHANGE 3"])
async def test_a_value_can_be_changed_before_it_is_sent(order: str) -> None:
    result, screen = await fill(TRIP, *TYPED, order, "31", "7", "send")
    assert result == Accepted(ANSWERED | {"days": 7})
    assert "[4] > 31\n  ✗ Days must be at most 30." in screen


async def test_what_is_changed_with_an_empty_line_stays_as_it_was() -> None:
    result, _ = await fill(TRIP, *TYPED, "3", "", "6", "", "")
    assert result == Accepted(ANSWERED)


async def test_an_optional_value_can_be_emptied_again() -> None:
    result, screen = await fill(TRIP, *TYPED[:-1], "A quiet room", "7", ":clear", "")
    assert result == Accepted(ANSWERED)
    assert "7/7 Wishes · optional · :clear empties it" in screen


@pytest.mark.parametrize("nonsense", ["change 9", "0", "change", "what?", "no", "²"])
async def test_an_order_that_is_not_understood_sends_nothing(nonsense: str) -> None:
    result, screen = await fill(TRIP, *TYPED, nonsense, "decline")
    assert result == Declined()
    told = "✗ Press Enter to send, or type decline, cancel, or change and a number from 1 to 7."
    assert told in " ".join(screen.split())


async def test_a_single_value_is_reviewed_on_one_line() -> None:
    form = Form(fields.Number("n", title="Days", integer=True))
    result, screen = await fill(form, "3", "change", "4", "")
    assert result == Accepted({"n": 4})
    assert "Send 3? Press Enter, or type change, decline or cancel > change" in screen


# --- declining and cancelling ----------------------------------------------------------------


@pytest.mark.parametrize("typed_before", range(len(TYPED) + 1))
@pytest.mark.parametrize(("word", "outcome"), [(":decline", Declined()), (":CANCEL", Cancelled())])
async def test_the_user_can_decline_and_cancel_at_every_prompt(
    typed_before: int, word: str, outcome: Declined | Cancelled
) -> None:
    result, screen = await fill(TRIP, *TYPED[:typed_before], word)
    assert result == outcome
    assert screen.endswith("✗ Declined.\n" if outcome == Declined() else "✗ Cancelled: nothing was sent.\n")


@pytest.mark.parametrize(("word", "outcome"), [("decline", Declined()), ("cancel", Cancelled())])
async def test_the_review_takes_decline_and_cancel_as_words(word: str, outcome: Declined | Cancelled) -> None:
    result, _ = await fill(TRIP, *TYPED, word)
    assert result == outcome


@pytest.mark.parametrize("typed_before", range(len(TYPED) + 1))
async def test_the_end_of_input_cancels(typed_before: int) -> None:
    result, _ = await fill(TRIP, *TYPED[:typed_before])
    assert result == Cancelled()


async def test_ctrl_c_cancels_the_question_and_the_next_one_is_asked() -> None:
    interrupted = asyncio.Event()
    loop = asyncio.get_running_loop()

    def interrupt() -> str:
        os.kill(os.getpid(), signal.SIGINT)
        asyncio.run_coroutine_threadsafe(interrupted.wait(), loop).result(20)
        return "7"

    session = Session([interrupt, ""])
    asked = form_asked(Form(fields.Number("n", title="Days")))
    assert await session.answer(asked) == Cancelled()
    second = asyncio.create_task(session.answer(asked))
    await shown(session, "Days", 2)
    interrupted.set()
    assert await second == Accepted({"n": 7})


# --- several questions -----------------------------------------------------------------------

NIGHTS = Form(fields.Number("nights", title="Nights", integer=True))
NAME = Form(fields.Text("name", title="Name"))


async def several(session: Session, *asked: Asked) -> list[Outcome[Any]]:
    return list(await asyncio.gather(*map(session.answer, asked)))


def both(**about: Any) -> tuple[Asked, Asked]:
    return form_asked(NIGHTS, "How long?", **about), form_asked(NAME, "Who?", **about)


@pytest.mark.parametrize(
    ("lines", "outcomes"),
    [
        (["3", "Ada", ""], [Accepted({"nights": 3}), Accepted({"name": "Ada"})]),
        (["3", "Ada", "2", "Bob", "1", "4", ""], [Accepted({"nights": 4}), Accepted({"name": "Bob"})]),
        ([":cancel", "Ada", ""], [Cancelled(), Accepted({"name": "Ada"})]),
        ([":decline", "Ada", "change", "Bob", ""], [Declined(), Accepted({"name": "Bob"})]),
        (["3", ":decline", ""], [Accepted({"nights": 3}), Declined()]),
        (["3", "Ada", "decline"], [Declined(), Declined()]),
        (["3", "Ada", ":cancel"], [Cancelled(), Cancelled()]),
        (["3", "Ada", "2", ":decline", ""], [Accepted({"nights": 3}), Declined()]),
        (["3", "Ada", "2", ":cancel", "change", ":decline"], [Declined(), Cancelled()]),
        ([":cancel all"], [Cancelled(), Cancelled()]),
        (["3", ":cancel all"], [Cancelled(), Cancelled()]),
        ([], [Cancelled(), Cancelled()]),
    ],
)
async def test_what_came_together_is_reviewed_together_and_ends_one_by_one(
    lines: list[str], outcomes: list[Outcome[Any]]
) -> None:
    session = Session(lines)
    assert await several(session, *both()) == outcomes
    assert "question 1 of 2" in session.screen
    assert "3, decline" not in session.screen


async def test_a_visit_among_forms_is_decided_at_once() -> None:
    session = Session(["3", "yes", ""])
    outcomes = await several(session, form_asked(NIGHTS, "How long?"), replace(visit_asked(), server=""))
    assert outcomes == [Accepted({"nights": 3}), Accepted(None)]


async def test_questions_of_servers_that_have_the_same_name_are_not_mixed() -> None:
    session = Session(["3", "", "Ada", ""])
    asked = form_asked(NIGHTS, server="Bank", connection="one"), form_asked(NAME, server="Bank", connection="other")
    assert await several(session, *asked) == [Accepted({"nights": 3}), Accepted({"name": "Ada"})]
    assert session.screen.count("✓ Sent.") == 2
    assert "of 2" not in session.screen


async def test_questions_of_different_servers_are_not_mixed() -> None:
    session = Session(["3", "", "Ada", ""])
    asked = form_asked(NIGHTS, server="one"), form_asked(NAME, server="two")
    assert await several(session, *asked) == [Accepted({"nights": 3}), Accepted({"name": "Ada"})]
    assert session.screen.count("✓ Sent.") == 2
    assert "of 2" not in session.screen


async def test_a_question_that_is_withdrawn_takes_no_other_answer_along() -> None:
    session, typist = at_keyboard()
    first, second = (asyncio.create_task(session.answer(asked)) for asked in both())
    await shown(session, "Nights")
    typist.type("3")
    await shown(session, "Name")
    second.cancel()
    await shown(session, "✗ The question was withdrawn.")
    await shown(session, "Send 3?")
    typist.type("")
    assert await first == Accepted({"nights": 3})


@pytest.mark.parametrize("withdrawn", [0, 1])
async def test_a_question_that_is_withdrawn_during_the_review_leaves_it(withdrawn: int) -> None:
    session, typist = at_keyboard()
    tasks = [asyncio.create_task(session.answer(asked)) for asked in both()]
    for label, line in (("Nights", "3"), ("Name", "Ada")):
        await shown(session, label)
        typist.type(line)
    await shown(session, "Your answers")
    tasks.pop(withdrawn).cancel()
    await shown(session, "Send Ada?" if withdrawn == 0 else "Send 3?")
    typist.type("")
    assert await tasks[0] == Accepted({"name": "Ada"} if withdrawn == 0 else {"nights": 3})


# --- without end -----------------------------------------------------------------------------


async def timed(session: Session, asked: Asked) -> Outcome[Any]:
    began = time.process_time()  # other programs may keep the machine busy
    outcome = await session.answer(asked)
    assert time.process_time() - began < 5
    return outcome


@pytest.mark.parametrize("piece", ["x", "word ", "\n", "\x1b]", "\x9d", "\u202e", "東"])
async def test_a_very_long_message_is_cut_with_a_notice(piece: str) -> None:
    session = Session([":cancel"])
    message = piece * (5_000_000 // len(piece))
    await timed(session, form_asked(NAME, message, server=message, server_version=message))
    assert len(session.screen) < 20_000
    assert "more characters are not shown." in session.screen


async def test_texts_of_a_field_are_shown_up_to_a_limit() -> None:
    long = "x" * 1_000_000
    form = Form(
        fields.Text("t", title=long, description=long, default=long[:20_000], pattern=f"^x|{long[:1_900]}$"),
        fields.Choice("c", {"a": long, "b": "B"}, title="C"),
    )
    session = Session(["x", "none", "1", ""])
    assert await timed(session, form_asked(form)) == Accepted({"t": "x", "c": "a"}), "nobody sends what they can't read"
    assert len(session.screen) < 20_000
    assert "(999,800 more characters)" in re.sub(r"\s+(│ )?", " ", session.screen)


MANY = {f"c{number}": f"City {number}" for number in range(5000)} | {"osl": "Oslo", "brg": "Bergen"}


async def test_of_many_options_the_first_are_shown_and_the_others_searched() -> None:
    session = Session(["oslo", ""])
    assert await timed(session, form_asked(Form(fields.Choice("city", MANY)))) == Accepted({"city": "osl"})
    assert "  20  City 19\n" in session.screen
    assert "City 20" not in session.screen
    assert "… and 4,982 more. Type part of a name to search." in session.screen


async def test_what_was_found_can_be_taken_with_enter_or_by_number() -> None:
    session = Session(["berge", "", "change", "ity 499", "City 4990", ""])
    assert await timed(session, form_asked(Form(fields.Choice("city", MANY)))) == Accepted({"city": "c4990"})
    assert "5002  Bergen\n  [Bergen] > " in session.screen
    assert " 500  City 499\n    4991  City 4990\n" in session.screen


async def test_several_of_many_options_are_found_too() -> None:
    session = Session(["osl, berg", "", ""])
    outcome = await timed(session, form_asked(Form(fields.Choices("cities", MANY))))
    assert outcome == Accepted({"cities": ["osl", "brg"]})


async def test_all_of_many_options_can_be_the_default() -> None:
    session = Session(["", ""])
    field = fields.Choices("cities", MANY, default=list(MANY))
    assert await timed(session, form_asked(Form(field))) == Accepted({"cities": list(MANY)})


async def test_a_search_that_finds_nothing_says_what_is_wrong() -> None:
    session = Session(["Rome", ":cancel"])
    await timed(session, form_asked(Form(fields.Choice("city", MANY, title="City"))))
    assert "✗ City must be one of: " in session.screen
    assert len(session.screen) < 5_000


async def test_a_form_with_a_thousand_fields_can_be_left() -> None:
    form = Form(*(fields.Text(f"f{number}", required=False) for number in range(1000)))
    session = Session([*[""] * 1000, "change 1000", "x", ""])
    assert await timed(session, form_asked(form)) == Accepted({"f999": "x"})


async def test_ten_thousand_questions_can_be_closed_at_once() -> None:
    session = Session([":cancel all"])
    began = time.process_time()
    outcomes = await several(session, *(form_asked(NAME, str(number)) for number in range(10_000)))
    assert set(map(type, outcomes)) == {Cancelled}
    assert time.process_time() - began < 5


async def test_questions_beyond_the_limit_are_cancelled_and_the_user_is_notified() -> None:
    session = Session([":decline", ":decline"], most_waiting=2)
    outcomes = await several(session, *(form_asked(NAME, str(number)) for number in range(10)))
    assert outcomes == [Declined()] * 2 + [Cancelled()] * 8
    assert "✗ 8 more questions were cancelled without being shown: too many came at once.\n" in session.screen


async def test_after_cancel_all_the_rest_of_a_flood_is_not_asked() -> None:
    session = Session([":cancel all"], most_waiting=2)
    asked = [form_asked(NAME, str(number)) for number in range(20)]
    await several(session, *asked[:10])
    assert await several(session, *asked[10:]) == [Cancelled()] * 10
    await shown(session, "✗ 10 more questions were cancelled without being shown")
    assert session.screen.count("asks") == 1


async def test_questions_of_all_servers_can_be_closed_at_once() -> None:
    session = Session([":cancel all"])
    asked = [form_asked(NAME, server="one"), form_asked(NAME, server="two"), form_asked(NAME, server="three")]
    assert await several(session, *asked) == [Cancelled()] * 3
    assert ":cancel all closes all 3 questions\n" in session.screen
    assert "✗ 3 questions cancelled: nothing was sent.\n" in session.screen


@pytest.mark.parametrize("where", ["prompt", "review"])
async def test_questions_that_arrive_during_another_are_announced_once(where: str) -> None:
    session, typist = at_keyboard()
    first = asyncio.create_task(session.answer(form_asked(NAME, "Who?")))
    await shown(session, "> ")
    if where == "review":
        typist.type("Ada")
        await shown(session, "Send Ada?")
    others = [asyncio.create_task(session.answer(form_asked(NAME, f"Who {number}?"))) for number in range(5)]
    await shown(session, "! 5 more questions are waiting. :cancel all closes all of them.\n")
    others.append(asyncio.create_task(session.answer(form_asked(NAME, "Who else?"))))
    typist.type(":cancel all")
    async with asyncio.timeout(20):
        assert await asyncio.gather(first, *others) == [Cancelled()] * 7
    assert session.screen.count("more questions are waiting") == 1


# --- the heading -----------------------------------------------------------------------------


async def test_the_user_sees_who_asks_and_how_it_came() -> None:
    session = Session([":cancel"])
    until = datetime(2030, 1, 1, 12, 0, tzinfo=UTC)
    asked = form_asked(NAME, server="Hotel", server_version="2.0", via="round", protocol="2026-07-28", deadline=until)
    await session.answer(asked)
    local = until.astimezone().strftime("%H:%M:%S")
    assert f"╭─ Hotel asks  2026-07-28 · round · version 2.0 · answer by {local}\n" in session.screen


async def test_on_a_narrow_terminal_nothing_is_wider() -> None:
    session = Session(["x", "1", ":cancel"], width=40)
    form = Form(fields.Choice("seat", {"w": "Window"}, title="Seat"), fields.Text("t"))
    await session.answer(form_asked(form, "word " * 30, server="Hotel", server_version="2.0", protocol="2026-07-28"))
    assert max(map(cell_len, session.screen.splitlines())) <= 40


# --- without a terminal ----------------------------------------------------------------------

ASKS = """
import asyncio
from midcall.client.asked import Asked, FormQuestion
from midcall.client.lines.lines import Lines
print(asyncio.run(Lines().answer(Asked(FormQuestion("Go on?", None), id="1", server="Hotel"))))
"""


@pytest.mark.parametrize("stdin", [subprocess.DEVNULL, subprocess.PIPE])
def test_without_a_terminal_nothing_hangs_and_standard_error_explains_it(stdin: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", ASKS], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as asks:
        assert asks.wait(20) == 0  # the pipe of its input stays open
        assert asks.stdout is not None
        assert asks.stderr is not None
        assert asks.stdout.read() == "Cancelled(via='push')\n"
        assert "midcall: Hotel asked a question, but there is no terminal" in asks.stderr.read()


# --- a visit ---------------------------------------------------------------------------------

URL = "https://auth.example.com/connect?" + "elicitationId=" + "x" * 100


def visit_asked(url: str = URL, id: str = "1") -> Asked:
    return Asked(VisitQuestion("Please sign in", url, id), id=id, server="Hotel")


async def test_the_whole_address_is_shown_and_opened_after_consent() -> None:
    session = Session(["", "sure", "Yes"])
    assert await session.answer(visit_asked()) == Accepted(None)
    before = session.screen.partition("Open this address")[0]
    assert "".join(re.findall("^  │ (.*)", before, re.MULTILINE)) == URL
    assert session.opened == [URL]


async def test_an_address_that_is_not_too_wide_is_on_one_line() -> None:
    session = Session(["yes"], width=len(URL) + 2, open_url=lambda url: False)
    await session.answer(visit_asked())
    assert session.screen.count(URL) == 1
    assert f"\n  {URL}\n" in session.screen


async def test_the_reason_for_a_visit_is_shown_above_it() -> None:
    session = Session(["no"])
    await session.answer(replace(visit_asked(), reason="Your files\x1b[2J are not connected yet."))
    assert "│ Your files are not connected yet.\n│ \n│ Please sign in\n" in session.screen


async def test_the_site_is_named_on_a_separate_line() -> None:
    session = Session(["no"])
    await session.answer(visit_asked())
    assert "\n  Site: example.com\n" in session.screen


async def test_with_colours_the_site_stands_out_in_the_address_too() -> None:
    session = Session(["no"], ink=Ink(True))
    await session.answer(visit_asked("https://auth.example.com/x"))
    assert "  https://auth.\x1b[1;4mexample.com\x1b[0m/x\n" in session.screen


async def test_every_warning_about_an_address_is_shown_before_consent() -> None:
    session = Session(["no"])
    await session.answer(visit_asked("http://bank.com@xn--pple-43d.com:8080/"))
    warnings = session.screen[session.screen.index("Site:") : session.screen.index("Open this address")]
    for doubt in ("before the @", 'reads "аpple.com"', "different scripts", "port 8080", "plain http"):
        assert doubt in " ".join(warnings.split())
    assert warnings.count("\n  ! ") == 6


@pytest.mark.parametrize(("line", "outcome"), [("no", Declined()), (":decline", Declined()), (":cancel", Cancelled())])
async def test_nothing_is_opened_without_consent(line: str, outcome: Declined | Cancelled) -> None:
    session = Session([line])
    assert await session.answer(visit_asked()) == outcome
    assert session.opened == []


async def test_without_a_browser_the_user_is_asked_to_open_the_address() -> None:
    session = Session(["yes"], open_url=lambda url: False)
    assert await session.answer(visit_asked()) == Accepted(None)
    assert "Open the address yourself" in session.screen


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "https://",
        "https://exa\u202emple.com",
        "https://example.com/\x1b[2J",
        "https://a b",
        "https://[::1",
    ],
)
async def test_an_address_that_cannot_be_shown_is_never_offered_and_the_user_is_notified(url: str) -> None:
    session = Session(["yes"])
    assert await session.answer(visit_asked(url)) == Cancelled()
    assert session.opened == []
    assert url not in session.screen
    assert "✗ Hotel asked something that cannot be shown" in session.screen


OFFERED = Form(fields.Text("a", title="Answer", default="yes"))


@pytest.mark.parametrize("line", ["", "yes", "no", ":decline"])
@pytest.mark.parametrize(
    ("asked", "prompt"),
    [
        (visit_asked("https://example.com/"), "in your browser? yes or no >"),
        (form_asked(None, "Give everything away?", id="2"), "Do you agree? yes or no >"),
        (form_asked(OFFERED, "Give everything away?", id="2"), "[yes] >"),
    ],
    ids=["a visit", "an empty form", "a form"],
)
async def test_what_was_typed_for_a_withdrawn_question_does_not_answer_the_next_one(
    asked: Asked, prompt: str, line: str
) -> None:
    """Even if several lines were: the server withdraws a question while the user presses Enter, and Enter again."""
    session, typist = at_keyboard()
    session.keyboard.quickest = 1_000
    first = asyncio.create_task(session.answer(form_asked(Form(fields.Text("b", default="yes")), "Delete a file?")))
    await shown(session, "[yes] >")
    first.cancel()
    second = asyncio.create_task(session.answer(asked))
    await shown(session, "Delete a file?" if prompt == "[yes] >" else prompt)
    for times in (1, 2):
        await shown(session, prompt, times + (prompt == "[yes] >"))
        typist.type(line)
        await shown(session, "You typed this for the question before.", times)
    assert (session.opened, second.done()) == ([], False)
    session.keyboard.quickest = 0
    typist.type(":cancel")
    assert await second == Cancelled()


async def test_what_was_typed_for_a_review_that_changed_does_not_send_it() -> None:
    session, typist = at_keyboard()
    session.keyboard.quickest = 1_000
    tasks = [asyncio.create_task(session.answer(asked)) for asked in both()]
    for label, line in (("Nights", "3"), ("Name", "Ada")):
        await shown(session, label)
        typist.type(line)
    await shown(session, "Send? Press Enter")
    tasks[0].cancel()
    await shown(session, "Send Ada? Press Enter")
    typist.type("")
    await shown(session, "You typed this for the question before.")
    session.keyboard.quickest = 0
    typist.type("")
    assert await tasks[1] == Accepted({"name": "Ada"})


async def test_what_was_typed_before_a_question_and_before_its_review_is_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forgotten: list[str] = []
    session, typist = at_keyboard()
    monkeypatch.setattr(session.keyboard, "forget_typed", lambda: forgotten.append(session.screen))
    answer = asyncio.create_task(
        session.answer(form_asked(Form(fields.Text("a", title="A"), fields.Text("b", title="B"))))
    )
    for prompt, line in (("1/2 A", "x"), ("2/2 B", "y"), ("Send?", "")):
        await shown(session, prompt)
        typist.type(line)
    assert await answer == Accepted({"a": "x", "b": "y"})
    before_question, before_review = forgotten
    assert before_question.splitlines()[-1] == "  1/2 A"
    assert before_review.splitlines()[-1] == "    2  B  y"


# --- waiting for visits ----------------------------------------------------------------------


def waiting_for(*ids: str) -> Waiting:
    return Waiting([visit_asked(f"https://{id}.example.com/", id) for id in ids], 1, 3)


@pytest.mark.parametrize(
    ("lines", "retried"),
    [([""], True), (["what?", "again"], True), ([":cancel"], False), (["cancel"], False), ([], False)],
)
async def test_while_a_call_waits_the_user_can_try_again_or_give_up(lines: list[str], retried: bool) -> None:
    session = Session(lines)
    assert await session.lines.wait(waiting_for("1")) is retried
    assert "· example.com (not done yet)" in session.screen
    assert "Enter tries again now (attempt 1 of 3) · :cancel gives up" in " ".join(session.screen.split())


async def test_the_user_sees_which_visits_are_done() -> None:
    session, _ = at_keyboard()
    waiting = waiting_for("1", "2")
    task = asyncio.create_task(session.lines.wait(waiting))
    await shown(session, "not done yet", 2)
    waiting.complete("1")
    await shown(session, "✓ example.com (done)")
    waiting.complete("2")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert session.screen.endswith("✓ Done. Continuing.\n")


async def test_a_question_can_be_answered_while_a_call_waits() -> None:
    session, typist = at_keyboard()
    task = asyncio.create_task(session.lines.wait(waiting_for("1")))
    await shown(session, "not done yet")
    question = asyncio.create_task(session.answer(form_asked(Form(fields.Number("n", title="Days")))))
    await shown(session, "Days")
    typist.type("3")
    await shown(session, "Send 3?")
    typist.type("")
    assert await question == Accepted({"n": 3})
    await shown(session, "not done yet", 2)
    typist.type("")
    assert await task is True


def test_lines_are_an_answerer_that_waits() -> None:
    lines = Lines()
    assert isinstance(lines, Answerer)
    assert isinstance(lines, Waits)
    assert lines.modes == ("form", "url")


# --- what a server says ----------------------------------------------------------------------


async def test_text_from_a_server_cannot_steer_the_terminal() -> None:
    evil = "\x1b[2J\x1b]0;owned\x07\r\u202epay\x9b31m"
    form = Form(
        fields.Text("text", title=f"T{evil}", description=f"D{evil}", default="x"),
        fields.Choice("choice", {"a": f"A{evil}"}, title=f"C{evil}"),
    )
    session = Session(["", "wrong", "1", "2", "1", ""])
    await session.answer(form_asked(form, f"M{evil}\nmore", server=f"S{evil}", server_version=f"V{evil}"))
    assert not set(session.screen) & set("\x1b\x9b\x07\r\u202e")
    assert "T␍pay" in session.screen


@pytest.mark.parametrize(
    "message",
    ["word " * 60, "x" * 300, "東京へようこそ" * 30, "ﾃﾞ👨‍👩‍👧 " * 50, "one\ntwo\n\n╰─ :decline says yes\n  Send?"],
)
async def test_every_text_of_a_server_is_behind_a_bar(message: str) -> None:
    session = Session([":cancel"])
    await session.answer(form_asked(Form(fields.Text("t")), message))
    said = session.screen[session.screen.index("╭─") : session.screen.rindex("╰─")].splitlines()[1:]
    assert said
    assert all(line.startswith("│ ") and cell_len(line) <= 80 for line in said)


def posing(columns: int) -> str:
    """Words that look like our lines, with so much before them that a terminal breaks the line in between."""
    rule = "─" * (columns - 4)
    lines = ("✓ Sent.", "✗ Declined.", "! Now type your password:", "1 Amount 5 EUR", "╭─ midcall asks")
    return " ".join(f"{rule} {line}" for line in lines)


POSING = re.compile(r"[✓✗!╭·]|\d+ Amount|Now type")


def check_lines(screen: str, *but: str, width: int = 80) -> None:
    """No line is too wide, and those that pose as ours are behind a bar, or far to the right of where ours begin."""
    for line in screen.splitlines():
        assert cell_len(line) <= width, line
        if POSING.match(line.lstrip()) and not line.startswith(but):
            assert len(line) - len(line.lstrip()) > 6, line


POSING_FIELDS = {
    "a default": fields.Text("a", title="City", default=f"Oslo {posing(80)}", required=False),
    "an option that is the default": fields.Choice(
        "a", {"x": f"Oslo {posing(80)}", "y": "Rome"}, title="City", default="x"
    ),
    "a pattern": fields.Text(
        "a", title="City", pattern=f".*|{'─' * 58} ✓ Sent. {'─' * 66} ✗ Declined.", default="Oslo"
    ),
    "a label": fields.Text("a", title="✓ Sent. Now type your password", default="Oslo"),
    "a long label": fields.Text("a", title=f"City {posing(80)}", default="Oslo"),
    "a description": fields.Text("a", title="City", description=f"✓ Sent.\n\n{posing(80)}", default="Oslo"),
}


@pytest.mark.parametrize("field", POSING_FIELDS.values(), ids=POSING_FIELDS)
@pytest.mark.parametrize("several", [False, True], ids=["alone", "one of two"])
async def test_no_text_of_a_field_begins_where_lines_of_the_client_do(field: Any, several: bool) -> None:
    first = [fields.Text("z", title="Name", default="Ada")] if several else []
    typed = ["", *([""] if several else []), ":cancel"]
    form = Form(field, *first)
    _, screen = await fill(form, *typed)
    assert "Send" in screen
    check_lines(screen, "╭─ An unnamed", "    1  ", "    2  ", "  ✗ Cancelled")


async def test_no_complaint_about_an_answer_begins_a_line_with_text_of_a_server() -> None:
    title = f"City {'─' * 76} ✓ Sent. Now type your password"
    _, screen = await fill(Form(fields.Text("a", title=title, pattern="^[0-9]+$")), "Oslo", ":cancel")
    assert "  ✗ City\n" in screen
    check_lines(screen, "╭─ An unnamed", "  ✗ City", "  ✗ Cancelled")


async def test_no_message_of_a_question_in_a_review_begins_where_an_answer_does() -> None:
    asked = [form_asked(form, "1 Amount 5 EUR", id=str(id)) for id, form in enumerate((NIGHTS, NAME))]
    session = Session(["3", "Ada", ":cancel"])
    await several(session, *asked)
    check_lines(session.screen.partition("Your answers")[2], "    1  Nights", "    2  Name", "  ✗ Cancelled")


@pytest.mark.parametrize("columns", [40, 80])
async def test_no_address_begins_a_line_of_ours_and_all_of_it_is_shown(columns: int) -> None:
    """A terminal would break it where the server wants."""
    far = "a" * (columns - 21)
    url = f"https://evil.example/{far}✓──Sent.──Site:bank.example{'─' * columns}!──Now──type──your──password"
    session = Session(["yes"], width=columns, open_url=lambda url: False)
    assert await session.answer(visit_asked(url)) == Accepted(None)
    before, _, after = session.screen.partition("Site: evil.example")
    check_lines(before, "╭─ Hotel", width=columns)
    assert "".join(line.removeprefix("  │ ") for line in before.splitlines() if line.startswith("  │ ")) == url
    [copied] = [line for line in after.splitlines() if line.startswith("https://")]
    assert copied.isascii()
    assert unquote(copied) == url


async def test_no_address_that_a_call_waits_for_begins_a_line_of_ours() -> None:
    url = f"https://evil.example/{'a' * 55}✓──bank.example──(done){'─' * 90}✓──Sent."
    session = Session([":cancel"])
    await session.lines.wait(Waiting([visit_asked(url)], 2, 3))
    assert "".join(re.findall("^    │ (.*)", session.screen, re.MULTILINE)) == f"Please sign in{url}"
    check_lines(session.screen, "    · evil.example", "  ✗ Stopped")


# --- with real servers -----------------------------------------------------------------------


class Guest(BaseModel):
    name: str = Field(min_length=2)
    vip: bool = False


def hotel() -> MCPServer:
    mcp = MCPServer("hotel", title="Grand \x1b[31mHotel", version="7.1")
    midcall.install(mcp)

    @mcp.tool()
    async def check_in() -> str:
        guest, nights = await ask_all(Question("Who stays?", Guest), Question("How many nights?", int))
        return f"{guest.name}, {guest.vip}, {nights}"

    @mcp.tool()
    async def extras() -> str:
        return str(await choose("What shall we add?", ["bike", "guide"], many=True))

    @mcp.tool()
    async def pay() -> str:
        await visit("Pay here", "https://pay.example.com/1")
        return "paid"

    @mcp.tool()
    async def hurry() -> str:
        await ask("Quick!", str, timeout=0.05)
        return "quick"

    return mcp


async def call(session: Session, tool: str, era: str) -> str:
    return await result_of(hotel(), session.lines, tool, era)


async def test_questions_of_one_round_are_answered_in_turn_and_reviewed_together() -> None:
    session = Session(["A", "Ada", "y", "3", "2", "no", "3", "4", ""])
    assert await call(session, "check_in", "2026-07-28") == "Ada, False, 4"
    assert "Grand Hotel asks  2026-07-28 · round · version 7.1 · question 1 of 2" in session.screen
    assert "Grand Hotel asks  2026-07-28 · round · version 7.1 · question 2 of 2" in session.screen
    assert session.screen.count("✓ Sent.") == 1
    for line in ("Who stays?\n    1  Name  Ada", "How many nights?\n    3  Answer  3"):
        assert line in session.screen


@pytest.mark.parametrize("era", ERAS[:2])
async def test_questions_that_are_pushed_are_reviewed_one_by_one(era: str) -> None:
    session = Session(["A", "Ada", "y", "", "3", ""])
    assert await call(session, "check_in", era) == "Ada, True, 3"
    assert session.screen.count(f"Grand Hotel asks  {era} · push · version 7.1\n") == 2
    assert session.screen.index("✓ Sent.") < session.screen.index("How many nights?")


@pytest.mark.parametrize("era", ERAS)
async def test_none_of_several_options_can_be_meant_on_every_version(era: str) -> None:
    typed = ["", ":empty", ""] if era == "2025-06-18" else ["", ""]
    session = Session(typed)
    assert await call(session, "extras", era) == "[]"
    assert ("type :empty" in session.screen) == (era == "2025-06-18")


@pytest.mark.parametrize("era", ERAS[1:])
async def test_a_visit_is_agreed_to_on_every_version_that_has_it(era: str) -> None:
    session = Session(["yes"])
    assert await call(session, "pay", era) == "paid"
    assert session.opened == ["https://pay.example.com/1"]
    assert "Grand Hotel asks you to open a web page" in session.screen


async def test_after_an_error_that_needs_a_visit_the_call_waits_and_is_tried_again() -> None:
    mcp, calls = MCPServer("hotel"), list[int]()
    midcall.install(mcp)

    @mcp.tool()
    async def stay() -> str:
        calls.append(1)
        if len(calls) < 3:
            raise UrlElicitationRequired([Visit("Pay here", "https://pay.example.com/1", id="v1")])
        return "paid"

    session = Session(["yes", "", ""])
    async with connect(mcp, session.lines, era="2025-11-25") as client:
        result = await client.call_tool("stay", {})
    assert [block.text for block in result.content if isinstance(block, TextContent)] == ["paid"]
    assert session.opened == ["https://pay.example.com/1"]
    assert "hotel asks you to open a web page  2025-11-25 · required" in session.screen
    assert "· example.com (not done yet)\n    │ Pay here\n" in session.screen
    assert "attempt 2 of 3" in session.screen


async def test_a_question_that_the_server_withdraws_is_reported() -> None:
    done = asyncio.Event()
    loop = asyncio.get_running_loop()

    def slow() -> str:
        asyncio.run_coroutine_threadsafe(done.wait(), loop).result(20)
        return "too late"

    session = Session([slow])
    assert "did not answer in time" in await call(session, "hurry", "2025-11-25")
    done.set()
    assert "✗ The question was withdrawn." in session.screen
