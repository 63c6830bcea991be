"""`midcall.testing` fails the tests that should fail."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import date
from typing import Any

import pytest

from midcall import (
    Accepted,
    Cancelled,
    CannotAsk,
    Choices,
    Declined,
    Form,
    Question,
    ask,
    ask_all,
    choose,
    confirm,
    secret,
    testing,
    visit,
)
from midcall.client import CannotConnect
from midcall.portal import Portal
from midcall.server.call import current_call
from midcall.testing import ERAS, Asked, Era
from tests.kinds import server_with


@dataclass
class Stay:
    arrive: date
    nights: int


async def falls_back() -> int:
    try:
        return await ask("How many?", int)
    except CannotAsk:
        return 4


@pytest.mark.parametrize("era", ERAS)
async def test_a_question_without_an_answer_fails_the_test_even_if_the_tool_continues(era: Era) -> None:
    with pytest.raises(AssertionError, match="no answer for 'How many\\?' \\(fields: answer\\)"):
        await testing.run(server_with(falls_back), "falls_back", {}, {"Something else": 1}, era=era)


@pytest.mark.parametrize("era", ERAS)
async def test_an_assertion_in_an_answer_function_fails_the_test(era: Era) -> None:
    def answer(asked: Asked) -> int:
        assert asked.message == "How few?"
        return 1

    with pytest.raises(AssertionError, match="How few"):
        await testing.run(server_with(falls_back), "falls_back", {}, answer, era=era)


@pytest.mark.parametrize("era", ERAS)
async def test_a_question_without_an_answer_fails_the_test_when_the_client_closes(era: Era) -> None:
    with pytest.raises(AssertionError, match="no answer for"):
        async with testing.connect(server_with(falls_back), era=era) as client:
            await client.call_tool("falls_back", {})


async def test_a_restarted_script_forgets_its_failure() -> None:
    script = testing.Script()
    async with testing.connect(server_with(falls_back), script, era="2025-11-25") as client:
        await client.call_tool("falls_back", {})
        assert script.failure is not None
        script.restart([3])
        await client.call_tool("falls_back", {})


@pytest.mark.parametrize("era", ["2025", "auto", "legacy", "", None])
async def test_an_unknown_version_is_rejected(era: Any) -> None:
    with pytest.raises(ValueError, match="era must be one of 2025-06-18, 2025-11-25, 2026-07-28, not"):
        await testing.run(server_with(falls_back), "falls_back", {}, [1], era=era)


async def test_an_object_that_is_not_a_server_is_named() -> None:
    with pytest.raises(TypeError, match="not int"):
        await testing.run(3, "falls_back")


async def stays() -> str:
    stay = await ask("When?", Stay)
    return f"{stay.arrive} {stay.nights}"


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("answers", "failure", "told"),
    [
        ({"When?": 3}, AssertionError, r"'When\?' must be a dict of its fields \(arrive, nights\), not 3"),
        (lambda asked: {}["no such"], KeyError, "no such"),
        ({"When?": {"arrive": object(), "nights": 1}}, Exception, "object"),
    ],
)
async def test_an_invalid_script_fails_the_test_not_the_tool(
    answers: Any, failure: type[Exception], told: str, era: Era
) -> None:
    with pytest.raises(failure, match=told):
        await testing.run(server_with(stays), "stays", {}, answers, era=era)


async def later(asked: Asked) -> dict[str, Any]:
    await asyncio.sleep(0)
    return {"arrive": "2026-05-01", "nights": 2}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    "answers",
    [
        {"arrive": "2026-05-01", "nights": 2},
        {"When?": {"arrive": date(2026, 5, 1), "nights": 2}},
        {"nights": {"arrive": "2026-05-01", "nights": 2}},
        {"arrive": Accepted({"arrive": "2026-05-01", "nights": 2}), "nights": 9},
        [{"arrive": date(2026, 5, 1), "nights": 2}],
        later,
    ],
)
async def test_a_form_is_answered_by_its_fields_by_python_values_and_by_async_functions(answers: Any, era: Era) -> None:
    assert (await testing.run(server_with(stays), "stays", {}, answers, era=era)).text == "2026-05-01 2"


@pytest.mark.parametrize("era", ERAS)
async def test_a_decline_under_a_field_name_declines_the_whole_form(era: Era) -> None:
    done = await testing.run(server_with(stays), "stays", {}, {"nights": Declined(), "arrive": "2026-05-01"}, era=era)
    assert "declined" in done.text


async def both() -> str:
    return " ".join(await ask_all(Question("Name?", str), Question("Town?", str)))


@pytest.mark.parametrize("no", [Declined(), Cancelled()])
async def test_a_decline_in_a_round_of_several_is_replayable_although_pushing_stops(no: Any) -> None:
    done = await testing.replayed(server_with(both), "both", {}, {"Name?": no, "Town?": "Oslo"})
    assert done.failed or "user" in done.text
    assert [asked.message for asked in done.asked] == ["Name?"]


async def asks_more_in_rounds() -> str:
    call = current_call.get()
    if call is not None and call.modern:
        await confirm("Really?")
    return " ".join(await ask_all(Question("Name?", str), Question("Town?", str)))


async def test_an_extra_question_is_detected_next_to_a_decline() -> None:
    answers = {"Name?": Declined(), "Town?": "Oslo", "Really?": True}
    with pytest.raises(testing.NotReplayable, match="Really"):
        await testing.replayed(server_with(asks_more_in_rounds), "asks_more_in_rounds", {}, answers)


async def test_an_unreachable_server_is_named() -> None:
    with pytest.raises(CannotConnect, match="no-such-command"):
        await testing.run("no-such-command --at all", "stays", era="2025-11-25")


async def test_an_unknown_mode_is_rejected() -> None:
    with pytest.raises(ValueError, match="forms"):
        await testing.run(server_with(stays), "stays", modes=("forms",))  # pyright: ignore[reportArgumentType]


async def knows() -> str:
    return f"{len(await secret('github', 'A token', check=begins_right))} characters"


async def begins_right(token: str) -> str | None:
    return None if token.startswith("ghp_") else "must begin with ghp_"


@pytest.mark.parametrize(
    ("secrets", "told"),
    [
        ((), "1 fields for secrets, and 0 were given"),
        (("ghp_1", "ghp_2"), "1 fields for secrets, and 2 were given"),
        (("x",), "rejected it: 422 .*must begin with ghp_"),
    ],
)
async def test_a_page_that_cannot_be_filled_in_fails_the_test(secrets: tuple[str, ...], told: str) -> None:
    server = server_with(knows, portal=Portal(), store="memory://")
    with pytest.raises(AssertionError, match=told):
        await testing.run(server, "knows", {}, lambda asked: testing.press(asked.url, "accept", *secrets))


@pytest.mark.parametrize("button", ["decline", "cancel"])
async def test_declining_on_a_page_needs_no_secret(button: Any) -> None:
    server = server_with(knows, portal=Portal(), store="memory://")
    done = await testing.run(server, "knows", {}, lambda asked: testing.press(asked.url, button))
    assert done.failed
    assert "the tool stopped" in done.text


async def test_a_page_can_be_pressed_only_once() -> None:
    async def twice(asked: Asked) -> None:
        await testing.press(asked.url, "accept", "ghp_1")
        await testing.press(asked.url, "accept", "ghp_2")

    server = server_with(knows, portal=Portal(), store="memory://")
    with pytest.raises(AssertionError, match="answered with 4"):
        await testing.run(server, "knows", {}, twice)


async def test_a_form_has_no_page_to_press() -> None:
    with pytest.raises(AssertionError, match="the question is a form"):
        await testing.run(server_with(falls_back), "falls_back", {}, lambda asked: testing.press(asked.url))


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    "answers", [{"choice": ["a", "b"]}, {"Which?": ["a", "b"]}, {"choice": [["a", "b"]]}, [{"choice": ["a", "b"]}]]
)
async def test_a_list_of_options_is_one_answer_to_a_multiple_choice(era: Era, answers: Any) -> None:
    async def tool() -> str:
        return ", ".join(await choose("Which?", ["a", "b", "c"], many=True))

    assert (await testing.run(server_with(tool), "tool", {}, answers, era=era)).text == "a, b"


@pytest.mark.parametrize("era", ERAS)
async def test_a_list_of_lists_answers_a_multiple_choice_several_times(era: Era) -> None:
    async def tool() -> str:
        form = Form(Choices("choice", ["a", "b", "c"], max_items=1))
        return ", ".join((await ask("Which?", form))["choice"])

    done = await testing.run(server_with(tool), "tool", {}, {"choice": [["a", "b"], ["c"]]}, era=era)
    assert done.text == "c"
    assert len(done.asked) == 2


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("answer", [2, "2", {"choice": 2}])
async def test_an_option_that_is_a_number_is_sent_as_its_text(era: Era, answer: Any) -> None:
    async def tool() -> str:
        return repr(await choose("How many?", [1, 2, 3]))

    assert (await testing.run(server_with(tool), "tool", {}, [answer], era=era)).text == "2"


async def quiet() -> str:
    return "asked nothing"


async def test_a_missing_tool_is_not_replayed() -> None:
    with pytest.raises(AssertionError, match="no tool 'qiuet'; it has: quiet"):
        await testing.replayed(server_with(quiet), "qiuet")


async def test_false_does_not_agree_to_a_visit() -> None:
    async def tool() -> str:
        return await visit("Go?", "https://example.com/")

    with pytest.raises(AssertionError, match="Declined"):
        await testing.run(server_with(tool), "tool", {}, {"Go?": False})


@pytest.mark.parametrize("answers", [None, "yes", 3])
async def test_an_invalid_script_error_says_what_a_script_is(answers: Any) -> None:
    with pytest.raises(TypeError, match="a mapping by message or field, a list, or a function"):
        await testing.run(server_with(quiet), "quiet", {}, answers)
