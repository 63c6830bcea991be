from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client
from mcp.server.mcpserver import MCPServer

import midcall
from midcall import Question, ask_all, visit
from midcall.client.answerer import Answerer, modes_of
from midcall.client.asked import Asked, FormQuestion, VisitQuestion
from midcall.client.connection.callback import callback
from midcall.client.connection.connect import Era, connect
from midcall.client.pending import Change, DoesNotFit, NotPending, Pending
from midcall.core.forms.fields import Choices, Number, Text
from midcall.core.forms.form import Form
from midcall.core.outcome import Accepted, Cancelled, Declined, Outcome
from midcall.errors import MalformedAnswer
from tests.core.strategies import forms

DAYS = Form(Number("days", title="Days", integer=True, minimum=1), Text("note", required=False))


def question(id: str = "q", form: Form | None = DAYS) -> Asked:
    return Asked(FormQuestion("How long?", form), id, "travel")


def a_visit(id: str = "v") -> Asked:
    return Asked(VisitQuestion("Sign in.", "https://example.com/", "e1"), id, "travel")


async def begun(pending: Pending, *asked: Asked) -> list[asyncio.Task[Outcome[Any]]]:
    """These questions are being asked."""
    tasks = [asyncio.create_task(pending.answer(each)) for each in asked]
    while any(pending.get(each.id) is None for each in asked):
        await asyncio.sleep(0)
    return tasks


async def next_of(stream: AsyncIterator[Any]) -> Any:
    async with asyncio.timeout(10):
        return await anext(stream)


# --- answering -------------------------------------------------------------------------------


async def test_a_question_waits_until_it_is_answered() -> None:
    pending = Pending()
    [task] = await begun(pending, question())
    assert pending.open == (question(),)
    pending.accept("q", {"days": 3})
    assert await task == Accepted({"days": 3})
    assert pending.open == ()


@pytest.mark.parametrize(("verb", "outcome"), [("decline", Declined()), ("cancel", Cancelled())])
async def test_a_question_can_be_declined_and_cancelled(verb: str, outcome: object) -> None:
    pending = Pending()
    [task] = await begun(pending, question())
    getattr(pending, verb)("q")
    assert await task == outcome


async def test_content_that_does_not_fit_is_refused_with_all_problems_and_the_question_stays_open() -> None:
    pending = Pending()
    [task] = await begun(pending, question())
    with pytest.raises(DoesNotFit, match="days: must be at least 1; note: must be text") as refused:
        pending.accept("q", {"days": 0, "note": 7})
    assert refused.value.as_data() == [
        {"field": "days", "code": "too_small", "message": "must be at least 1"},
        {"field": "note", "code": "type", "message": "must be text"},
    ]
    assert pending.open == (question(),)
    pending.accept("q", {"days": 1})
    assert await task == Accepted({"days": 1})


@pytest.mark.parametrize("content", [[], "days", 7, {"days": "3"}, {}])
async def test_nothing_but_a_fitting_object_is_taken(content: Any) -> None:
    pending = Pending()
    [task] = await begun(pending, question())
    with pytest.raises(DoesNotFit):
        pending.accept("q", content)
    pending.cancel("q")
    await task


async def test_what_only_means_empty_and_what_was_not_asked_is_left_out() -> None:
    pending = Pending()
    [task] = await begun(pending, question())
    pending.accept("q", {"days": 2, "note": None, "other": "secret"})
    assert await task == Accepted({"days": 2})


async def test_an_answer_counts_once() -> None:
    pending = Pending()
    [task] = await begun(pending, question())
    pending.accept("q", {"days": 1})
    with pytest.raises(NotPending, match="no question with the id 'q' is open"):
        pending.decline("q")
    assert await task == Accepted({"days": 1})
    for id in ("q", "never"):
        with pytest.raises(NotPending) as refused:
            pending.accept(id, {"days": 1})
        assert refused.value.id == id


async def test_questions_are_answered_in_any_order_and_kept_in_theirs() -> None:
    pending = Pending()
    tasks = await begun(pending, *(question(id) for id in "abc"))
    pending.accept("b", {"days": 2})
    assert [asked.id for asked in pending.open] == ["a", "c"]
    pending.accept("c", {"days": 3})
    pending.accept("a", {"days": 1})
    assert [(await task).value["days"] for task in tasks] == [1, 2, 3]  # type: ignore[union-attr]


async def test_a_visit_is_agreed_to_without_content_and_a_form_without_fields_with_none() -> None:
    pending = Pending()
    visiting, bare = await begun(pending, a_visit(), question("bare", None))
    pending.accept("v", {"ignored": True})
    pending.accept("bare")
    assert await visiting == Accepted(None)
    assert await bare == Accepted({})


async def test_the_outcome_says_how_the_question_came() -> None:
    pending = Pending()
    [task] = await begun(pending, Asked(FormQuestion("?", DAYS), "q", via="round"))
    pending.accept("q", {"days": 1})
    assert (await task).via == "round"


# --- as data ---------------------------------------------------------------------------------


async def test_answers_come_in_as_json() -> None:
    pending = Pending()
    tasks = await begun(pending, *(question(id) for id in "abc"))
    for line in (
        '{"id": "a", "action": "accept", "content": {"days": 4}}',
        '{"id": "b", "action": "decline"}',
        '{"id": "c", "action": "cancel", "content": null}',
    ):
        pending.receive(json.loads(line))
    assert [await task for task in tasks] == [Accepted({"days": 4}), Declined(), Cancelled()]


@pytest.mark.parametrize(
    "data",
    [None, [], "accept", {}, {"id": "q"}, {"id": 7, "action": "accept"}, {"id": "q", "action": "yes"}, {"action": 1}],
)
async def test_an_invalid_answer_is_refused_and_changes_nothing(data: object) -> None:
    pending = Pending()
    [task] = await begun(pending, question())
    with pytest.raises(MalformedAnswer, match="this is not an answer to a question"):
        pending.receive(data)
    assert pending.open == (question(),)
    pending.cancel("q")
    await task


json_data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "action", "content", "days"]) | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=8,
)


@given(json_data, json_data)
def test_no_data_breaks_it(data: Any, content: Any) -> None:
    async def try_it() -> None:
        pending = Pending()
        [task] = await begun(pending, question())
        for sent in (data, {"id": "q", "action": "accept", "content": content}):
            try:
                pending.receive(sent)
            except (MalformedAnswer, NotPending, DoesNotFit):
                pass
        pending.close()
        assert isinstance(await task, Accepted | Declined | Cancelled)

    asyncio.run(try_it())


@given(forms, st.text(), st.text(min_size=1), st.none() | st.datetimes(timezones=st.just(UTC)))
def test_a_question_survives_the_way_through_json(form: Form, message: str, id: str, deadline: datetime | None) -> None:
    asked = Asked(FormQuestion(message, form), id, "travel", "1.0", "round", "2026-07-28", deadline)
    back = Asked.from_data(json.loads(json.dumps(asked.as_data())))
    assert back.form is not None
    assert back.form.schema() == form.schema()
    assert (back.message, back.id, back.server, back.deadline) == (message, id, "travel", deadline)
    required = replace(a_visit(), via="required", reason=message)
    assert Asked.from_data(json.loads(json.dumps(required.as_data()))) == required


def test_what_the_server_sent_along_survives_the_way_through_json() -> None:
    asked = replace(a_visit(), meta={"example.com/trace": ["a", {"b": 1}]})
    assert Asked.from_data(json.loads(json.dumps(asked.as_data()))).meta == asked.meta


def test_two_servers_of_one_name_stay_apart_on_the_way_through_json() -> None:
    asked = replace(a_visit(), connection="c7")
    assert Asked.from_data(json.loads(json.dumps(asked.as_data()))).sender == "c7"


# --- who is told -----------------------------------------------------------------------------


async def test_iterating_gives_what_is_open_and_then_what_comes() -> None:
    pending = Pending()
    tasks = await begun(pending, question("a"), question("b"))
    stream = aiter(pending)
    assert [(await next_of(stream)).id, (await next_of(stream)).id] == ["a", "b"]
    coming = asyncio.create_task(next_of(stream))
    tasks += await begun(pending, question("c"))
    assert (await coming).id == "c"
    pending.close()
    with pytest.raises(StopAsyncIteration):
        await next_of(stream)
    assert await asyncio.gather(*tasks) == [Cancelled()] * 3


async def test_every_listener_gets_all_changes() -> None:
    pending = Pending()
    streams = [pending.changes(), pending.changes()]
    hearing = [asyncio.create_task(next_of(stream)) for stream in streams]
    await asyncio.sleep(0)
    tasks = await begun(pending, question("a"), question("b"))
    assert [(await each) for each in hearing] == [Change("opened", question("a"))] * 2
    for stream in streams:
        assert await next_of(stream) == Change("opened", question("b"))
    pending.accept("a", {"days": 1})
    tasks[1].cancel()
    await asyncio.wait(tasks)
    for stream in streams:
        told = [(await next_of(stream)).as_data(), (await next_of(stream)).as_data()]
        assert told == [{"change": "answered", "id": "a", "action": "accept"}, {"change": "withdrawn", "id": "b"}]
        await stream.aclose()


async def test_changes_have_the_question_and_never_the_answer() -> None:
    pending = Pending()
    [task] = await begun(pending, question())
    stream = pending.changes()
    opened = await next_of(stream)
    assert json.loads(json.dumps(opened.as_data()))["question"]["schema"] == DAYS.schema()
    pending.accept("q", {"days": 77})
    assert "77" not in json.dumps((await next_of(stream)).as_data())
    await stream.aclose()
    await task


async def test_a_question_that_is_given_up_is_gone_and_cannot_be_answered() -> None:
    pending = Pending()
    [task] = await begun(pending, question())
    task.cancel()
    await asyncio.wait([task])
    assert pending.open == ()
    with pytest.raises(NotPending):
        pending.accept("q", {"days": 1})


async def test_a_slow_listener_skips_what_came_and_went_and_keeps_nothing_of_it() -> None:
    pending = Pending(limit=10)
    stream = pending.changes()
    [first] = await begun(pending, question("first"))
    assert (await next_of(stream)).asked.id == "first"
    for number in range(2_000):
        [task] = await begun(pending, question(str(number)))
        pending.decline(str(number))
        await task
    [reader] = pending._readers
    assert len(reader.changes) == 0
    pending.cancel("first")
    assert (await next_of(stream)).kind == "answered"
    await stream.aclose()
    assert not pending._readers
    await first


# --- limits ----------------------------------------------------------------------------------


async def test_beyond_the_limit_questions_are_cancelled_never_declined_and_reported_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    pending = Pending(limit=100)
    with caplog.at_level(logging.WARNING, "midcall.client"):
        tasks = [asyncio.create_task(pending.answer(question(str(number)))) for number in range(10_000)]
        async with asyncio.timeout(20):
            await asyncio.wait(tasks[100:])
    assert len(pending.open) == 100
    assert pending.turned_away == 9_900
    assert all(task.result() == Cancelled() for task in tasks[100:])
    [record] = caplog.records
    assert "questions of travel are being cancelled: 100 are open" in record.getMessage()
    pending.close()
    assert await asyncio.gather(*tasks[:100]) == [Cancelled()] * 100


async def test_after_closing_everything_is_cancelled_at_once() -> None:
    pending = Pending()
    pending.close()
    assert await pending.answer(question()) == Cancelled()
    assert [asked async for asked in pending] == []


async def test_one_id_is_one_question() -> None:
    pending = Pending()
    [task] = await begun(pending, question())
    with pytest.raises(ValueError, match="is already open"):
        await pending.answer(question())
    assert pending.open == (question(),)
    pending.close()
    await task


def test_it_is_an_answerer_and_declares_the_modes_that_it_was_given() -> None:
    assert isinstance(Pending(), Answerer)
    assert modes_of(Pending()) == ("form", "url")
    assert modes_of(Pending(modes=["form"])) == ("form",)


# --- with a real server ----------------------------------------------------------------------


def trips() -> MCPServer[Any]:
    server = MCPServer[Any]("trips")
    midcall.install(server)

    @server.tool()
    async def plan() -> str:
        days, extras = await ask_all(
            Question("How long?", int), Question("What else?", Form(Choices("extras", ["bike", "guide"])))
        )
        await visit("Sign in.", "https://example.com/sign-in")
        return f"{days} {extras}"

    return server


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
async def test_another_task_answers_a_call_on_every_version(era: Era) -> None:
    pending = Pending()

    async def another() -> None:
        async for asked in pending:
            match Asked.from_data(json.loads(json.dumps(asked.as_data()))).message:
                case "How long?":
                    pending.receive({"id": asked.id, "action": "accept", "content": {"answer": 3}})
                case "What else?":
                    pending.receive({"id": asked.id, "action": "accept", "content": {"extras": ["bike"]}})
                case _:
                    pending.receive({"id": asked.id, "action": "accept"})

    answering = asyncio.create_task(another())
    async with connect(trips(), pending, era=era) as client, asyncio.timeout(20):
        result = await client.call_tool("plan", {})
    pending.close()
    await answering
    assert result.content[0].text == "3 {'extras': ['bike']}"


async def test_a_call_that_is_given_up_withdraws_its_question() -> None:
    pending = Pending()
    async with Client(trips(), elicitation_callback=callback(pending)) as client:
        call = asyncio.create_task(client.call_tool("plan", {}))
        changes = pending.changes()
        assert (await next_of(changes)).kind == "opened"
        call.cancel()
        kinds = [(await next_of(changes)).kind for _ in range(2)]
        await changes.aclose()
        await asyncio.wait([call])
    assert "withdrawn" in kinds
    assert pending.open == ()
