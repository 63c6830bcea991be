"""How a call replays where no run stays in memory: the state, the journal, effects, cleanup."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.client._input_required import DEFAULT_INPUT_REQUIRED_MAX_ROUNDS
from mcp_types import INVALID_PARAMS
from pydantic import BaseModel

from midcall import STRONG, NotRecordable, ask, choose, confirm, once, suspending, visit
from midcall.client.asked import Mode
from midcall.core import journal as journals
from midcall.portal import Portal
from midcall.stores.memory import Memory
from midcall.testing import ERAS, Era, NotReplayable, connect, replayed, run
from tests.kinds import KINDS, Kind, server_with
from tests.mistakes import mistake_in
from tests.rounds import accept, raw_call, text

pytestmark = pytest.mark.usefixtures("replaying")

KEYS = ["k key of the tests: 0123456789abcdef"]
REFUSED = "Invalid or expired requestState"
"""What the SDK says about a state that it does not take."""


async def two() -> str:
    return f"{await ask('a?', str, key='a')} {await ask('b?', str, key='b')}"


async def unnamed_two() -> str:
    return f"{await ask('a?', str)} {await ask('b?', str)}"


async def other(x: int = 0) -> str:
    return f"{await ask('a?', str, key='a')} {await ask('b?', str, key='b')}"


# --- the state -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
async def test_the_state_is_sealed_on_every_kind_of_server(kind: Kind) -> None:
    async with connect(server_with(two, kind=kind)) as client:
        first = await raw_call(client, "two", {})
        state = first["requestState"]
        assert "midcall/" not in state
        assert "a?" not in state
        journal = journals.Journal("forged", entries={"a": journals.Entry("accept", True, "a?", {"answer": "x"})})
        forged = journals.encode(journal)
        for bad in ("", forged, state[8:-4] + "AAAA", state[8:] + "-TAMPERED", state, "v1." + "A" * 60):
            with pytest.raises(MCPError) as caught:
                await raw_call(client, "two", {}, state=f"midcall.{bad}", answers={"a": accept(answer="x")})
            assert caught.value.code == INVALID_PARAMS
            assert caught.value.message == REFUSED


@pytest.mark.parametrize("kind", KINDS)
async def test_a_state_without_our_mark_never_counts_as_ours(kind: Kind) -> None:
    async with connect(server_with(two, kind=kind)) as client:
        state = (await raw_call(client, "two", {}))["requestState"]
        for bad in ("", journals.encode(journals.Journal("forged", turn=1)), state.removeprefix("midcall.")):
            assert await asked_anew(client, bad) in (["a"], REFUSED)


async def asked_anew(client: Client, state: str) -> list[str] | str:
    """What a request with this state is asked, or why it is refused."""
    try:
        return list(
            (await raw_call(client, "two", {}, state=state, answers={"a": accept(answer="x")}))["inputRequests"]
        )
    except MCPError as exc:
        return exc.message


async def test_a_state_belongs_to_one_tool_and_its_arguments(either: str, caplog: pytest.LogCaptureFixture) -> None:
    async with connect(server_with(two, other)) as client:
        state = (await raw_call(client, "other", {"x": 1}))["requestState"]
        answers = {"a": accept(answer="x")}
        for tool, arguments in (("two", {"x": 1}), ("other", {"x": 2}), ("other", {})):
            with pytest.raises(MCPError, match=REFUSED):
                await raw_call(client, tool, arguments, state=state, answers=answers)
            assert "belongs to another user" in caplog.text
        assert "inputRequests" in await raw_call(client, "other", {"x": 1}, state=state, answers=answers)


async def test_a_state_belongs_to_one_user(either: str) -> None:
    user = "ada"
    async with connect(server_with(two, principal=lambda ctx: user)) as client:
        state = (await raw_call(client, "two", {}))["requestState"]
        user = "eve"
        with pytest.raises(MCPError, match=REFUSED):
            await raw_call(client, "two", {}, state=state, answers={"a": accept(answer="x")})


async def test_a_state_that_has_outlived_its_time_is_refused_with_advice_in_the_log(
    either: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with connect(server_with(two, state_ttl=120)) as client:
        state = (await raw_call(client, "two", {}))["requestState"]
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + 119)
        await raw_call(client, "two", {}, state=state)
        monkeypatch.setattr(time, "time", lambda: now + 121)
        assert "2 minutes" not in caplog.text
        with pytest.raises(MCPError, match=REFUSED):
            await raw_call(client, "two", {}, state=state)
        assert "2 minutes" in caplog.text


async def test_with_a_shared_key_another_replica_resumes() -> None:
    async with connect(server_with(two, keys=KEYS)) as here, connect(server_with(two, keys=KEYS)) as there:
        first = await raw_call(here, "two", {})
        second = await raw_call(there, "two", {}, state=first["requestState"], answers={"a": accept(answer="1")})
        third = await raw_call(here, "two", {}, state=second["requestState"], answers={"b": accept(answer="2")})
        assert text(third) == "1 2"


async def test_without_one_another_replica_refuses() -> None:
    async with connect(server_with(two)) as here, connect(server_with(two)) as there:
        first = await raw_call(here, "two", {})
        with pytest.raises(MCPError):
            await raw_call(there, "two", {}, state=first["requestState"], answers={"a": accept(answer="1")})


async def test_recorded_outcomes_cannot_be_overwritten_by_the_client(either: str) -> None:
    async with connect(server_with(two)) as client:
        first = await raw_call(client, "two", {})
        second = await raw_call(client, "two", {}, state=first["requestState"], answers={"a": accept(answer="1")})
        done = await raw_call(
            client, "two", {}, state=second["requestState"], answers={"a": accept(answer="X"), "b": accept(answer="2")}
        )
        assert text(done) == "1 2"


async def test_answers_to_what_was_not_asked_change_nothing(either: str) -> None:
    async with connect(server_with(two)) as client:
        answers = {"a": accept(answer="x"), "b": accept(answer="y")}
        first = await raw_call(client, "two", {}, answers=answers)
        assert list(first["inputRequests"]) == ["a"]
        second = await raw_call(client, "two", {}, state=first["requestState"], answers=answers)
        assert list(second["inputRequests"]) == ["b"]


async def test_where_the_author_takes_them_answers_may_come_ahead_of_keyed_questions() -> None:
    async with connect(server_with(two, unnamed_two, answers_ahead=True)) as client:
        done = await raw_call(client, "two", {}, answers={"a": accept(answer="x"), "b": accept(answer="y")})
        assert text(done) == "x y"
        first = await raw_call(client, "two", {}, answers={"b": accept(answer="y")})
        assert list(first["inputRequests"]) == ["a"]
        assert "inputRequests" in await raw_call(client, "unnamed_two", {}, answers={"a": accept(answer="x")})


async def test_an_answer_that_came_ahead_is_checked_like_any_other() -> None:
    async with connect(server_with(two, answers_ahead=True)) as client:
        again = await raw_call(client, "two", {}, answers={"a": accept(answer=17)})
        assert [request["params"]["message"][:2] for request in again["inputRequests"].values()] == ["a?"]
        refused = await raw_call(client, "two", {}, answers={"a": {"action": "decline"}})
        assert "declined" in text(refused)


@pytest.mark.parametrize("via", [STRONG, {"page", "link"}, {"round"}, {"push", "round"}])
async def test_no_answer_comes_ahead_of_a_question_whose_author_says_how_it_may_be_answered(via: Any) -> None:
    async def sure() -> str:
        return f"{await confirm('Sure?', key='sure', via=via)}"

    portal = Portal()
    try:
        server = server_with(sure, answers_ahead=True, portal=portal, store=Memory(), keys=KEYS)
        async with connect(server) as client:
            first = await raw_call(client, "sure", {}, answers={"sure": accept(confirmed=True)})
            assert len(first["inputRequests"]) == 1
    finally:
        await portal.close()


async def test_no_answer_comes_ahead_of_a_question_that_would_not_leave_in_a_round() -> None:
    async def sure() -> str:
        return f"{await confirm('Sure?', key='sure')}"

    portal = Portal()
    try:
        server = server_with(sure, answers_ahead=True, portal=portal, store=Memory(), keys=KEYS)
        either: tuple[tuple[Mode, ...], ...] = ((), ("url",))
        for modes in either:
            async with connect(server, modes=modes) as client:
                first = await raw_call(client, "sure", {}, answers={"sure": accept(confirmed=True)})
                assert "inputRequests" in first or "midcall_continue" in text(first)
    finally:
        await portal.close()


async def test_no_consent_comes_ahead_of_a_visit() -> None:
    async def terms() -> str:
        return await visit("Accept the terms", "https://example.com/terms", key="terms")

    async with connect(server_with(terms, answers_ahead=True)) as client:
        first = await raw_call(client, "terms", {}, answers={"terms": {"action": "accept"}})
        assert list(first["inputRequests"]) == ["terms"]


async def test_an_answer_that_came_ahead_counts_in_the_first_request_only(either: str) -> None:
    async with connect(server_with(two, answers_ahead=True)) as client:
        first = await raw_call(client, "two", {}, answers={"b": accept(answer="y")})
        answers = {"a": accept(answer="x")}
        second = await raw_call(client, "two", {}, state=first["requestState"], answers=answers)
        assert list(second["inputRequests"]) == ["b"]


async def test_an_answer_that_came_ahead_and_cannot_be_read_is_a_protocol_error() -> None:
    async with connect(server_with(two, answers_ahead=True)) as client:
        for nonsense in (7, {"action": "nonsense"}, {"action": "accept", "content": []}):
            with pytest.raises(MCPError) as caught:
                await raw_call(client, "two", {}, answers={"a": nonsense})
            assert caught.value.code == INVALID_PARAMS


async def test_a_refused_state_has_the_reason_that_programs_know() -> None:
    async with connect(server_with(two)) as client:
        with pytest.raises(MCPError) as caught:
            await raw_call(client, "two", {}, state="midcall.v1." + "A" * 60)
        assert caught.value.data == {"reason": "invalid_request_state"}


async def test_a_state_continues_once(either: str) -> None:
    async with connect(server_with(two)) as client:
        first = (await raw_call(client, "two", {}))["requestState"]
        second = await raw_call(client, "two", {}, state=first, answers={"a": accept(answer="1")})
        again = await raw_call(client, "two", {}, state=first, answers={"a": accept(answer="1")})
        assert again["inputRequests"] == second["inputRequests"]
        with pytest.raises(MCPError, match="already continued with other answers"):
            await raw_call(client, "two", {}, state=first, answers={"a": accept(answer="9")})
        third = await raw_call(client, "two", {}, state=again["requestState"], answers={"b": accept(answer="2")})
        assert text(third) == "1 2"


async def test_a_journal_of_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    later = journals.VERSION + 1
    async with connect(server_with(two)) as client:
        monkeypatch.setattr(journals, "_MARK", f"midcall/{later} ")
        first = await raw_call(client, "two", {})
        monkeypatch.undo()
        with pytest.raises(MCPError) as caught:
            await raw_call(client, "two", {}, state=first["requestState"], answers={"a": accept(answer="1")})
        assert caught.value.code == INVALID_PARAMS
        assert f"version {later}" in caught.value.message


async def test_a_state_that_grows_too_large_is_a_clear_error(caplog: pytest.LogCaptureFixture) -> None:
    async def big() -> str:
        await once("read", lambda: "x" * 70_000)
        return await ask("a?", str)

    done = await run(server_with(big), "big", {}, ["1"])
    assert done.failed
    assert "70," in caplog.text
    assert "once" in caplog.text


@pytest.mark.parametrize("tool", [two, unnamed_two])
async def test_what_a_client_sends_beyond_the_form_does_not_travel_on(tool: Callable[..., Any]) -> None:
    async with connect(server_with(tool)) as client:
        first = await raw_call(client, tool.__name__, {})
        [key] = first["inputRequests"]
        large = accept(answer="1", more="x" * 100_000)
        second = await raw_call(client, tool.__name__, {}, state=first["requestState"], answers={key: large})
        assert len(second["requestState"]) < 2000


# --- the cap of nine rounds ------------------------------------------------------------------


async def test_a_call_never_runs_into_a_stock_clients_cap(caplog: pytest.LogCaptureFixture) -> None:
    async def many(n: int) -> str:
        return "".join([await ask(f"{i}?", str) for i in range(n)])

    server = server_with(many, keys=KEYS)  # with a key of this process alone, the call could be resumed
    async with connect(server, lambda asked: "x", max_rounds=DEFAULT_INPUT_REQUIRED_MAX_ROUNDS) as client:
        assert text(await client.call_tool("many", {"n": 9})) == "x" * 9
        ended = await client.call_tool("many", {"n": 10})
        assert ended.is_error
        assert "ask_all" in text(ended)


# --- identity --------------------------------------------------------------------------------


@pytest.mark.parametrize("one_by_one", [False, True])
async def test_answers_stay_with_their_question_in_any_order_of_branches(one_by_one: bool) -> None:
    runs = 0

    async def tool() -> str:
        nonlocal runs
        runs += 1

        async def branch(index: int) -> str:
            for _ in range((index * 7 + runs * 3) % 5):
                await asyncio.sleep(0.001)
            return await ask(f"{index}?", str)

        return " ".join(await asyncio.gather(*(branch(index) for index in range(6))))

    done = await run(server_with(tool), "tool", {}, lambda asked: asked.message, one_by_one=one_by_one)
    assert done.text == "0? 1? 2? 3? 4? 5?"


async def test_code_that_changes_its_message_every_run_is_a_mismatch(caplog: pytest.LogCaptureFixture) -> None:
    runs = 0

    async def clock() -> str:
        nonlocal runs
        runs += 1
        return await ask(f"It is {runs} o'clock. Go on?", str)

    done = await run(server_with(clock), "clock", {}, lambda asked: "yes")
    assert done.failed
    assert len(done.asked) == 2
    assert 'recorded was "It is 2 o\'clock."' in caplog.text
    assert "once" in caplog.text


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("Which?", "with the same message, but its form differs"),
        ("Which of these rooms?", "its message differs further on, or its form differs"),
    ],
)
async def test_a_form_that_changes_in_every_run_is_distinguished_from_a_message_that_does(
    message: str, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    runs = 0

    async def tool() -> str:
        nonlocal runs
        runs += 1
        return await choose(message, [f"room {runs}", "none"])

    done = await run(server_with(tool), "tool", {}, lambda asked: "none")
    assert done.failed
    assert told in caplog.text


async def test_code_that_took_another_way_once_is_simply_asked() -> None:
    deployed = "old"

    async def tool() -> str:
        if deployed == "old":
            await ask("Old question?", str)
        a = await ask("New question?", str)
        return f"{a} {await ask('Next question?', str)}"

    async with connect(server_with(tool)) as client:
        result = await raw_call(client, "tool", {})
        asked: list[str] = []
        while "inputRequests" in result:
            [(key, request)] = result["inputRequests"].items()
            asked.append(request["params"]["message"])
            answers = {key: accept(answer=str(len(asked)))}
            result = await raw_call(client, "tool", {}, state=result["requestState"], answers=answers)
            deployed = "new"
        assert asked == ["Old question?", "New question?", "Next question?"]
        assert text(result) == "2 3"


@pytest.mark.parametrize("one_by_one", [False, True])
async def test_code_that_went_past_a_recorded_effect_is_a_mismatch(
    one_by_one: bool, caplog: pytest.LogCaptureFixture
) -> None:
    runs = 0
    charged: list[int] = []

    async def tool() -> str:
        nonlocal runs
        runs += 1

        def charge(amount: int) -> int:
            charged.append(amount)
            return amount

        await once("charge", charge, runs)  # a new amount on every run
        return await ask("Sure?", str)

    done = await run(server_with(tool), "tool", {}, ["yes"], one_by_one=one_by_one)
    assert done.failed
    assert charged == [1]
    assert "past the effect 'charge'" in caplog.text
    assert "with the same name, but its arguments differ" in caplog.text


async def test_a_key_keeps_its_answer_while_the_message_changes() -> None:
    runs = 0

    async def tool() -> str:
        nonlocal runs
        runs += 1
        return f"{await ask(f'Run {runs}?', str, key='run')} {await ask('Done?', str)}"

    done = await run(server_with(tool), "tool", {}, ["a", "b"])
    assert done.text == "a b"


async def test_a_key_whose_form_changed_is_asked_again() -> None:
    kind: Any = int

    async def tool() -> str:
        return repr(await ask("How many?", kind, key="n"))

    async with connect(server_with(tool)) as client:
        first = await raw_call(client, "tool", {})
        kind = bool
        second = await raw_call(client, "tool", {}, state=first["requestState"], answers={"n": accept(answer=3)})
        assert list(second["inputRequests"]) == ["n"]


# --- effects ---------------------------------------------------------------------------------


class Receipt(BaseModel):
    number: int
    paid: bool = True


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
async def test_once_runs_its_function_once_and_gives_its_type_back(kind: Kind, era: Era) -> None:
    calls: list[int] = []

    async def charge(amount: int) -> Receipt:
        calls.append(amount)
        return Receipt(number=len(calls))

    async def tool() -> str:
        await ask("a?", str)
        receipt = await once("charge", charge, 40)
        await ask("b?", str)
        again = await once("charge", charge, 40)
        await ask("c?", str)
        return f"{receipt!r} {again.number}"

    done = await run(server_with(tool, kind=kind), "tool", {}, ["1", "2", "3"], era=era)
    assert done.text == "Receipt(number=1, paid=True) 2"
    assert calls == [40, 40]


async def test_an_effect_that_is_running_when_a_round_leaves_is_awaited_and_recorded() -> None:
    started = 0
    closed: list[bool] = []

    async def effect() -> str:
        nonlocal started
        started += 1
        await asyncio.sleep(0.05)
        closed.append(False)
        return f"run {started}"

    async def with_effect() -> str:
        try:
            return await once("effect", effect)
        finally:
            assert closed or suspending() is False

    async def tool() -> str:
        a, b = await asyncio.gather(with_effect(), ask("a?", str))
        return f"{a} {b}"

    done = await run(server_with(tool), "tool", {}, ["x"])
    assert (done.text, started) == ("run 1 x", 1)


@pytest.mark.parametrize("era", ERAS)
async def test_a_failing_effect_is_not_recorded(era: Era) -> None:
    tries = 0

    def flaky() -> str:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise ValueError("first try")
        return "second try"

    async def tool() -> str:
        for _ in range(2):
            try:
                result = await once("flaky", flaky)
                return f"{result} {await ask('a?', str)}"
            except ValueError:
                continue
        return "never"

    assert (await run(server_with(tool), "tool", {}, ["x"], era=era)).text == "second try x"
    assert tries == 2


@pytest.mark.parametrize("era", ERAS)
async def test_an_annotation_that_json_cannot_hold_is_refused_before_the_function_runs(era: Era) -> None:
    ran: list[int] = []

    class Socket:
        pass

    def connection() -> Socket:
        ran.append(1)
        return Socket()

    connection.__annotations__["return"] = Socket

    async def tool() -> str:
        try:
            await once("connect", connection)
        except NotRecordable as exc:
            return str(exc)
        return "recorded"

    assert "no JSON form" in (await run(server_with(tool), "tool", era=era)).text
    assert ran == []


def _charge(amount: int, idempotency_key: str = "") -> str:
    return f"{amount} {idempotency_key}"


@pytest.mark.parametrize(
    "pay",
    [
        lambda: once("pay", _charge, 5, "mine"),
        lambda: once("pay", _charge, 5, idempotency_key="mine"),
        lambda: once("pay", partial(_charge, idempotency_key="mine"), 5),
        lambda: once("pay", partial(_charge, 5, "mine")),
    ],
)
@pytest.mark.parametrize("era", ERAS)
async def test_a_key_of_the_authors_own_is_the_one(era: Era, pay: Callable[[], Any]) -> None:
    async def tool() -> str:
        return await pay()

    assert (await run(server_with(tool), "tool", {}, era=era)).text == "5 mine"


@pytest.mark.parametrize("era", ERAS)
async def test_the_idempotency_key_never_changes_for_a_call(era: Era) -> None:
    seen: list[str] = []

    def charge(amount: int, idempotency_key: str = "") -> int:
        seen.append(idempotency_key)
        if len(seen) < 3:
            raise ConnectionError
        return amount

    async def tool() -> str:
        await ask("a?", str)
        try:
            await once("charge", charge, 1)
        except ConnectionError:
            pass
        return await ask("b?", str)

    done = await run(server_with(tool), "tool", {}, {"a?": "1", "b?": "2"}, era=era)
    assert done.text == "2"
    assert len(set(seen)) == 1
    assert len(seen[0]) >= 22


@pytest.mark.parametrize("era", ERAS)
async def test_asking_inside_once_is_refused(era: Era, caplog: pytest.LogCaptureFixture) -> None:
    async def asks() -> str:
        return await ask("inside?", str)

    async def tool() -> str:
        try:
            return await once("asks", asks)
        except Exception as exc:
            return str(exc)

    assert "inside the function of a once" in await mistake_in(tool, caplog, ["x"], era=era)


async def test_a_guessing_game_that_draws_its_number_with_once_is_replayable() -> None:
    drawn: list[int] = []

    async def guess() -> str:
        number = await once("draw", lambda: drawn.append(7) or drawn[-1])
        tries = 0
        while True:
            tries += 1
            if await ask("Guess", int, key=f"guess-{tries}") == number:
                return f"found in {tries}"

    calls: list[None] = []
    guesses = {"Guess": [3, 5, 7]}
    done = await replayed(server_with(guess), "guess", {}, guesses, before=lambda: calls.append(None))
    assert done.text == "found in 3"
    assert len(drawn) == len(calls)


async def test_a_tool_that_is_not_replayable_fails_in_its_authors_tests() -> None:
    count = 0

    async def counts() -> str:
        nonlocal count
        count += 1
        await ask("a?", str)
        return f"run {count}"

    with pytest.raises(NotReplayable, match="once"):
        await replayed(server_with(counts), "counts", {}, ["x"])


# --- cleanup ---------------------------------------------------------------------------------


async def test_suspending_runs_cleanup_which_can_detect_it() -> None:
    trail: list[str] = []

    async def child(name: str) -> str:
        try:
            return await ask(f"{name}?", str)
        finally:
            await asyncio.sleep(0)
            trail.append(f"{name} suspended" if suspending() else f"{name} ended")

    async def tool() -> str:
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(child(name)) for name in "ab"]
            return "".join(task.result() for task in tasks)
        finally:
            await asyncio.sleep(0)
            trail.append("tool suspended" if suspending() else "tool ended")

    assert (await run(server_with(tool), "tool", {}, ["1", "2"])).text == "12"
    assert sorted(trail[:2]) == ["a suspended", "b suspended"]
    assert trail[2] == "tool suspended"
    assert sorted(trail[3:5]) == ["a ended", "b ended"]
    assert trail[5:] == ["tool ended"]


async def test_siblings_that_are_still_working_are_ended_too() -> None:
    ended: list[str] = []

    async def worker() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("worker")

    async def tool() -> str:
        async with anyio.create_task_group() as group:
            group.start_soon(worker)
            answer = await ask("a?", str)
            group.cancel_scope.cancel()
        return answer

    assert (await run(server_with(tool), "tool", {}, ["x"])).text == "x"
    assert ended == ["worker", "worker"]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_loop_around_a_bare_except_is_abandoned_and_rests(kind: Kind, caplog: pytest.LogCaptureFixture) -> None:
    caught = 0
    over = False

    async def stubborn() -> str:
        nonlocal caught
        while True:
            try:
                return await ask("a?", str)
            except:
                caught += 1
                if over:
                    raise

    with anyio.fail_after(10):
        assert (await run(server_with(stubborn, kind=kind), "stubborn", {}, ["x"])).text == "x"
    assert "except Exception" in caplog.text
    before = caught
    for _ in range(200):
        await asyncio.sleep(0)
    assert caught == before
    over = True


STUBBORN = """
import asyncio
from mcp.server import MCPServer
import midcall
from midcall.testing import run

server = MCPServer("stubborn")
midcall.install(server)

@server.tool()
async def stubborn() -> str:
    while True:
        try:
            return await midcall.ask("a?", str)
        except:
            continue

print(asyncio.run(run(server, "stubborn", {}, ["x"])).text)
"""


def test_in_a_live_run_such_a_loop_does_not_keep_the_process_from_ending(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDCALL_LIVE", "1")
    ended = subprocess.run([sys.executable, "-c", STUBBORN], capture_output=True, text=True, timeout=30)
    assert (ended.returncode, ended.stdout.strip()) == (0, "x")


async def test_a_second_call_continues_while_the_first_one_suspends() -> None:
    async def slow(name: str) -> str:
        answers = await asyncio.gather(ask(f"{name} a?", str), ask(f"{name} b?", str))
        return " ".join(answers)

    async with connect(server_with(slow), lambda asked: asked.message) as client:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(client.call_tool("slow", {"name": str(i)})) for i in range(10)]
        for index, task in enumerate(tasks):
            assert text(task.result()) == f"{index} a? {index} b?"


async def test_suspending_leaves_no_error_span_no_error_log_and_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        provider = TracerProvider()
        trace.set_tracer_provider(provider)
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    async def tool() -> str:
        a = await ask("a very secret question?", str)
        b, c = await asyncio.gather(ask("b?", str), ask("c?", str))
        return f"{a}{b}{c}"

    for kind in KINDS:
        for era in ERAS:
            assert (await run(server_with(tool, kind=kind), "tool", {}, lambda asked: "hidden", era=era)).text
    gc.collect()
    spans = exporter.get_finished_spans()
    assert spans
    assert [span.name for span in spans if span.status.status_code is trace.StatusCode.ERROR] == []
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
    told = json.dumps(
        [
            [
                str(span.name),
                str(dict(span.attributes or {})),
                str([(event.name, dict(event.attributes or {})) for event in span.events]),
            ]
            for span in spans
        ]
    )
    assert "midcall.question" in told
    assert "midcall.ask" in told
    assert "secret question" not in told
    assert "hidden" not in told


async def test_the_tool_may_end_while_a_branch_still_asks() -> None:
    async def tool() -> str:
        left = asyncio.ensure_future(ask("a?", str))
        await asyncio.sleep(0)
        left.cancel()
        return "done"

    done = await run(server_with(tool), "tool", {}, ["x"])
    assert done.text == "done"
