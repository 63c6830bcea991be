"""Replicas that share a store: the answer travels to the run, and nothing runs twice unless a replica is gone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult

from midcall import ask, once
from midcall.errors import StoreError
from midcall.server.running import beat, driver, handover, replies
from midcall.stores import Record, Store, open_store
from midcall.stores.memory import Memory
from midcall.testing import connect
from tests.calling import MEANS, Elicit, Means, Round, asking, begin, finish, proceed, retry, send
from tests.contract.conftest import ALL, place
from tests.rounds import raw_call, text
from tests.server.codes import code_of
from tests.server.running.replicas import KEYS, Replica, Wire, replicas
from tests.serving import served

ANSWERS = {"a?": "1", "b?": "2"}
OTHER = {"a?": "1000"}
REFUSED = "^This request was already continued with other answers"
BEAT = 0.05

Stores = Callable[[], Store]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handover, "BEAT_SECONDS", BEAT)
    monkeypatch.setattr(beat, "BEAT_SECONDS", BEAT)


@pytest.fixture(params=ALL)
async def each_store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stores]:
    """A store for each replica, all of which are the same place."""
    memory = Memory()
    async with place(request.param, tmp_path) as url:
        yield lambda: memory if request.param == "memory" else open_store(url)


@pytest.fixture
def stores() -> Stores:
    memory = Memory()
    return lambda: memory


class Till:
    """A tool with an effect before, between and after its questions, and gates that a test can close."""

    def __init__(self) -> None:
        self.effects: list[tuple[str, str]] = []
        self.ended: list[str] = []
        self._gates: dict[tuple[str, str], tuple[asyncio.Event, asyncio.Event]] = {}

    def gate(self, at: str, effect: str) -> tuple[asyncio.Event, asyncio.Event]:
        """Two events: one is set when the tool at this replica has had this effect, the other lets it continue."""
        self._gates[at, effect] = asyncio.Event(), asyncio.Event()
        return self._gates[at, effect]

    async def happen(self, at: str, effect: str) -> None:
        self.effects.append((at, effect))
        if (at, effect) in self._gates:
            came, go_on = self._gates[at, effect]
            came.set()
            await go_on.wait()

    async def pay(self, at: str, elicit: Elicit) -> str:
        await self.happen(at, "before")
        try:
            first = await elicit("a?")
            await self.happen(at, "between")
            second = await elicit("b?")
            await self.happen(at, "after")
            return f"{at}: {first} {second}"
        finally:
            self.ended.append(at)

    async def pay_once(self, at: str, elicit: Elicit) -> str:
        async def charge() -> str:
            self.effects.append((at, "charged"))
            return at

        first = await elicit("a?")
        await self.happen(at, "before charging")
        try:
            return f"{first}, charged by {await once('charge', charge)}"
        finally:
            self.ended.append(at)

    async def ask_one(self, at: str, elicit: Elicit) -> str:
        await self.happen(at, "before")
        first = await elicit("a?")
        await self.happen(at, "after")
        return f"{at}: {first}"


def waiting_at(replica: Replica, round: Round, answers: dict[str, str] = ANSWERS) -> asyncio.Task[str]:
    """A retry there, under way."""
    return asyncio.create_task(finish(replica.client, round, answers))


async def beats(count: int = 3) -> None:
    """As long as it takes for so many beats."""
    await asyncio.sleep(count * BEAT)


# --- the answer travels ---------------------------------------------------------------------------


@pytest.mark.parametrize("means", MEANS)
async def test_a_retry_at_another_replica_continues_the_live_run(stores: Stores, means: Means) -> None:
    till = Till()
    async with replicas(stores, till.pay, means=means) as (a, b, c):
        second = await proceed(b.client, await begin(a.client, "tool"), ANSWERS)
        assert second.asked == ["b?"]
        assert await finish(c.client, second, ANSWERS) == "a: 1 2"
    assert till.effects == [("a", "before"), ("a", "between"), ("a", "after")]


async def test_on_every_store_a_call_moves_between_replicas_and_runs_once(each_store: Stores) -> None:
    till = Till()
    async with replicas(each_store, till.pay) as (a, b, c):
        for first, second, third in ((a, b, c), (b, b, a), (c, a, a)):
            till.effects.clear()
            asked = await proceed(second.client, await begin(first.client, "tool"), ANSWERS)
            assert await finish(third.client, asked, ANSWERS) == f"{first.name}: 1 2"
            assert till.effects == [(first.name, each) for each in ("before", "between", "after")]


async def test_a_lost_notification_costs_a_beat_and_nothing_else(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def deaf(*_: Any) -> None:
        return None

    monkeypatch.setattr(handover.Handover, "offer_of", deaf)
    till = Till()
    async with replicas(stores, till.pay) as (a, b, _):
        second = await proceed(b.client, await begin(a.client, "tool"), ANSWERS)
        assert await finish(b.client, second, ANSWERS) == "a: 1 2"
    assert [at for at, _ in till.effects] == ["a"] * 3


async def test_the_result_is_the_same_on_the_wire_wherever_the_retry_comes_to(stores: Stores) -> None:
    till = Till()
    async with replicas(stores, till.ask_one) as (a, b, _):
        rounds = [await begin(a.client, "tool") for _ in range(2)]
        [key] = rounds[0].requests
        answers = {key: {"action": "accept", "content": {"word": "1"}}}
        results = [
            await raw_call(at.client, "tool", {}, state=each.state, answers=answers)
            for at, each in zip((a, b), rounds, strict=True)
        ]
    assert results[0] == results[1]


async def test_an_error_travels_with_its_code_and_data(stores: Stores) -> None:
    async def tool(at: str, elicit: Elicit) -> str:
        await elicit("a?")
        raise MCPError(-32050, f"Out of stock at {at}", {"left": 0})

    async with replicas(stores, tool, means="lowlevel") as (a, b, _):
        first = await begin(a.client, "tool")
        for at in (b, a):
            with pytest.raises(MCPError, match="Out of stock at a") as failed:
                await retry(at.client, first, ANSWERS)
            assert (failed.value.error.code, failed.value.error.data) == (-32050, {"left": 0})


async def test_a_run_that_finished_between_two_rounds_gives_its_result_to_a_retry_anywhere(stores: Stores) -> None:
    finished = asyncio.Event()

    async def tool(at: str, elicit: Elicit) -> str:
        try:
            async with asyncio.timeout(BEAT):
                await elicit("a?")
        except TimeoutError:
            finished.set()
            return f"{at}: nobody answered"
        return "answered"

    async with replicas(stores, tool) as (a, b, c):
        first = await begin(a.client, "tool")
        await finished.wait()
        assert await finish(b.client, first, ANSWERS) == "a: nobody answered"
        assert await finish(c.client, first, ANSWERS) == "a: nobody answered"


async def test_a_large_journal_travels_by_its_name(stores: Stores) -> None:
    async def tool(at: str, elicit: Elicit) -> str:
        long = await elicit("a?")
        return f"{at}: {len(long)} {await elicit('b?')}"

    async with replicas(stores, tool) as (a, b, c):
        second = await proceed(b.client, await begin(a.client, "tool"), {"a?": "x" * 100_000})
        assert await finish(c.client, second, ANSWERS) == "a: 100000 2"


# --- duplicates -----------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["bc", "ab", "ba", "abc"])
async def test_duplicates_at_several_replicas_get_the_same_result_and_continue_once(stores: Stores, where: str) -> None:
    till = Till()
    _, go_on = till.gate("a", "after")
    async with replicas(stores, till.ask_one) as three:
        at = dict(zip("abc", three, strict=True))
        first = await begin(at["a"].client, "tool")
        retries = [waiting_at(at[name], first) for name in where]
        await beats()
        go_on.set()
        assert await asyncio.gather(*retries) == ["a: 1"] * len(where)
        assert [await finish(at[name].client, first, ANSWERS) for name in "abc"] == ["a: 1"] * 3
    assert till.effects == [("a", "before"), ("a", "after")]


async def test_a_round_that_travelled_is_sent_again_by_its_owner_too(stores: Stores) -> None:
    till = Till()
    async with replicas(stores, till.pay) as (a, b, c):
        first = await begin(a.client, "tool")
        second = await proceed(b.client, first, ANSWERS)
        again = [await proceed(at.client, first, ANSWERS) for at in (a, b, c)]
        assert [each.asked for each in again] == [["b?"]] * 3
        assert await finish(c.client, second, ANSWERS) == "a: 1 2"
        assert [await finish(at.client, each, ANSWERS) for at, each in zip((a, b, c), again, strict=True)] == [
            "a: 1 2"
        ] * 3
    assert [at for at, _ in till.effects] == ["a"] * 3


async def test_other_answers_at_another_replica_are_refused_and_the_right_ones_still_welcome(stores: Stores) -> None:
    till = Till()
    async with replicas(stores, till.ask_one) as (a, b, c):
        first = await begin(a.client, "tool")
        assert await finish(b.client, first, ANSWERS) == "a: 1"
        for at in (a, b, c):
            with pytest.raises(MCPError, match=REFUSED) as refused:
                await retry(at.client, first, OTHER)
            assert refused.value.error.code == INVALID_PARAMS
            assert await finish(at.client, first, ANSWERS) == "a: 1"
    assert till.effects == [("a", "before"), ("a", "after")]


async def test_other_answers_are_refused_while_the_first_are_served(stores: Stores) -> None:
    till = Till()
    came, go_on = till.gate("a", "after")
    async with replicas(stores, till.ask_one) as (a, b, c):
        first = await begin(a.client, "tool")
        served = waiting_at(b, first)
        await came.wait()
        for at in (a, b, c):
            with pytest.raises(MCPError, match=REFUSED):
                await retry(at.client, first, OTHER)
        go_on.set()
        assert await served == "a: 1"


async def test_of_different_answers_at_two_replicas_at_once_one_is_refused(stores: Stores) -> None:
    till = Till()
    async with replicas(stores, till.ask_one) as (a, b, c):
        first = await begin(a.client, "tool")
        sent = (finish(b.client, first, ANSWERS), finish(c.client, first, OTHER))
        results = await asyncio.gather(*sent, return_exceptions=True)
    assert sorted(isinstance(each, MCPError) for each in results) == [False, True]
    assert till.effects == [("a", "before"), ("a", "after")]


async def test_an_answer_that_cannot_be_read_does_not_use_up_its_state(stores: Stores) -> None:
    till = Till()
    async with replicas(stores, till.ask_one) as (a, b, c):
        first = await begin(a.client, "tool")
        [key] = first.requests
        for at in (a, b):
            with pytest.raises(MCPError):
                await raw_call(at.client, "tool", {}, state=first.state, answers={key: {"action": "nonsense"}})
        assert await finish(c.client, first, ANSWERS) == "a: 1"
    assert [at for at, _ in till.effects] == ["a", "a"]


# --- the owner is gone ----------------------------------------------------------------------------


async def test_an_owner_that_stopped_is_replayed_by_exactly_one_other(stores: Stores) -> None:
    till = Till()
    async with replicas(stores, till.pay) as (a, b, c):
        first = await begin(a.client, "tool")
        await a.stop()
        rounds = await asyncio.gather(*(proceed(at.client, first, ANSWERS) for at in (b, c)))
        assert [each.asked for each in rounds] == [["b?"]] * 2
        [replayed] = {at for at, effect in till.effects if effect == "between"}
        assert replayed in "bc"
        results = [await finish(at.client, each, ANSWERS) for at, each in zip((c, b), rounds, strict=True)]
        assert results == [f"{replayed}: 1 2"] * 2
    assert till.effects == [("a", "before"), *((replayed, each) for each in ("before", "between", "after"))]


async def test_an_owner_that_is_cut_off_is_replayed_by_exactly_one_other_and_ends_its_run(stores: Stores) -> None:
    till = Till()
    async with replicas(stores, till.ask_one) as (a, b, c):
        first = await begin(a.client, "tool")
        a.wire.is_cut = True
        results = await asyncio.gather(*(finish(at.client, first, ANSWERS) for at in (b, c)))
        [result] = set(results)
        assert result in ("b: 1", "c: 1")
        a.wire.is_cut = False
        assert await finish(a.client, first, ANSWERS) == result
    assert [effect for _, effect in till.effects] == ["before", "before", "after"]


async def test_a_run_whose_turn_went_elsewhere_is_ended(stores: Stores) -> None:
    till = Till()
    async with replicas(stores, till.pay) as (a, b, c):
        first = await begin(a.client, "tool")
        a.wire.is_cut = True
        second = await proceed(b.client, first, ANSWERS)
        assert till.ended == []
        a.wire.is_cut = False
        while not till.ended:
            await beats(1)
        assert till.ended == ["a"]
        assert await finish(c.client, second, ANSWERS) == "b: 1 2"


async def test_an_evicted_run_is_replayed_by_the_replica_with_the_answer(stores: Stores) -> None:
    till = Till()
    async with replicas(stores, till.ask_one, max_live=1) as (a, b, _):
        first = await begin(a.client, "tool")
        await begin(a.client, "tool")
        assert await finish(b.client, first, ANSWERS) == "b: 1"
    assert till.effects == [("a", "before"), ("a", "before"), ("b", "before"), ("b", "after")]


async def test_an_owner_that_beats_is_not_overtaken_however_long_its_tool_takes(stores: Stores) -> None:
    till = Till()
    _, go_on = till.gate("a", "after")
    async with replicas(stores, till.ask_one) as (a, b, c):
        first = await begin(a.client, "tool")
        retries = [waiting_at(at, first) for at in (b, c)]
        await beats(15)
        go_on.set()
        assert await asyncio.gather(*retries) == ["a: 1"] * 2
    assert till.effects == [("a", "before"), ("a", "after")]


async def test_a_replica_that_replays_beats_and_is_not_overtaken(stores: Stores) -> None:
    till = Till()
    came, go_on = till.gate("b", "after")
    async with replicas(stores, till.ask_one) as (a, b, c):
        first = await begin(a.client, "tool")
        await a.stop()
        retries = [waiting_at(b, first)]
        await came.wait()
        retries.append(waiting_at(c, first))
        await beats(15)
        go_on.set()
        assert await asyncio.gather(*retries) == ["b: 1"] * 2
    assert till.effects == [("a", "before"), ("b", "before"), ("b", "after")]


async def test_a_claimant_that_stops_gives_its_turn_back_and_another_replays(stores: Stores) -> None:
    till = Till()
    came, _ = till.gate("a", "after")
    async with replicas(stores, till.ask_one) as (a, b, _):
        first = await begin(a.client, "tool")
        served = waiting_at(b, first)
        await came.wait()
        await a.stop()
        assert await served == "b: 1"
    assert till.effects == [("a", "before"), ("a", "after"), ("b", "before"), ("b", "after")]


@pytest.fixture
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A replica counts as gone only if it says so, however long it's silent."""
    monkeypatch.setattr(handover, "SILENT_BEATS", 1_000_000)


@pytest.mark.usefixtures("_patient")
async def test_an_owner_that_stops_says_so_and_nobody_waits_for_its_beats(stores: Stores) -> None:
    till = Till()
    async with replicas(stores, till.ask_one) as (a, b, _):
        first = await begin(a.client, "tool")
        await a.stop()
        assert await finish(b.client, first, ANSWERS) == "b: 1"


@pytest.mark.usefixtures("_patient")
async def test_a_connection_that_ends_gives_its_turns_back_while_its_replica_goes_on(stores: Stores) -> None:
    till = Till()
    came, _ = till.gate("a", "after")
    async with replicas(stores, till.ask_one) as (a, b, _), connect(a.server) as other:
        await begin(other, "tool")
        first = await begin(a.client, "tool")
        served = waiting_at(b, first)
        await came.wait()
        await a.stop()
        assert await served == "b: 1"


async def test_a_claimant_that_is_cut_off_is_overtaken_and_says_what_the_other_came_to(stores: Stores) -> None:
    till = Till()
    came, go_on = till.gate("a", "after")
    async with replicas(stores, till.ask_one) as (a, b, _):
        first = await begin(a.client, "tool")
        served = waiting_at(a, first)
        await came.wait()
        a.wire.is_cut = True
        assert await finish(b.client, first, ANSWERS) == "b: 1"
        a.wire.is_cut = False
        go_on.set()
        assert await served == "b: 1"


async def test_if_the_replica_that_took_over_is_gone_too_the_waiting_one_replays(stores: Stores) -> None:
    till = Till()
    came_a, go_on_a = till.gate("a", "after")
    came_b, _ = till.gate("b", "after")
    async with replicas(stores, till.ask_one) as (a, b, _):
        first = await begin(a.client, "tool")
        at_a = waiting_at(a, first)
        await came_a.wait()
        a.wire.is_cut = True
        at_b = asyncio.create_task(retry(b.client, first, ANSWERS))
        await came_b.wait()
        a.wire.is_cut = False
        go_on_a.set()
        await beats()
        b.wire.is_cut = True
        assert await at_a == "a: 1"
        at_b.cancel()
    assert [at for at, _ in till.effects] == ["a", "a", "b", "b", "a", "a"]


async def test_an_answer_does_not_continue_a_run_that_was_overtaken_before_it_asked(stores: Stores) -> None:
    till = Till()
    came, go_on = till.gate("a", "between")
    async with replicas(stores, till.pay) as (a, b, _):
        first = await begin(a.client, "tool")
        at_a = asyncio.create_task(proceed(a.client, first, ANSWERS))
        await came.wait()
        a.wire.is_cut = True
        second = await proceed(b.client, first, ANSWERS)
        a.wire.is_cut = False
        told, hear = a.wire.hold_reply("change")
        go_on.set()
        await told.wait()  # its round can't be settled, and it hasn't heard of that
        finishing = waiting_at(a, second)
        await beats()
        hear.set()
        assert await finishing == "b: 1 2"
        assert (await at_a).asked == ["b?"]
    assert till.effects.count(("a", "after")) == 0


async def test_an_answer_that_overtakes_the_reply_of_the_store_is_continued_and_settled(stores: Stores) -> None:
    till = Till()
    async with replicas(stores, till.pay) as (a, b, _):
        first = await begin(a.client, "tool")
        told, hear = a.wire.hold_reply("change")  # claims the offer
        proceeding = asyncio.create_task(proceed(b.client, first, ANSWERS))
        await told.wait()
        told, settled = a.wire.hold_reply("change")  # settles the turn
        hear.set()
        second = await proceeding
        await told.wait()
        came, go_on = till.gate("a", "after")
        at_a = waiting_at(a, second)
        await came.wait()
        settled.set()
        await beats()
        go_on.set()
        assert await asyncio.gather(at_a, waiting_at(b, second)) == ["a: 1 2"] * 2
    assert till.effects == [("a", "before"), ("a", "between"), ("a", "after")]


async def test_a_retry_and_an_offer_that_reach_the_owner_together_continue_its_run_once(stores: Stores) -> None:
    till = Till()
    came, go_on = till.gate("a", "between")
    async with replicas(stores, till.pay) as (a, b, _):
        offered, hear = a.wire.hold_reply("wait")
        _, see = a.wire.hold_reply("look")  # of the beat, which would find the offer, too
        first = await begin(a.client, "tool")
        at_b = asyncio.create_task(proceed(b.client, first, ANSWERS))
        await offered.wait()
        made, claim = a.wire.hold_call("create")
        at_a = asyncio.create_task(proceed(a.client, first, ANSWERS))
        await made.wait()
        hear.set()
        await came.wait()  # the offer was claimed
        see.set()
        claim.set()
        await beats()
        go_on.set()
        assert (await at_a).asked == (await at_b).asked == ["b?"]
    assert till.effects == [("a", "before"), ("a", "between")]


async def test_an_old_run_is_ended_before_its_own_replica_replays_the_call(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    till = Till()
    async with replicas(stores, till.pay) as (a, b, _):
        first = await begin(a.client, "tool")
        a.wire.is_cut = True
        second = await proceed(b.client, first, ANSWERS)
        await b.stop()
        till.ended.clear()
        monkeypatch.setattr(handover, "BEAT_SECONDS", 60)  # too seldom to end it by a look
        monkeypatch.setattr(beat, "BEAT_SECONDS", 60)  # too seldom to end it by a look
        await asyncio.sleep(2 * BEAT)
        a.wire.is_cut = False
        assert await finish(a.client, second, ANSWERS) == "a: 1 2"
        assert till.ended == ["a", "a"]
    assert till.effects.count(("a", "between")) == 1


# --- once -----------------------------------------------------------------------------------------


async def test_once_does_not_run_in_a_run_whose_turn_was_taken_over(stores: Stores) -> None:
    till = Till()
    came_a, go_on_a = till.gate("a", "before charging")
    came_b, go_on_b = till.gate("b", "before charging")
    async with replicas(stores, till.pay_once) as (a, b, _):
        first = await begin(a.client, "tool")
        at_a = waiting_at(a, first)
        await came_a.wait()
        a.wire.is_cut = True
        at_b = waiting_at(b, first)
        await came_b.wait()
        a.wire.is_cut = False
        go_on_a.set()
        while "a" not in till.ended:
            await beats(1)
        assert ("a", "charged") not in till.effects
        go_on_b.set()
        assert await asyncio.gather(at_a, at_b) == ["1, charged by b"] * 2
    assert [effect for _, effect in till.effects].count("charged") == 1


async def test_once_happens_once_when_a_replay_finds_it_done(stores: Stores) -> None:
    till = Till()

    async def tool(at: str, elicit: Elicit) -> str:
        charged = await till.pay_once(at, elicit)
        await till.happen(at, "after")
        return charged

    came, _ = till.gate("a", "after")
    async with replicas(stores, tool) as (a, b, _):
        first = await begin(a.client, "tool")
        served = waiting_at(b, first)
        await came.wait()
        await a.stop()
        assert await served == "1, charged by a"
    assert till.effects.count(("a", "charged")) == 1
    assert ("b", "charged") not in till.effects


async def test_once_in_a_branch_works_while_the_round_is_away(stores: Stores) -> None:
    """Nobody has claimed the next turn yet: the run is still its owner's."""
    left, charged = asyncio.Event(), asyncio.Event()

    async def tool(at: str, elicit: Elicit) -> str:
        async def charge() -> str:
            charged.set()
            return f"charged at {at}"

        async def branch() -> str:
            await left.wait()
            return await once("charge", charge)

        answer, paid = await asyncio.gather(elicit("a?"), branch())
        return f"{answer} {paid} {await elicit('b?')}"

    async with replicas(stores, tool, means="ask") as (a, b, c):
        first = await begin(a.client, "tool")
        left.set()
        await charged.wait()
        second = await proceed(b.client, first, ANSWERS)
        assert await finish(c.client, second, ANSWERS) == "1 charged at a 2"


async def test_once_in_a_branch_does_not_run_if_the_round_was_answered_elsewhere(stores: Stores) -> None:
    till = Till()
    _, go_on_a = till.gate("a", "before charging")
    came_b, go_on_b = till.gate("b", "before charging")

    async def tool(at: str, elicit: Elicit) -> str:
        async def charge() -> str:
            till.effects.append((at, "charged"))
            return at

        async def branch() -> str:
            try:
                await till.happen(at, "before charging")
                return await once("charge", charge)
            finally:
                till.ended.append(at)

        answer, by = await asyncio.gather(elicit("a?"), branch())
        return f"{answer}, charged by {by}"

    async with replicas(stores, tool, means="ask") as (a, b, _):
        first = await begin(a.client, "tool")
        a.wire.is_cut = True
        at_b = waiting_at(b, first)
        await came_b.wait()
        a.wire.is_cut = False
        go_on_a.set()
        while "a" not in till.ended:
            await beats(1)
        go_on_b.set()
        assert await at_b == "1, charged by b"
    assert [effect for effect in till.effects if effect[1] == "charged"] == [("b", "charged")]


# --- the store ------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", ["a", "b"])
@pytest.mark.parametrize("method", ["create", "change"])
async def test_a_lost_reply_of_the_store_is_settled_by_reading(stores: Stores, at: str, method: str) -> None:
    till = Till()
    async with replicas(stores, till.ask_one) as three:
        replica = dict(zip("abc", three, strict=True))
        first = await begin(three[0].client, "tool")
        for each in three:
            each.wire.lose_reply(method)
        assert await finish(replica[at].client, first, ANSWERS) == "a: 1"
        assert await finish(replica["c"].client, first, ANSWERS) == "a: 1"
    assert till.effects == [("a", "before"), ("a", "after")]


@pytest.mark.parametrize("method", ["create", "change"])
async def test_if_nobody_can_tell_whether_it_was_claimed_the_call_is_continued_later(
    stores: Stores, method: str
) -> None:
    """The reply is lost, and so is the next one."""
    till = Till()
    async with replicas(stores, till.ask_one) as (a, b, c):
        first = await begin(a.client, "tool")
        a.wire.lose_reply(method, "read")
        with pytest.raises(MCPError):
            await retry(a.client, first, ANSWERS)
        assert await finish(b.client, first, ANSWERS) == "a: 1"
        assert await finish(c.client, first, ANSWERS) == "a: 1"
    assert till.effects == [("a", "before"), ("a", "after")]


async def test_an_outcome_that_could_not_be_written_is_written_later_and_nothing_runs_again(stores: Stores) -> None:
    till = Till()
    came, go_on = till.gate("a", "after")
    async with replicas(stores, till.ask_one) as (a, b, _):
        first = await begin(a.client, "tool")
        served = waiting_at(a, first)
        await came.wait()
        a.wire.lose_reply("change", "read")
        go_on.set()
        with pytest.raises(MCPError):
            await served
        assert await finish(b.client, first, ANSWERS) == "a: 1"
        assert await finish(a.client, first, ANSWERS) == "a: 1"
    assert till.effects == [("a", "before"), ("a", "after")]


async def test_without_its_store_a_server_says_so_and_the_call_can_be_continued_later(stores: Stores) -> None:
    till = Till()
    async with replicas(stores, till.ask_one) as (a, b, _):
        first = await begin(a.client, "tool")
        b.wire.is_cut = True
        with pytest.raises(MCPError):
            await retry(b.client, first, ANSWERS)
        b.wire.is_cut = False
        assert await finish(b.client, first, ANSWERS) == "a: 1"
    assert till.effects == [("a", "before"), ("a", "after")]


# --- requests that break off ------------------------------------------------------------------------


@pytest.mark.parametrize("broken", ["a", "b"])
async def test_a_request_that_is_gone_when_its_claim_is_written_claims_nothing(stores: Stores, broken: str) -> None:
    till = Till()
    async with replicas(stores, till.ask_one) as three:
        replica = dict(zip("abc", three, strict=True))
        first = await begin(three[0].client, "tool")
        came, go_on = replica[broken].wire.hold_reply("create")
        gone = waiting_at(replica[broken], first)
        await came.wait()
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        go_on.set()
        assert await finish(replica["c"].client, first, ANSWERS) == "a: 1"
    assert till.effects == [("a", "before"), ("a", "after")]


async def test_a_run_that_is_evicted_while_its_turn_is_claimed_gives_it_back(stores: Stores) -> None:
    till = Till()
    async with replicas(stores, till.ask_one, max_live=1) as (a, b, _):
        first = await begin(a.client, "tool")
        came, go_on = a.wire.hold_reply("change")
        served = waiting_at(b, first)
        await came.wait()
        await begin(a.client, "tool")
        go_on.set()
        assert await served == "b: 1"


async def test_cancelling_at_the_owner_refuses_the_state_everywhere(stores: Stores) -> None:
    till = Till()
    came, _ = till.gate("a", "after")
    async with replicas(stores, till.ask_one) as (a, b, _):
        first = await begin(a.client, "tool")
        served = waiting_at(a, first)
        await came.wait()
        served.cancel()
        await asyncio.gather(served, return_exceptions=True)
        with pytest.raises(MCPError, match="cancelled"):
            await retry(b.client, first, ANSWERS)


async def test_over_http_a_retry_that_broke_off_at_the_owner_is_joined_at_another_replica(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "GRACE_SECONDS", 10 * BEAT)
    till = Till()
    came, go_on = till.gate("a", "after")

    def server(name: str) -> Any:
        async def tool(elicit: Elicit) -> str:
            return await till.ask_one(name, elicit)

        return asking("mcpserver", tool, keys=KEYS, store=Wire(stores()))

    async with (
        asyncio.timeout(20),
        served(server("a"), stateless_http=True) as at_a,
        served(server("b"), stateless_http=True) as at_b,
        connect(at_b) as b,
    ):
        async with connect(at_a) as a:
            first = await begin(a, "tool")
            broken = asyncio.create_task(finish(a, first, ANSWERS))
            await came.wait()
            broken.cancel()
            await asyncio.gather(broken, return_exceptions=True)
        joined = asyncio.create_task(finish(b, first, ANSWERS))
        await beats(15)  # by then a run that nobody had joined would be cancelled
        go_on.set()
        assert await joined == "a: 1"
    assert till.effects == [("a", "before"), ("a", "after")]


# --- resume codes ---------------------------------------------------------------------------------


async def test_a_resume_code_at_another_replica_continues_the_live_run(stores: Stores) -> None:
    till = Till()
    async with replicas(stores, till.pay, max_rounds=1) as (a, b, c):
        ended = await retry(b.client, await begin(a.client, "tool"), ANSWERS)
        assert isinstance(ended, CallToolResult)
        resumed = await send(c.client, "midcall_continue", {"code": code_of(ended)})
        assert isinstance(resumed, Round)
        assert resumed.asked == ["b?"]
        assert await finish(b.client, resumed, ANSWERS) == "a: 1 2"
    assert [at for at, _ in till.effects] == ["a"] * 3


async def test_an_answer_that_a_model_brings_with_a_code_travels_to_the_run(stores: Stores) -> None:
    runs: list[str] = []

    async def tool(at: str, _: Elicit) -> str:
        runs.append(at)
        words = [await ask(f"{name}?", str, via={"relay"}) for name in "ab"]
        return f"{at}: {' '.join(words)}"

    async with replicas(stores, tool, relay=True, client={"modes": ()}) as (a, b, c):
        asked = await a.client.call_tool("tool", {})
        for at, word in ((b, "1"), (c, "2")):
            answer = {"code": code_of(asked), "action": "accept", "content": {"answer": word}}
            asked = await at.client.call_tool("midcall_answer", answer)
        assert (text(asked), bool(asked.is_error)) == ("a: 1 2", False)
    assert runs == ["a"]


async def test_a_call_that_was_resumed_at_another_replica_asks_by_rounds_again(stores: Stores) -> None:
    async def tool(at: str, elicit: Elicit) -> str:
        word = await ask("a?", str, via={"relay"})
        return f"{at}: {word} {await elicit('b?')}"

    async with replicas(stores, tool, relay=True) as (a, b, c):
        asked = await a.client.call_tool("tool", {})
        answer = {"code": code_of(asked), "action": "accept", "content": {"answer": "1"}}
        second = await send(b.client, "midcall_answer", answer)
        assert isinstance(second, Round)
        assert await finish(c.client, second, ANSWERS) == "a: 1 2"


# --- beats ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", ["a code", "a large journal"])
async def test_a_run_that_waits_is_beaten_for_however_long_its_round_took_to_store(
    stores: Stores, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    till = Till()

    async def tool(at: str, elicit: Elicit) -> str:
        await till.happen(at, "before")
        word = await (ask("a?", str, via={"relay"}) if first == "a code" else elicit("a?"))
        await till.happen(at, "charged")
        return f"{at}: {word}"

    came, go_on = till.gate("a", "charged")
    if first == "a large journal":
        monkeypatch.setattr(replies, "STATE_BYTES", 10)
    client = {"modes": ()} if first == "a code" else {}
    async with replicas(stores, tool, relay=True, client=client) as (a, b, _):
        stored, store = a.wire.hold_reply("create")
        if first == "a code":
            asking_now = asyncio.create_task(a.client.call_tool("tool", {}))
        else:
            asking_now = asyncio.create_task(begin(a.client, "tool"))
        await stored.wait()
        await beats()
        store.set()
        asked: Any = await asking_now

        def answer(at: Replica) -> asyncio.Task[Any]:
            if isinstance(asked, Round):
                return asyncio.create_task(finish(at.client, asked, ANSWERS))
            answered = {"code": code_of(asked), "action": "accept", "content": {"answer": "1"}}
            return asyncio.create_task(at.client.call_tool("midcall_answer", answered))

        at_a = answer(a)
        await came.wait()
        at_b = answer(b)
        await beats(15)
        go_on.set()
        said = [each if isinstance(each, str) else text(each) for each in (await at_a, await at_b)]
        assert said == ["a: 1"] * 2
    assert till.effects == [("a", "before"), ("a", "charged")]


async def test_a_claim_that_cannot_be_given_back_at_once_is_given_back_later(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its request is gone, and an outage comes at that moment: nobody may wait for it for ever."""
    till = Till()
    failed = asyncio.Event()
    give_back = handover.Handover.give_back

    async with replicas(stores, till.ask_one) as (a, b, _):

        async def fail(self: handover.Handover, claim: handover.Claim, *, keep: bool = False) -> None:
            a.wire.is_cut = True
            try:
                await give_back(self, claim, keep=keep)
            finally:
                a.wire.is_cut = False
                failed.set()

        first = await begin(a.client, "tool")
        came, go_on = a.wire.hold_reply("create")
        gone = waiting_at(a, first)
        await came.wait()
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        with monkeypatch.context() as patch:
            patch.setattr(handover.Handover, "give_back", fail)
            go_on.set()
            await failed.wait()
        assert await asyncio.gather(waiting_at(b, first), waiting_at(a, first)) == ["a: 1"] * 2
    assert till.effects == [("a", "before"), ("a", "after")]


class Slow:
    """A store with one record of a replica, whose reads a test can fail, or delay."""

    def __init__(self) -> None:
        self.version = 1
        self.clock = 0.0
        self.takes = 0.0
        self.is_cut = self.is_deleted = False

    async def read(self, id: str) -> Record | None:
        self.clock += self.takes
        if self.is_cut:
            raise StoreError("The wire is cut.")
        return None if self.is_deleted else Record(id, "replica", "", "{}", 0.0, 1.0, version=self.version)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    store = Slow()
    monkeypatch.setattr(handover.time, "monotonic", lambda: store.clock)
    return store


async def looks(store: Slow, pulse: Any, count: int) -> list[bool]:
    """So many looks, each a beat later."""
    found: list[bool] = []
    for _ in range(count):
        store.clock += BEAT
        found.append(await pulse.is_gone())
    return found


async def test_four_reads_without_a_new_beat_mean_that_a_replica_is_gone(slow: Slow) -> None:
    pulse: Any = handover._Pulse(slow, "b")
    assert await looks(slow, pulse, 4) == [False, False, False, True]
    slow.version += 1
    assert await looks(slow, pulse, 4) == [False, False, False, True]


async def test_a_deleted_record_is_a_beat_that_is_missing_and_no_more(slow: Slow) -> None:
    """Anyone who shares the store can delete it. Its owner writes it again with its next beat."""
    pulse: Any = handover._Pulse(slow, "b")
    await looks(slow, pulse, 1)
    slow.is_deleted = True
    assert await looks(slow, pulse, 2) == [False, False]
    slow.is_deleted, slow.version = False, 2
    assert await looks(slow, pulse, 1) == [False]
    slow.is_deleted = True
    assert await looks(slow, pulse, 3) == [False, False, True]


async def test_a_read_that_fails_starts_over(slow: Slow) -> None:
    pulse: Any = handover._Pulse(slow, "b")
    await looks(slow, pulse, 3)
    slow.is_cut = True
    assert await looks(slow, pulse, 9) == [False] * 9
    slow.is_cut = False
    assert await looks(slow, pulse, 4) == [False, False, False, True]


@pytest.mark.parametrize("late", ["the read", "the reader"])
async def test_a_read_that_is_late_starts_over(slow: Slow, late: str) -> None:
    """The reader may have been stopped itself, and the beats of all others with it."""
    pulse: Any = handover._Pulse(slow, "b")
    await looks(slow, pulse, 3)
    if late == "the read":
        slow.takes = 4 * BEAT
    else:
        slow.clock += 4 * BEAT
    assert await looks(slow, pulse, 1) == [False]
    slow.takes = 0.0
    assert await looks(slow, pulse, 3) == [False, False, True]
