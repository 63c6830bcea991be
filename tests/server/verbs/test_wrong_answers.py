"""Invalid and missing answers."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from mcp import MCPError
from mcp.client.session import ClientRequestContext
from mcp_types import (
    INVALID_PARAMS,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
)
from pydantic import Field

from midcall import (
    Cancelled,
    ClientFailed,
    Declined,
    InvalidAnswer,
    Question,
    UserCancelled,
    UserDeclined,
    ask,
    ask_all,
    complete,
    elicit,
    visit,
)
from midcall.server.resuming import visits
from midcall.testing import ERAS, Era, Script, connect, run
from tests.kinds import KINDS, Kind, server_with
from tests.rounds import accept, raw_call, text
from tests.server.codes import code_of
from tests.server.verbs.test_asking import book


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
async def test_an_answer_that_does_not_fit_is_asked_again_with_the_problem_named(kind: Kind, era: Era) -> None:
    answers = [{"destination": "Oslo", "days": 99}, {"destination": "Oslo"}, {"destination": "Oslo", "days": 3}]
    done = await run(server_with(book, kind=kind), "book", {}, answers, era=era)
    assert done.text == "3 days in Oslo"
    messages = [question.message for question in done.asked]
    assert messages[0] == "Where to?"
    assert "Days: must be at most 30" in messages[1]
    assert "Days: is required" in messages[2]
    if era != "2025-06-18":
        again = done.asked[1].schema
        assert again
        assert again["properties"]["destination"]["default"] == "Oslo"
        assert "default" not in again["properties"]["days"]


@pytest.mark.parametrize("era", ERAS)
async def test_after_the_last_attempt_it_fails_with_a_clear_error(era: Era) -> None:
    found: list[InvalidAnswer] = []

    async def tool() -> str:
        try:
            return str(await ask("Age?", Annotated[int, Field(ge=18)], attempts=2))
        except InvalidAnswer as exc:
            found.append(exc)
            raise

    done = await run(server_with(tool), "tool", {}, [3, 4, 5], era=era)
    assert done.failed
    assert len(done.asked) == 2
    assert [problem.code for problem in found[-1].problems]
    assert "asked 2 times" in str(found[-1])


async def test_missing_answers_are_asked_again_and_extra_ones_ignored() -> None:
    async def tool() -> str:
        return " ".join(await ask_all(Question("a?", str, key="a"), Question("b?", str, key="b")))

    async with connect(server_with(tool)) as client:
        first = await raw_call(client, "tool", {})
        answers = {"b": accept(answer="2"), "zzz": accept(answer="9"), "?nobody": 17}
        second = await raw_call(client, "tool", {}, state=first["requestState"], answers=answers)
        assert list(second["inputRequests"]) == ["a"]
        third = await raw_call(
            client, "tool", {}, state=second["requestState"], answers={"a": accept(answer="1"), "b": accept(answer="X")}
        )
        assert text(third) == "1 2"


@pytest.mark.parametrize(
    "answer",
    [17, None, [], "yes", {}, {"action": "maybe"}, {"action": 3}, {"action": "accept", "content": [1]}],
)
async def test_a_malformed_answer_is_a_protocol_error(answer: Any) -> None:
    async with connect(server_with(book)) as client:
        first = await raw_call(client, "book", {})
        [key] = first["inputRequests"]
        with pytest.raises(MCPError) as caught:
            await raw_call(client, "book", {}, state=first["requestState"], answers={key: answer})
        assert caught.value.code == INVALID_PARAMS
        done = await raw_call(
            client, "book", {}, state=first["requestState"], answers={key: accept(destination="Oslo", days=1)}
        )
        assert text(done) == "1 days in Oslo"


async def test_reject_is_read_as_decline_and_content_counts_only_on_accept() -> None:
    async def tool() -> str:
        return type(await elicit("?", str)).__name__

    async with connect(server_with(tool)) as client:
        for answer, expected in (
            ({"action": "reject"}, "Declined"),
            ({"action": "decline", "content": {"answer": "x"}}, "Declined"),
            ({"action": "cancel", "content": 17}, "Cancelled"),
        ):
            first = await raw_call(client, "tool", {})
            [key] = first["inputRequests"]
            done = await raw_call(client, "tool", {}, state=first["requestState"], answers={key: answer})
            assert text(done) == expected


async def test_a_client_that_answers_with_an_error_is_reported_as_not_asked() -> None:
    async def broken(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        return ErrorData(code=-32603, message="no window")

    async def tool() -> str:
        try:
            return await ask("?", str)
        except ClientFailed as exc:
            return str(exc)

    from mcp import Client

    async with Client(server_with(tool), mode="legacy", elicitation_callback=broken) as client:
        assert "no window" in text(await client.call_tool("tool"))


@pytest.mark.parametrize(
    ("way", "asked"), [({"era": "2025-11-25"}, 1), ({}, 2), ({"one_by_one": True}, 1)], ids=["pushed", "rounds", "one"]
)
@pytest.mark.parametrize("attempts", [1, 3])
async def test_after_a_decline_nobody_is_asked_to_correct_the_other_answers(
    attempts: int, way: dict[str, Any], asked: int
) -> None:
    async def tool() -> str:
        try:
            return str(await ask_all(Question("Name?", str), Question("Age?", int, attempts=attempts)))
        except UserDeclined:
            return "declined"

    done = await run(server_with(tool), "tool", {}, {"Name?": Declined(), "Age?": ["old", 7]}, **way)
    assert done.text == "declined"
    assert len(done.asked) == asked


@pytest.mark.parametrize("way", [{"era": "2025-11-25"}, {}, {"one_by_one": True}], ids=str)
async def test_after_a_decline_no_correction_is_asked_even_if_the_invalid_answer_came_first(
    way: dict[str, Any],
) -> None:
    async def tool() -> str:
        try:
            return str(await ask_all(Question("Age?", int), Question("Name?", str)))
        except UserDeclined:
            return "declined"

    done = await run(server_with(tool), "tool", {}, {"Name?": Declined(), "Age?": ["old", 7]}, **way)
    assert done.text == "declined"
    assert len(done.asked) == 2


@pytest.mark.parametrize("way", [{"era": "2025-11-25"}, {}, {"one_by_one": True}], ids=str)
@pytest.mark.parametrize("attempts", [1, 2, 3])
async def test_after_a_decline_no_correction_is_asked_even_if_the_tool_continues(
    way: dict[str, Any], attempts: int
) -> None:
    async def tool() -> str:
        try:
            await ask_all(Question("Age?", int, attempts=attempts), Question("Name?", str), Question("Town?", str))
        except UserDeclined:
            return f"{await ask('Why not?', str)} {await ask('Really?', str)}"
        return "answered"

    answers = {"Age?": "old", "Name?": Declined(), "Town?": "Oslo", "Why not?": "so", "Really?": "yes"}
    done = await run(server_with(tool), "tool", {}, answers, **way)
    assert done.text == "so yes"
    asked = [asked.message for asked in done.asked if asked.message != "Town?"]
    assert asked == ["Age?", "Name?", "Why not?", "Really?"]


@pytest.mark.parametrize("way", [{"era": "2025-11-25"}, {}, {"one_by_one": True}], ids=str)
@pytest.mark.parametrize("no", [Declined(), Cancelled()], ids=["declined", "cancelled"])
async def test_the_no_that_ends_several_questions_is_the_users_own(way: dict[str, Any], no: Any) -> None:
    async def tool() -> str:
        try:
            await ask_all(Question("Age?", int), Question("Name?", str), Question("Town?", str))
        except (UserDeclined, UserCancelled) as exc:
            return f"{type(exc).__name__} {await ask('Why not?', str)}"
        return "answered"

    answers = {"Age?": 7, "Name?": no, "Town?": "Oslo", "Why not?": "so"}
    done = await run(server_with(tool), "tool", {}, answers, **way)
    assert done.text == f"User{type(no).__name__} so"


async def test_a_pushed_question_skipped_after_a_decline_is_not_asked_when_the_call_resumes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(visits, "HOLD_SECONDS", 0.01)

    async def tool() -> str:
        try:
            await ask_all(Question("Name?", str), Question("Town?", str))
        except UserDeclined:
            pass
        await visit("Go", "https://example.com/x", wait=True, id="v1")
        return "arrived"

    script = Script({"Name?": Declined(), "Town?": "Oslo", "Go": True})
    server = server_with(tool, store="memory://")
    async with connect(server, script, era="2025-11-25") as client:
        code = code_of(await client.call_tool("tool", {}))
        await complete("v1")
        assert text(await client.call_tool("midcall_continue", {"code": code})) == "arrived"
    assert [asked.message for asked in script.asked] == ["Name?", "Go"]
