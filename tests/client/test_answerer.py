from __future__ import annotations

import logging
from typing import Any

import anyio
import pytest

from midcall.client import CannotAnswer, connect
from midcall.client.guard import Guard
from midcall.client.transport import intake
from midcall.core.outcome import Accepted, Cancelled, Declined
from tests.client.answerers import Answers
from tests.client.raw import MODERN, Raw, final, form, round_of, told
from tests.rounds import text

ANN = Accepted({"name": "Ann"})


async def pushed(answerer: Any, version: str = "2025-11-25", **params: Any) -> dict[str, Any]:
    """What the client says to this question."""
    said: list[dict[str, Any]] = []

    async def handle(raw: Raw, call: dict[str, Any]) -> dict[str, Any]:
        said.append(await raw.ask(**params))
        return told()

    async with connect(Raw(handle, version).transport(), answerer) as client:
        await client.call_tool("it")
    return said[0]


async def in_a_round(answerer: Any, questions: dict[str, Any], state: str | None = None) -> dict[str, Any]:
    """The params of the retry, after a round that asks these."""

    async def handle(raw: Raw, call: dict[str, Any]) -> dict[str, Any]:
        return final() if "inputResponses" in call or "requestState" in call else round_of(questions, state)

    raw = Raw(handle, MODERN)
    async with connect(raw.transport(), answerer) as client:
        await client.call_tool("it")
    return raw.calls()[-1]


@pytest.mark.parametrize(
    ("outcome", "result"),
    [
        (ANN, {"action": "accept", "content": {"name": "Ann"}}),
        (Declined(), {"action": "decline", "_meta": {"midcall/decided": True}}),
        (Cancelled(), {"action": "cancel", "_meta": {"midcall/decided": True}}),
        (Cancelled(unseen=True), {"action": "cancel"}),
    ],
)
async def test_an_outcome_reaches_the_server_as_what_it_is(outcome: Any, result: Any) -> None:
    assert (await pushed(Answers(lambda asked: outcome), **form()))["result"] == result
    assert (await in_a_round(Answers(lambda asked: outcome), {"a": form()}))["inputResponses"] == {"a": result}


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
async def test_a_missing_mode_means_form(version: str) -> None:
    answerer = Answers(lambda asked: ANN)
    await pushed(answerer, version, **form())
    [asked] = answerer.asked
    assert (asked.mode, asked.message) == ("form", "Your name?")
    assert asked.form is not None
    assert asked.form.names == ("name",)


async def test_the_answerer_knows_who_asks_and_how_the_question_came() -> None:
    answerer = Answers(lambda asked: ANN)
    await pushed(answerer, **form())
    await in_a_round(answerer, {"who": form()})
    push, in_round = answerer.asked
    assert (push.server, push.server_version, push.via, push.protocol) == ("Raw server", "7", "push", "2025-11-25")
    assert (in_round.server, in_round.via, in_round.protocol, in_round.key) == ("Raw server", "round", MODERN, "who")


async def test_the_answerer_gets_what_the_server_sent_along() -> None:
    answerer, sent = Answers(lambda asked: ANN), {"example.com/trace": ["a", {"b": 1}]}
    await pushed(answerer, **form(), _meta={**sent, "progressToken": 7})
    await in_a_round(answerer, {"who": {**form(), "_meta": sent}, "why": form()})
    assert [asked.meta for asked in answerer.asked] == [sent, sent, {}]
    assert len(set(answerer.asked)) == 3  # it can be a key


async def test_an_empty_form_is_a_plain_yes_or_no() -> None:
    answerer = Answers(lambda asked: Accepted({}))
    empty = {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}}
    assert (await pushed(answerer, **empty))["result"] == {"action": "accept", "content": {}}
    assert answerer.asked[0].form is None


MALFORMED: dict[str, dict[str, Any]] = {
    "an unknown mode": {"mode": "smoke", "message": "?"},
    "no message": {"mode": "form", "requestedSchema": {"type": "object", "properties": {}}},
    "a message that is not text": {"message": 7, "requestedSchema": {"type": "object", "properties": {}}},
    "a form in a form": form(a={"type": "object", "properties": {"b": {"type": "string"}}}),
    "a visit without an address": {"mode": "url", "message": "Go", "elicitationId": "1"},
    "a javascript: URL": {"mode": "url", "message": "Go", "elicitationId": "1", "url": "javascript:alert(1)"},
    "an address with a hidden part": {
        "mode": "url",
        "message": "Go",
        "elicitationId": "1",
        "url": "https://a\u202eb.c",
    },
}


@pytest.mark.parametrize("params", MALFORMED.values(), ids=list(MALFORMED))
async def test_a_malformed_question_that_is_pushed_is_refused_with_32602(params: dict[str, Any]) -> None:
    answerer = Answers()
    assert (await pushed(answerer, **params))["error"]["code"] == -32602
    assert answerer.asked == []


@pytest.mark.parametrize("params", MALFORMED.values(), ids=list(MALFORMED))
async def test_a_malformed_question_in_a_round_is_cancelled_and_the_others_continue(params: dict[str, Any]) -> None:
    answerer = Answers(lambda asked: ANN)
    retry = await in_a_round(answerer, {"good": form(), "bad": params, "better": form("And yours?")}, "state")
    accepted = {"action": "accept", "content": {"name": "Ann"}}
    assert retry["inputResponses"] == {"good": accepted, "bad": {"action": "cancel"}, "better": accepted}
    assert [asked.message for asked in answerer.asked] == ["Your name?", "And yours?"]


@pytest.mark.parametrize(
    ("params", "fault"),
    [
        ({"message": "Name?"}, "requestedSchema: Field required"),
        ({"message": "Name?", "requestedSchema": 3}, "requestedSchema: Input should be"),
        ({"mode": "url", "message": "Go", "elicitationId": "1"}, "url: Field required"),
        ({"mode": "smoke", "message": "?"}, "mode: must be 'form' or 'url'"),
    ],
    ids=["no schema", "no object", "no address", "no such mode"],
)
async def test_the_refusal_of_a_malformed_question_says_what_is_wrong(
    params: dict[str, Any], fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    error = (await pushed(Answers(), **params))["error"]
    assert error["message"].startswith(
        f"Raw server asked something that cannot be shown: the question is malformed ({fault}"
    )
    caplog.clear()
    await in_a_round(Answers(lambda asked: ANN), {"bad": params}, "state")
    assert f"the question is malformed ({fault}" in caplog.text


@pytest.mark.parametrize("extra", [{}, {"content": []}, {"inputRequests": {}}], ids=["bare", "content", "no questions"])
async def test_a_round_without_questions_is_not_a_result(
    extra: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "MAX_BUSY_SECONDS", 0.0)
    rounds = iter(range(12))

    async def handle(raw: Raw, call: dict[str, Any]) -> dict[str, Any]:
        busy = next(rounds, None)
        return final() if busy is None else {"resultType": "input_required", "requestState": f"{busy}", **extra}

    raw = Raw(handle, MODERN)
    async with connect(raw.transport(), Answers()) as client:
        result = await client.call_tool("it")
    assert text(result) == "done"
    assert [call.get("requestState") for call in raw.calls()[1:]] == [f"{busy}" for busy in range(12)]


async def test_a_mode_that_was_not_declared_is_refused() -> None:
    forms_only = Answers(lambda asked: ANN, modes=("form",))
    visit = {"mode": "url", "message": "Go", "url": "https://example.com/", "elicitationId": "1"}
    assert (await pushed(forms_only, **visit))["error"]["code"] == -32602
    retry = await in_a_round(forms_only, {"a": {k: v for k, v in visit.items() if k != "elicitationId"}, "b": form()})
    assert {key: value["action"] for key, value in retry["inputResponses"].items()} == {"a": "cancel", "b": "accept"}
    assert [asked.mode for asked in forms_only.asked] == ["form"]


async def test_a_version_without_visits_sends_none() -> None:
    visit = {"mode": "url", "message": "Go", "url": "https://example.com/", "elicitationId": "1"}
    assert (await pushed(Answers(), "2025-06-18", **visit))["error"]["code"] == -32602


@pytest.mark.parametrize("state", ["", "{}", "e30=\n\t", 'ÿ"\\ \u2028 \U0001f600', "x" * 100_000])
async def test_the_state_is_echoed_exactly(state: str) -> None:
    retry = await in_a_round(Answers(lambda asked: ANN), {"a": form()}, state)
    assert retry["requestState"] == state


async def test_a_round_without_a_state_is_answered_without_one() -> None:
    assert "requestState" not in await in_a_round(Answers(lambda asked: ANN), {"a": form()})


async def test_a_result_that_does_not_say_what_it_is_is_complete() -> None:
    async def handle(raw: Raw, call: dict[str, Any]) -> dict[str, Any]:
        return told("here")

    async with connect(Raw(handle, MODERN).transport(), Answers()) as client:
        assert text(await client.call_tool("it")) == "here"


async def test_an_answer_that_does_not_fit_never_leaves(caplog: pytest.LogCaptureFixture) -> None:
    answerer = Answers(lambda asked: Accepted({"name": "hunter2"}))
    response = await pushed(answerer, **form(name={"type": "string", "maxLength": 3}))
    assert response["result"] == {"action": "cancel"}
    assert "name: too_long" in caplog.text
    assert "hunter2" not in caplog.text


async def test_an_answerer_that_fails_cancels_its_question_alone(caplog: pytest.LogCaptureFixture) -> None:
    def answer(asked: Any) -> Any:
        if asked.key == "bad":
            raise RuntimeError("hunter2")
        return ANN

    retry = await in_a_round(Answers(answer), {"bad": form(), "good": form()})
    assert {key: value["action"] for key, value in retry["inputResponses"].items()} == {
        "bad": "cancel",
        "good": "accept",
    }
    assert "RuntimeError in test_answerer.py, line" in caplog.text
    assert "hunter2" not in caplog.text


RETURNS = "Return Accepted(content) with a dict, Declined() or Cancelled()"
NO_OUTCOMES: dict[str, tuple[Any, str]] = {
    "a dict": ({"name": "hunter2"}, f"its answerer returned dict. {RETURNS}"),
    "None": (None, f"its answerer returned None. {RETURNS}"),
    "a number as content": (Accepted(5), "returned Accepted with int. The content of Accepted(content) is a dict"),
    "an empty list as content": (Accepted([]), "returned Accepted with list. The content of Accepted(content) is"),
}


@pytest.mark.parametrize(("returned", "told"), NO_OUTCOMES.values(), ids=list(NO_OUTCOMES))
@pytest.mark.parametrize("around", [lambda answerer: answerer, Guard], ids=["alone", "guarded"])
async def test_an_answerer_that_returns_no_outcome_cancels_and_the_log_says_what_one_returns(
    returned: Any, told: str, around: Any, caplog: pytest.LogCaptureFixture
) -> None:
    answerer = around(Answers(lambda asked: returned))
    assert (await pushed(answerer, **form()))["result"] == {"action": "cancel"}
    assert (await in_a_round(answerer, {"a": form()}))["inputResponses"] == {"a": {"action": "cancel"}}
    assert told in caplog.text
    assert "hunter2" not in caplog.text


@pytest.mark.parametrize("around", [lambda answerer: answerer, Guard], ids=["alone", "guarded"])
async def test_an_answerer_that_is_not_async_cancels_and_is_logged(
    around: Any, caplog: pytest.LogCaptureFixture
) -> None:
    class Plain:
        def answer(self, asked: Any) -> Any:
            return ANN

    assert (await pushed(around(Plain()), **form()))["result"] == {"action": "cancel"}
    assert "Make it async: async def answer(self, asked)" in caplog.text


async def test_an_answerer_can_end_a_pushed_question_with_its_own_error() -> None:
    def answer(asked: Any) -> Any:
        raise CannotAnswer("no answer for this one")

    error = (await pushed(Answers(answer), **form()))["error"]
    assert "no answer for this one" in error["message"]


async def test_in_a_round_such_an_error_is_a_cancel_so_that_the_others_are_sent() -> None:
    def answer(asked: Any) -> Any:
        if asked.key == "bad":
            raise CannotAnswer("no answer for this one")
        return ANN

    retry = await in_a_round(Answers(answer), {"bad": form(), "good": form()})
    assert retry["inputResponses"]["bad"] == {"action": "cancel"}
    assert retry["inputResponses"]["good"]["action"] == "accept"


async def test_a_question_that_nobody_answers_in_time_is_cancelled(caplog: pytest.LogCaptureFixture) -> None:
    async def never(asked: Any) -> Any:
        await anyio.sleep_forever()

    async def handle(raw: Raw, call: dict[str, Any]) -> dict[str, Any]:
        return told((await raw.ask(**form()))["result"]["action"])

    answerer = Answers(never)
    caplog.set_level(logging.WARNING)
    async with connect(Raw(handle).transport(), answerer, timeout=0.05) as client:
        result = await client.call_tool("it")
    assert result.content[0].text == "cancel"
    assert answerer.asked[0].deadline is not None
    assert "nobody answered within 0.05 s" in caplog.text


async def test_a_timeout_of_the_answerers_own_is_not_taken_for_ours(caplog: pytest.LogCaptureFixture) -> None:
    def answer(asked: Any) -> Any:
        raise TimeoutError

    assert (await pushed(Answers(answer), **form()))["result"] == {"action": "cancel"}
    assert "failed with TimeoutError" in caplog.text
