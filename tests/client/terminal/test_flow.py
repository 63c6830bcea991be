"""Several questions at once, visits, waiting, and questions that are taken back."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import Any

import pytest
from rich.cells import cell_len
from textual import _wait

from midcall.client.answerer import Waiting, Waits
from midcall.client.asked import Asked
from midcall.client.terminal import Terminal
from midcall.client.terminal.wait_app import WaitApp
from midcall.core.forms.fields import Flag, Number, Text
from midcall.core.outcome import Accepted, Cancelled, Declined
from tests.terminals import SECONDS, Desk, Hands, form, visit

NAME = form(Text("name", title="Name"), message="Who travels?", id="1")
DAYS = form(Number("days", title="Days", integer=True), message="How long?", id="2")
SURE = form(message="Shall I book it?", id="3")
URL = "https://pay.fjord-travel.co.uk/connect?state=" + "x" * 200


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """After each key Textual's pilot looks whether the process is idle: four times as often, by the same measure."""
    for name in ("SLEEP_GRANULARITY", "SLEEP_IDLE"):
        monkeypatch.setattr(_wait, name, getattr(_wait, name) / 4)


# --- one flow ------------------------------------------------------------------------------------


async def test_the_questions_of_one_round_are_one_flow_with_a_review_before_anything_is_sent() -> None:
    async def person(hands: Hands) -> None:
        assert "1 of 3  Fjord Travel asks" in hands.screen
        await hands.type("Ada")
        await hands.press("ctrl+s")
        assert "2 of 3" in hands.screen
        await hands.type("4")
        await hands.press("ctrl+s")
        assert "3 of 3" in hands.screen
        await hands.press("ctrl+s")
        for piece in ("Nothing has been sent yet", "Who travels?", "Name  Ada", "Days  4", "✓ agreed"):
            assert piece in hands.screen
        assert desk.left == []
        await hands.press("ctrl+s")

    desk = Desk(person)
    outcomes = await desk.answer(NAME, DAYS, SURE)
    assert outcomes == [Accepted({"name": "Ada"}, "round"), Accepted({"days": 4}, "round"), Accepted({}, "round")]
    assert [line.split("  ")[0] for line in desk.left] == ["✓ Fjord Travel: Sent."] * 3


async def test_every_answer_can_be_changed_from_the_review() -> None:
    async def person(hands: Hands) -> None:
        await hands.type("Ada")
        await hands.press("ctrl+s")
        await hands.type("4")
        await hands.press("ctrl+s")
        await hands.press("home", "down", "down", "down", "enter")
        assert hands.at == "days"
        await hands.press("backspace", "5", "ctrl+s")
        assert "Days  5" in hands.screen
        await hands.press("ctrl+b")
        assert hands.at == "days"
        await hands.press("ctrl+b")
        assert hands.at == "name"
        await hands.type("!")
        await hands.press("ctrl+s")
        assert "Name  Ada!" in hands.screen
        await hands.press("tab", "enter")

    desk = Desk(person)
    assert await desk.answer(NAME, DAYS) == [
        Accepted({"name": "Ada!"}, "round"),
        Accepted({"days": 5}, "round"),
    ]


@pytest.mark.parametrize(
    ("key", "kind", "word"), [("ctrl+d", Declined, "declined"), ("ctrl+c", Cancelled, "cancelled")]
)
async def test_one_question_declined_or_cancelled_leaves_the_others(key: str, kind: type, word: str) -> None:
    async def person(hands: Hands) -> None:
        await hands.type("Ada")
        await hands.press("ctrl+s", key, "ctrl+s")
        assert f"✗ {word}" in hands.screen
        await hands.press("ctrl+s")

    name, days, sure = await Desk(person).answer(NAME, DAYS, SURE)
    assert (name, sure) == (Accepted({"name": "Ada"}, "round"), Accepted({}, "round"))
    assert isinstance(days, kind)


async def test_ctrl_c_at_the_review_loses_nothing_at_once() -> None:
    async def person(hands: Hands) -> None:
        await hands.type("Ada")
        await hands.press("ctrl+s", "ctrl+s", "ctrl+c")
        assert "Press again to cancel all 2 questions." in hands.screen
        await hands.press("ctrl+s")

    assert all(await Desk(person).answer(NAME, SURE))


@pytest.mark.parametrize("keys", [["ctrl+q"], ["ctrl+c", "ctrl+c"], ["escape", "escape"]])
async def test_all_can_be_cancelled(keys: list[str]) -> None:
    async def person(hands: Hands) -> None:
        await hands.press(*keys)

    assert await Desk(person).answer(NAME, DAYS) == [Cancelled("round")] * 2


async def test_questions_of_another_server_come_after() -> None:
    other = form(Flag("f"), server="Hotel", id="9")

    async def first(hands: Hands) -> None:
        assert "Fjord Travel asks" in hands.screen
        assert "1 more waiting" in hands.screen
        await hands.type("Ada")
        await hands.press("ctrl+s")

    async def second(hands: Hands) -> None:
        assert "Hotel asks" in hands.screen
        await hands.press("n", "ctrl+s")

    assert await Desk(first, second).answer(NAME, other) == [
        Accepted({"name": "Ada"}, "round"),
        Accepted({"f": False}, "round"),
    ]


async def test_a_flood_of_questions_can_be_cancelled_in_a_few_keys() -> None:
    async def person(hands: Hands) -> None:
        assert "1 of 20" in hands.screen
        await hands.press("ctrl+q")

    many = [form(Flag("f"), id=str(number)) for number in range(100)]
    assert await Desk(*[person] * 5).answer(*many) == [Cancelled("round")] * 100


@pytest.mark.parametrize("how", ["key", "mouse"])
async def test_all_questions_queued_behind_one_can_be_cancelled_with_it(how: str) -> None:
    others = [form(Flag("f"), server="Hotel", id=str(number)) for number in range(2, 42)]

    async def person(hands: Hands) -> None:
        assert "Cancel all" not in hands.screen
        await hands.press("ctrl+q")  # there is nothing else to cancel
        waiting.extend(asyncio.create_task(desk.terminal.answer(other)) for other in others)
        await sees(hands, "40 more waiting", "Cancel all ^Q")
        await (hands.press("ctrl+q") if how == "key" else hands.pilot.click("#cancel_all"))

    waiting: list[asyncio.Task[Any]] = []
    desk = Desk(person)
    assert await desk.answer(NAME) == [Cancelled("round")]
    async with asyncio.timeout(SECONDS):
        assert await asyncio.gather(*waiting) == [Cancelled("round")] * 40
    assert desk.left == ["✗ 41 questions cancelled: nothing was sent.\n"]


async def test_when_nothing_waits_any_more_cancel_is_enough() -> None:
    async def person(hands: Hands) -> None:
        await sees(hands, "1 more waiting", "Cancel all")
        waiting.cancel()
        await asyncio.wait([waiting])
        async with asyncio.timeout(SECONDS):
            while "Cancel all" in hands.screen:
                await hands.pilot.pause(0.05)
        await hands.press("escape")

    desk = Desk(person)
    answering = asyncio.create_task(desk.answer(NAME))
    await asyncio.sleep(0)
    waiting = asyncio.create_task(desk.terminal.answer(form(Flag("f"), server="Hotel", id="9")))
    assert await answering == [Cancelled("round")]


async def test_the_review_shows_how_many_questions_a_second_cancel_ends() -> None:
    other = form(Flag("f"), server="Hotel", id="9")

    async def person(hands: Hands) -> None:
        await hands.type("Ada")
        await hands.press("ctrl+s", "ctrl+s", "ctrl+q")
        assert "Press again to cancel all 3 questions." in hands.screen
        await hands.press("ctrl+q")

    assert await Desk(person).answer(NAME, SURE, other) == [Cancelled("round")] * 3


async def test_questions_beyond_the_limit_are_cancelled_and_the_user_is_notified() -> None:
    async def person(hands: Hands) -> None:
        assert "1 of 3" in hands.screen
        await sees(hands, "7 more questions were cancelled without being shown: too many came")
        await hands.press("ctrl+d", "ctrl+d", "ctrl+d")

    desk = Desk(person, most_waiting=3)
    many = [form(Flag("f"), id=str(number)) for number in range(10)]
    assert await desk.answer(*many) == [Declined("round")] * 3 + [Cancelled("round")] * 7
    assert desk.left[-1] == "✗ 7 more questions were cancelled without being shown: too many came at once.\n"


async def test_after_cancel_all_the_rest_of_a_flood_opens_no_form() -> None:
    async def person(hands: Hands) -> None:
        await hands.press("ctrl+q")

    desk = Desk(person, most_waiting=3)
    many = [form(Flag("f"), id=str(number)) for number in range(20)]
    await desk.answer(*many[:10])
    assert await desk.answer(*many[10:]) == [Cancelled("round")] * 10
    async with asyncio.timeout(SECONDS):
        while len(desk.left) < 3:
            await asyncio.sleep(0.01)
    assert desk.left == [
        "✗ 3 questions cancelled: nothing was sent.\n",
        "✗ 7 more questions were cancelled without being shown: too many came at once.\n",
        "✗ 10 more questions were cancelled without being shown: too many came at once.\n",
    ]


async def sees(hands: Hands, *texts: str) -> None:
    """Wait until all of this is on the screen."""
    async with asyncio.timeout(SECONDS):
        while not all(text in hands.screen for text in texts):
            await hands.pilot.pause(0.05)


async def test_a_decision_before_a_page_could_be_seen_does_not_count() -> None:
    async def person(hands: Hands) -> None:
        await hands.press("ctrl+s", "ctrl+s", "ctrl+d", "ctrl+d")
        await hands.pilot.click("#open")
        await hands.pilot.click("#decline")
        assert desk.opened == []
        await hands.press("escape")

    desk = Desk(person, quickest=SECONDS)
    assert await desk.answer(visit(URL)) == [Cancelled("push")]


async def test_a_second_decline_does_not_decline_the_next_question() -> None:
    async def first(hands: Hands) -> None:
        hands.app.quickest = 0  # pyright: ignore[reportAttributeAccessIssue]
        await hands.press("ctrl+d")

    async def second(hands: Hands) -> None:
        await hands.press("ctrl+d")
        assert "Keep" in hands.screen
        await hands.press("escape")

    desk = Desk(first, second, quickest=SECONDS)
    asked = form(Text("name"), message="Subscribe?"), form(Text("name"), message="Keep?", server="Hotel")
    assert await desk.answer(*asked) == [Declined("round"), Cancelled("round")]


async def test_keys_that_come_in_a_burst_go_where_they_were_meant_for() -> None:
    async def person(hands: Hands) -> None:
        from textual.events import Key

        for key in ("A", "d", "a", "enter", "y", "tab", "4", "2", "enter", "ctrl+s"):
            hands.app.post_message(Key(key, key if len(key) == 1 else None))

    asked = form(Text("name"), Flag("sure"), Number("days"))
    assert await Desk(person).answer(asked) == [Accepted({"name": "Ada", "sure": True, "days": 42}, "round")]


# --- taken back ----------------------------------------------------------------------------------


async def test_an_abandoned_question_closes_its_form_with_a_notice() -> None:
    seen = asyncio.Event()

    async def person(hands: Hands) -> None:
        seen.set()

    desk = Desk(person)
    answering = asyncio.create_task(desk.terminal.answer(NAME))
    async with asyncio.timeout(SECONDS):
        await seen.wait()
        answering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await answering
    assert desk.left == ["✗ Fjord Travel: The question was withdrawn.\n"]


async def test_the_others_of_a_flow_continue_when_one_is_given_up() -> None:
    async def person(hands: Hands) -> None:
        await hands.type("Ada")
        await hands.press("ctrl+s")
        assert "2 of 3" in hands.screen
        tasks[1].cancel()
        await asyncio.wait([tasks[1]])
        await hands.see("Shall I book it?")
        assert "Fjord Travel withdrew a question." in hands.screen
        await hands.press("ctrl+s")
        assert "Your answers to 2 questions" in hands.screen
        await hands.press("ctrl+s")

    desk = Desk(person)
    tasks = [asyncio.create_task(desk.terminal.answer(asked)) for asked in (NAME, DAYS, SURE)]
    async with asyncio.timeout(SECONDS):
        await asyncio.wait(tasks)
    assert not desk.hall.failures
    assert tasks[1].cancelled()
    assert (tasks[0].result(), tasks[2].result()) == (Accepted({"name": "Ada"}, "round"), Accepted({}, "round"))


async def test_a_question_that_is_given_up_during_the_review_leaves_it() -> None:
    async def person(hands: Hands) -> None:
        await hands.type("Ada")
        await hands.press("ctrl+s", "ctrl+s")
        tasks[0].cancel()
        await asyncio.wait([tasks[0]])
        await hands.pilot.pause()
        assert "Who travels?" not in hands.screen
        await hands.press("ctrl+s")

    desk = Desk(person)
    tasks = [asyncio.create_task(desk.terminal.answer(asked)) for asked in (NAME, SURE)]
    async with asyncio.timeout(SECONDS):
        await asyncio.wait(tasks)
    assert not desk.hall.failures
    assert tasks[1].result() == Accepted({}, "round")


async def test_several_questions_of_a_flow_that_are_given_up_at_once_leave_the_rest() -> None:
    async def person(hands: Hands) -> None:
        for task in tasks[:2]:
            task.cancel()
        await sees(hands, "Shall I book it?", "Fjord Travel withdrew a question.")
        await hands.press("ctrl+s", "ctrl+s")

    desk = Desk(person)
    tasks = [asyncio.create_task(desk.terminal.answer(asked)) for asked in (NAME, DAYS, SURE)]
    async with asyncio.timeout(SECONDS):
        await asyncio.wait(tasks)
    assert not desk.hall.failures
    assert tasks[2].result() == Accepted({}, "round")


@pytest.mark.parametrize("asked", [NAME, visit(URL)], ids=["a form", "a visit"])
async def test_a_server_that_withdraws_the_last_question_gets_no_answer_before_the_user_sends_it(asked: Asked) -> None:
    async def person(hands: Hands) -> None:
        if asked is NAME:
            await hands.type("Ada")
        await hands.press("ctrl+s")
        assert "2 of 2" in hands.screen
        tasks[1].cancel()
        await sees(hands, "Nothing has been sent yet.")
        assert not tasks[0].done()
        assert desk.opened == []
        await hands.press("ctrl+q", "ctrl+q")

    desk = Desk(person)
    tasks = [asyncio.create_task(desk.terminal.answer(each)) for each in (asked, DAYS)]
    async with asyncio.timeout(SECONDS):
        await asyncio.wait(tasks)
    assert not desk.hall.failures
    assert isinstance(tasks[0].result(), Cancelled)
    assert desk.opened == []


async def test_what_next_accepts_is_reviewed_even_if_no_other_question_is_left() -> None:
    async def person(hands: Hands) -> None:
        tasks[1].cancel()
        await sees(hands, "Fjord Travel withdrew a question.", "Next ^S")
        await hands.type("Ada")
        await hands.press("ctrl+s")
        await sees(hands, "Nothing has been sent yet.")
        await hands.press("ctrl+s")

    desk = Desk(person)
    tasks = [asyncio.create_task(desk.terminal.answer(each)) for each in (NAME, DAYS)]
    async with asyncio.timeout(SECONDS):
        await asyncio.wait(tasks)
    assert not desk.hall.failures
    assert tasks[0].result() == Accepted({"name": "Ada"}, "round")


# --- visits --------------------------------------------------------------------------------------


async def test_the_whole_address_is_shown_with_its_domain_and_opened_after_consent() -> None:
    async def person(hands: Hands) -> None:
        assert URL in "".join(line.strip(" ▌") for line in hands.screen.splitlines())
        assert "Site: fjord-travel.co.uk" in hands.screen
        marked = [
            segment.text
            for strip in hands.app.screen._compositor.render_strips()
            for segment in strip
            if segment.style and segment.style.reverse
        ]
        assert marked == ["fjord-travel.co.uk"]
        await hands.press("enter", "space")
        assert desk.opened == []
        await hands.press("ctrl+s")

    desk = Desk(person)
    assert await desk.answer(visit(URL)) == [Accepted(None, "push")]
    assert desk.opened == [URL]
    assert desk.left == ["✓ Fjord Travel: Opened in your browser.\n"]


async def test_the_reason_for_a_visit_is_shown_above_it() -> None:
    async def person(hands: Hands) -> None:
        why, what = (hands.screen.find(text) for text in ("Your files are not connected yet.", "Please sign in"))
        assert 0 < why < what
        await hands.press("escape")

    await Desk(person).answer(replace(visit(URL), reason="Your files are not connected yet."))


@pytest.mark.parametrize(("key", "kind"), [("ctrl+d", Declined), ("escape", Cancelled), ("ctrl+c", Cancelled)])
async def test_nothing_opens_without_consent(key: str, kind: type) -> None:
    async def person(hands: Hands) -> None:
        await hands.press(key)

    desk = Desk(person)
    [outcome] = await desk.answer(visit(URL))
    assert isinstance(outcome, kind)
    assert desk.opened == []


async def test_without_a_browser_the_address_is_left_to_copy() -> None:
    async def person(hands: Hands) -> None:
        await hands.press("ctrl+s")

    desk = Desk(person, browser=False)
    assert await desk.answer(visit(URL)) == [Accepted(None, "push")]
    assert f"\n{URL}\n" in "".join(desk.left)


async def test_no_line_that_stays_begins_with_text_of_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal breaks a line that is too wide, and the server knows where."""

    async def person(hands: Hands) -> None:
        for _ in ("agree", "agree", "send"):
            await hands.press("ctrl+s")

    monkeypatch.setenv("COLUMNS", "80")
    desk = Desk(person)
    posing = f"Agree? {'─' * 38} ✓ Hotel: Opened in your browser."
    await desk.answer(*(form(message=posing, server="B" * 60, id=id) for id in ("1", "2")))
    lines = "".join(desk.left).splitlines()
    assert len(lines) > len(desk.left)
    assert all(cell_len(line) <= 80 and line.startswith(("✓ BBB", "  │ ")) for line in lines), lines


async def test_an_address_that_a_call_waits_for_has_no_mark_of_ours() -> None:
    async def person(hands: Hands) -> None:
        assert "✓" not in hands.screen
        assert "https://evil.example/aaa" in hands.screen
        await hands.press("escape")

    url = f"https://evil.example/{'a' * 54}✓──Done──{'─' * 70}✓──Sent"
    assert not await Desk(person).terminal.wait(Waiting([visit(url)], 1, 3))


async def test_an_address_can_be_copied() -> None:
    async def person(hands: Hands) -> None:
        await hands.press("ctrl+y")
        assert hands.app.clipboard == URL
        await hands.press("escape")

    await Desk(person).answer(visit(URL))


async def test_every_doubt_is_spelled_out() -> None:
    async def person(hands: Hands) -> None:
        for piece in ("The part before the @", "unusual port 8080", "plain http"):
            assert piece in hands.screen
        await hands.press("ctrl+d")

    await Desk(person).answer(visit("http://paypal.com@example.com:8080/"))


@pytest.mark.parametrize("url", ["javascript:alert(1)", "file:///etc/passwd", "https://exa\u202emple.com", "https://"])
async def test_what_cannot_be_opened_can_only_be_declined_or_cancelled(url: str) -> None:
    async def person(hands: Hands) -> None:
        assert "This address cannot be opened" in hands.screen
        assert "Open" not in hands.screen.splitlines()[-1]
        await hands.press("ctrl+s", "ctrl+y")
        assert "\u202e" not in hands.screen
        await hands.press("ctrl+d")

    desk = Desk(person)
    assert await desk.answer(visit(url)) == [Declined("push")]
    assert desk.opened == []


async def test_in_a_flow_an_address_opens_when_the_answers_are_sent() -> None:
    async def person(hands: Hands) -> None:
        await hands.press("ctrl+s", "ctrl+s")
        assert "✓ open" in hands.screen
        assert desk.opened == []
        await hands.press("ctrl+s")

    desk = Desk(person)
    assert await desk.answer(visit(URL), form(id="5")) == [Accepted(None, "push"), Accepted({}, "round")]
    assert desk.opened == [URL]


async def test_a_long_address_can_be_read_to_its_end_by_keys() -> None:
    async def person(hands: Hands) -> None:
        assert "Site: fjord-travel.co.uk" in hands.screen
        assert "It is very long" in hands.screen
        await hands.press("end")
        assert "THE-END" in hands.screen
        await hands.press("home")
        assert "THE-END" not in hands.screen
        await hands.press("escape")

    await Desk(person, size=(50, 15)).answer(visit(f"{URL}{'y' * 5_000}THE-END"))


# --- waiting for visits --------------------------------------------------------------------------


async def waited(desk: Desk, waiting: Waiting) -> bool:
    async with asyncio.timeout(SECONDS):
        result = await desk.terminal.wait(waiting)
    for failure in desk.hall.failures:
        raise failure
    return result


@pytest.mark.parametrize(("key", "again"), [("ctrl+s", True), ("escape", False), ("ctrl+c", False)])
async def test_while_a_call_waits_the_user_can_try_again_or_give_up(key: str, again: bool) -> None:
    async def person(hands: Hands) -> None:
        for piece in ("Please sign in  not done yet", URL[:40], "attempt 1 of 3", "Try again ^S"):
            assert piece in hands.screen
        assert re.search(r"waiting for \d+ s", hands.screen)
        waiting.complete("a")
        await hands.see("✓ Please sign in  done")
        assert "○ Then pay  not done yet" in hands.screen
        await hands.press(key)

    waiting = Waiting([visit(URL, id="a"), visit(URL, "Then pay", id="b")], 1, 3)
    desk = Desk(person)
    assert isinstance(desk.terminal, Waits)
    assert await waited(desk, waiting) is again


async def test_waiting_ends_when_it_is_cancelled() -> None:
    seen = asyncio.Event()

    async def person(hands: Hands) -> None:
        seen.set()

    desk = Desk(person)
    waiting = asyncio.create_task(desk.terminal.wait(Waiting([visit(URL)], 1, 3)))
    async with asyncio.timeout(SECONDS):
        await seen.wait()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting


async def test_a_question_is_asked_while_a_call_waits() -> None:
    seen = asyncio.Event()

    async def waits(hands: Hands) -> None:
        seen.set()

    async def answers(hands: Hands) -> None:
        await hands.type("Ada")
        await hands.press("ctrl+s")

    async def gives_up(hands: Hands) -> None:
        await hands.press("escape")

    desk = Desk(waits, answers, gives_up)
    waiting = asyncio.create_task(waited(desk, Waiting([visit(URL)], 1, 3)))
    async with asyncio.timeout(SECONDS):
        await seen.wait()
        assert await desk.answer(NAME) == [Accepted({"name": "Ada"}, "round")]
        assert await waiting is False
    assert [isinstance(app, WaitApp) for app in desk.hall.shown] == [True, False, True]


# --- without a form -----------------------------------------------------------------------------


class Prompts:
    """Stands for line prompts."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    async def answer(self, asked: Any) -> Any:
        self.asked.append(asked)
        return Declined()

    async def wait(self, waiting: Waiting) -> bool:
        self.asked.append(waiting)
        return True


async def test_a_plain_terminal_gets_line_prompts() -> None:
    prompts: Any = Prompts()
    terminal = Terminal(lines=prompts, place=lambda: "lines")
    waiting = Waiting([], 1, 3)
    assert await terminal.answer(NAME) == Declined()
    assert await terminal.wait(waiting) is True
    assert prompts.asked == [NAME, waiting]


async def test_without_a_terminal_questions_are_cancelled_with_a_notice() -> None:
    said: list[str] = []
    terminal = Terminal(place=lambda: "nowhere", write=said.append)
    outcome = await terminal.answer(NAME)
    assert outcome == Cancelled("round")
    assert outcome.unseen, "nobody decided, so a server may ask in another way"
    assert await terminal.wait(Waiting([], 1, 3)) is False
    assert said == ["✗ Fjord Travel: there is no terminal to ask at, so the question was cancelled.\n"]


async def test_a_form_that_fails_falls_back_to_line_prompts(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        async def show(self, app: Any) -> None:
            raise RuntimeError("out of order")

    prompts: Any = Prompts()
    terminal = Terminal(lines=prompts, place=lambda: "form", stage=Broken(), write=lambda text: None)
    async with asyncio.timeout(SECONDS):
        assert await asyncio.gather(terminal.answer(NAME), terminal.answer(DAYS)) == [Declined()] * 2
    assert prompts.asked == [NAME, DAYS]
    assert "Ada" not in caplog.text
