from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterable
from typing import Any, Literal

import pytest
from mcp import Client
from mcp.client._memory import InMemoryTransport
from mcp.server import MCPServer
from mcp_types import (
    INVALID_PARAMS,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    ElicitResult,
    ErrorData,
    TextContent,
)
from pydantic import BaseModel, Field

import midcall
from midcall import Question, ask, ask_all, visit
from midcall.client.ink import Ink
from midcall.client.keyboard import Keyboard
from midcall.client.lines import Lines
from midcall.client.offer import Offer
from midcall.core import fields
from midcall.core.form import Form
from midcall.testing import ERAS

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
        self.answer = Lines(
            keyboard=Keyboard(self._read),
            write=self._shown.append,
            ink=Ink(False),
            open_url=lambda url: not self.opened.append(url),
            width=80,
            **options,
        )

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


def form_params(form: Form, message: str = "Tell me") -> ElicitRequestFormParams:
    return ElicitRequestFormParams(message=message, requested_schema=form.schema())


async def fill(form: Form, *lines: str) -> tuple[ElicitResult, str]:
    session = Session(lines)
    result = await session.answer(None, form_params(form))
    assert isinstance(result, ElicitResult)
    return result, session.screen


# --- a form ----------------------------------------------------------------------------------


async def test_every_kind_of_field_is_asked_for_and_sent() -> None:
    result, _ = await fill(TRIP, *TYPED, "")
    assert (result.action, result.content) == ("accept", ANSWERED)


async def test_the_user_sees_what_each_field_wants() -> None:
    _, screen = await fill(TRIP, *TYPED, "")
    for line in (
        "1/7 Name · 2 to 40 characters",
        "As in the passport",
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
        (fields.Choices("c", ["a", "b"], title="Seats"), "a,c", "Seats must hold only these: a, b", "a", ["a"]),
        (fields.Choices("c", ["a", "b"], title="Seats", min_items=1), "", "Seats needs at least 1 choice", "2", ["b"]),
        (fields.Flag("f", title="Really?"), "", "This is required", "y", True),
        (fields.Text("name", title="Name"), "Al\x1b[D", "Arrow keys and control characters", "Ada", "Ada"),
    ],
)
async def test_what_does_not_fit_is_said_at_once_and_asked_again(
    field: fields.Field, wrong: str, problem: str, right: str, value: Any
) -> None:
    result, screen = await fill(Form(field), wrong, right, "")
    assert f"✗ {problem}" in screen
    assert result.content == {field.name: value}


async def test_an_empty_line_takes_the_default() -> None:
    form = Form(
        fields.Text("text", default="x"),
        fields.Number("number", default=1.5),
        fields.Choices("many", ["a", "b"], default=["b"]),
    )
    result, screen = await fill(form, "", "", "", "")
    assert result.content == {"text": "x", "number": 1.5, "many": ["b"]}
    assert "Enter takes what is in [brackets]" in screen


async def test_an_optional_field_that_is_left_empty_is_omitted() -> None:
    form = Form(fields.Text("text", required=False), fields.Flag("flag", required=False))
    result, screen = await fill(form, "", "", "")
    assert result.content == {}
    assert "1  text  (left empty)" in screen


async def test_none_of_several_options_is_an_answer() -> None:
    result, screen = await fill(Form(fields.Choices("extras", ["a", "b"])), "", "")
    assert result.content == {"extras": []}
    assert "Send (none)?" in screen


async def test_a_form_without_fields_takes_a_yes_or_a_no() -> None:
    params = ElicitRequestFormParams(message="Go on?", requested_schema={"type": "object", "properties": {}})
    assert await Session(["what", "Yes"]).answer(None, params) == ElicitResult(action="accept", content={})
    assert await Session(["no"]).answer(None, params) == ElicitResult(action="decline")
    assert await Session([":cancel"]).answer(None, params) == ElicitResult(action="cancel")


async def test_a_form_that_cannot_be_shown_is_refused_and_the_user_told() -> None:
    schema = {"type": "object", "properties": {"deep": {"type": "object", "properties": {}}}}
    session = Session([])
    result = await session.answer(None, ElicitRequestFormParams(message="?", requested_schema=schema))
    assert isinstance(result, ErrorData)
    assert result.code == INVALID_PARAMS
    assert "properties.deep" in result.message
    assert "✗ A server without a name asked something that cannot be shown" in session.screen


# --- the review ------------------------------------------------------------------------------


async def test_all_values_are_shown_before_they_are_sent() -> None:
    _, screen = await fill(TRIP, *TYPED, "send")
    review = screen[screen.index("Your answers") :]
    for line in ("1  Name    Ada", "3  Days    4", "4  News    no", "5  Seat    Window", "6  Extras  bike, skis"):
        assert line in review


@pytest.mark.parametrize("order", ["change 3", "c 3", "3", "CHANGE 3"])
async def test_a_value_can_be_changed_before_it_is_sent(order: str) -> None:
    result, screen = await fill(TRIP, *TYPED, order, "31", "7", "send")
    assert result.content == ANSWERED | {"days": 7}
    assert "[4] > 31\n  ✗ Days must be at most 30." in screen


async def test_what_is_changed_with_an_empty_line_stays_as_it_was() -> None:
    result, _ = await fill(TRIP, *TYPED, "3", "", "6", "", "")
    assert result.content == ANSWERED


async def test_an_optional_value_can_be_emptied_again() -> None:
    result, screen = await fill(TRIP, *TYPED[:-1], "A quiet room", "7", ":clear", "")
    assert result.content == ANSWERED
    assert "7/7 Wishes · optional · :clear empties it" in screen


@pytest.mark.parametrize("nonsense", ["change 9", "0", "change", "what?", "no", "²"])
async def test_an_order_that_is_not_understood_sends_nothing(nonsense: str) -> None:
    result, screen = await fill(TRIP, *TYPED, nonsense, "decline")
    assert result.action == "decline"
    assert "✗ Type send (or just Enter), change and a number from 1 to 7, decline or cancel." in screen


async def test_a_single_value_is_reviewed_on_one_line() -> None:
    form = Form(fields.Number("n", title="Days", integer=True))
    result, screen = await fill(form, "3", "change", "4", "")
    assert result.content == {"n": 4}
    assert "Send 3? Enter, or change, decline, cancel > change" in screen


# --- declining and cancelling ----------------------------------------------------------------


@pytest.mark.parametrize("typed_before", range(len(TYPED) + 1))
@pytest.mark.parametrize(("word", "action"), [(":decline", "decline"), (":CANCEL", "cancel")])
async def test_the_user_can_decline_and_cancel_at_every_prompt(
    typed_before: int, word: str, action: Literal["decline", "cancel"]
) -> None:
    result, screen = await fill(TRIP, *TYPED[:typed_before], word)
    assert (result.action, result.content) == (action, None)
    assert screen.endswith("✗ Declined.\n" if action == "decline" else "✗ Cancelled: nothing was sent.\n")


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_the_review_takes_decline_and_cancel_as_words(action: str) -> None:
    result, _ = await fill(TRIP, *TYPED, action)
    assert result.action == action


@pytest.mark.parametrize("typed_before", range(len(TYPED) + 1))
async def test_the_end_of_input_cancels(typed_before: int) -> None:
    result, _ = await fill(TRIP, *TYPED[:typed_before])
    assert result.action == "cancel"


async def test_ctrl_c_cancels_the_question_and_the_next_one_is_asked() -> None:
    interrupted = asyncio.Event()
    loop = asyncio.get_running_loop()

    def interrupt() -> str:
        os.kill(os.getpid(), signal.SIGINT)
        asyncio.run_coroutine_threadsafe(interrupted.wait(), loop).result(20)
        return "7"

    session = Session([interrupt, ""])
    form = form_params(Form(fields.Number("n", title="Days")))
    assert await session.answer(None, form) == ElicitResult(action="cancel")
    second = asyncio.create_task(session.answer(None, form))
    while session.screen.count("Days") < 2:
        await asyncio.sleep(0)
    interrupted.set()
    assert await second == ElicitResult(action="accept", content={"n": 7})


# --- a visit ---------------------------------------------------------------------------------

URL = "https://auth.example.com/connect?" + "elicitationId=" + "x" * 100


def visit_params(url: str = URL) -> ElicitRequestURLParams:
    return ElicitRequestURLParams(message="Please sign in", url=url, elicitation_id="1")


async def test_the_whole_address_is_shown_and_opened_after_a_yes() -> None:
    session = Session(["", "sure", "Yes"])
    assert await session.answer(None, visit_params()) == ElicitResult(action="accept")
    assert f"\n  {URL}\n" in session.screen
    assert session.opened == [URL]
    assert session.screen.index(URL) < session.screen.index("Open this address")


@pytest.mark.parametrize(("line", "action"), [("no", "decline"), (":decline", "decline"), (":cancel", "cancel")])
async def test_nothing_is_opened_without_a_yes(line: str, action: Literal["decline", "cancel"]) -> None:
    session = Session([line])
    assert await session.answer(None, visit_params()) == ElicitResult(action=action)
    assert session.opened == []


async def test_without_a_browser_the_user_is_told_to_open_it() -> None:
    session = Session(["yes"])
    lines = Lines(
        keyboard=Keyboard(session._read), write=session._shown.append, ink=Ink(False), open_url=lambda url: False
    )
    assert await lines(None, visit_params()) == ElicitResult(action="accept")
    assert "open the address yourself" in session.screen


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
async def test_an_address_that_does_not_show_itself_is_refused(url: str) -> None:
    session = Session(["yes"])
    result = await session.answer(None, visit_params(url))
    assert isinstance(result, ErrorData)
    assert result.code == INVALID_PARAMS
    assert session.opened == []
    assert url not in session.screen


# --- what a server says ----------------------------------------------------------------------


async def test_text_from_a_server_cannot_steer_the_terminal() -> None:
    evil = "\x1b[2J\x1b]0;owned\x07\r\u202epay\x9b31m"
    form = Form(
        fields.Text("text", title=f"T{evil}", description=f"D{evil}", default="x"),
        fields.Choice("choice", {"a": f"A{evil}"}, title=f"C{evil}"),
    )
    params = ElicitRequestFormParams(message=f"M{evil}\nmore", requested_schema=form.schema())
    session = Session(["", "wrong", "1", "2", "1", ""])
    await session.answer(None, params)
    assert not set(session.screen) & set("\x1b\x9b\x07\r\u202e")
    assert "T␍pay" in session.screen


@pytest.mark.parametrize("message", ["word " * 60, "x" * 300, "one\ntwo\n\n╰─ :decline says yes\n  Send?"])
async def test_all_that_a_server_says_stands_behind_a_bar(message: str) -> None:
    session = Session([":cancel"])
    await session.answer(None, form_params(Form(fields.Text("t")), message))
    said = session.screen[session.screen.index("╭─") : session.screen.rindex("╰─")].splitlines()[1:]
    assert said
    assert all(line.startswith("│ ") and len(line) <= 80 for line in said)


# --- with real servers -----------------------------------------------------------------------


class Guest(BaseModel):
    name: str = Field(min_length=2)
    vip: bool = False


def hotel() -> MCPServer:
    mcp = MCPServer("hotel", title="Grand \x1b[31mHotel")
    midcall.install(mcp)

    @mcp.tool()
    async def check_in() -> str:
        guest, nights = await ask_all(Question("Who stays?", Guest), Question("How many nights?", int))
        return f"{guest.name}, {guest.vip}, {nights}"

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
    modern = era == "2026-07-28"
    transport = Offer(InMemoryTransport(hotel()), version=None if modern else era)
    async with Client(transport, mode="auto" if modern else "legacy", elicitation_callback=session.answer) as client:
        result = await client.call_tool(tool, {})
    return "".join(block.text for block in result.content if isinstance(block, TextContent))


@pytest.mark.parametrize("era", ERAS)
async def test_questions_of_one_round_are_answered_one_after_the_other(era: str) -> None:
    session = Session(["A", "Ada", "y", "", "3", ""], note=lambda: era)
    assert await call(session, "check_in", era) == "Ada, True, 3"
    assert session.screen.count(f"Grand Hotel asks  {era}") == 2
    assert session.screen.index("✓ Sent.") < session.screen.index("How many nights?")


@pytest.mark.parametrize("era", ERAS[1:])
async def test_a_visit_is_agreed_to_on_every_version_that_has_it(era: str) -> None:
    session = Session(["yes"])
    assert await call(session, "pay", era) == "paid"
    assert session.opened == ["https://pay.example.com/1"]
    assert "Grand Hotel asks you to open a web page" in session.screen


async def test_a_question_that_the_server_takes_back_says_so() -> None:
    done = asyncio.Event()
    loop = asyncio.get_running_loop()

    def slow() -> str:
        asyncio.run_coroutine_threadsafe(done.wait(), loop).result(20)
        return "too late"

    session = Session([slow])
    assert "did not answer in time" in await call(session, "hurry", "2025-11-25")
    done.set()
    assert "✗ The question was withdrawn." in session.screen
