"""Live runs are bounded: the oldest waiting run is evicted first, and its call is replayed when the answer arrives."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, ElicitResult

import midcall
from midcall import once
from midcall.core.journal import Head
from midcall.server.running import runs, turn, waiting
from midcall.stores.memory import Memory
from midcall.testing import connect
from tests.calling import MEANS, Elicit, Means, Round, asking, bare_asking, begin, finish, proceed, retry, send
from tests.kinds import server_with
from tests.server.codes import code_of
from tests.server.running.replicas import Wire
from tests.serving import served

ANSWERS = {"a?": "1", "b?": "2"}
KEYS = ["k key of the tests: 0123456789abcdef"]


class Runs:
    """Tools that are told apart by an argument, and what happened to each."""

    def __init__(self) -> None:
        self.began: Counter[str] = Counter()
        self.ended: dict[str, asyncio.Event] = {}

    async def tool(self, name: str) -> str:
        self.began[name] += 1
        ended = self.ended.setdefault(name, asyncio.Event())
        try:
            return f"{name} {await midcall.ask('a?', str)}"
        finally:
            ended.set()


async def test_the_oldest_run_is_ended_when_there_are_too_many_and_replayed_when_its_answer_comes() -> None:
    runs = Runs()
    async with asyncio.timeout(10), connect(server_with(runs.tool, max_live=2)) as client:
        one, two, three = [await begin(client, "tool", {"name": name}) for name in ("one", "two", "three")]
        await runs.ended["one"].wait()
        assert not runs.ended["two"].is_set()
        assert [await finish(client, each, ANSWERS) for each in (one, two, three)] == ["one 1", "two 1", "three 1"]
    assert runs.began == {"one": 2, "two": 1, "three": 1}


async def test_the_environment_says_how_many_may_live(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDCALL_MAX_LIVE", "1")
    runs = Runs()
    async with asyncio.timeout(10), connect(server_with(runs.tool)) as client:
        one, two = [await begin(client, "tool", {"name": name}) for name in ("one", "two")]
        await runs.ended["one"].wait()
        assert [await finish(client, each, ANSWERS) for each in (one, two)] == ["one 1", "two 1"]
    assert runs.began == {"one": 2, "two": 1}


async def test_what_counts_is_how_long_a_run_has_waited_for_this_answer() -> None:
    """A call that was continued meanwhile is not the oldest any more."""
    runs: Counter[str] = Counter()
    ended: dict[str, asyncio.Event] = {}

    async def tool(name: str) -> str:
        runs[name] += 1
        ended[name] = asyncio.Event()
        try:
            return f"{name} {await midcall.ask('a?', str)} {await midcall.ask('b?', str)}"
        finally:
            ended[name].set()

    async with asyncio.timeout(10), connect(server_with(tool, max_live=2)) as client:
        one, two = [await begin(client, "tool", {"name": name}) for name in ("one", "two")]
        one = await proceed(client, one, ANSWERS)
        await begin(client, "tool", {"name": "three"})
        await ended["two"].wait()
        assert await finish(client, one, ANSWERS) == "one 1 2"
        two = await proceed(client, two, ANSWERS)
        assert await finish(client, two, ANSWERS) == "two 1 2"
    assert (runs["one"], runs["two"]) == (1, 2)


@pytest.mark.parametrize("means", MEANS)
async def test_a_run_that_is_being_served_is_not_evicted(means: Means) -> None:
    working, go_on, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()
    began: list[str] = []

    async def works(elicit: Elicit) -> str:
        began.append("works")
        await elicit("a?")
        working.set()
        await go_on.wait()
        return "worked"

    async def waits(elicit: Elicit) -> str:
        try:
            return await elicit("a?")
        finally:
            ended.set()

    async with asyncio.timeout(10), connect(asking(means, works, waits, max_live=1)) as client:
        served = asyncio.create_task(finish(client, await begin(client, "works"), ANSWERS))
        await working.wait()
        await begin(client, "waits")
        await begin(client, "waits")
        await ended.wait()
        go_on.set()
        assert await served == "worked"
    assert began == ["works"]


async def test_eviction_does_not_delay_the_call_that_caused_it() -> None:
    ending, release = asyncio.Event(), asyncio.Event()

    async def slow_to_end(elicit: Elicit) -> str:
        try:
            return await elicit("a?")
        finally:
            ending.set()
            await release.wait()

    async def tool(elicit: Elicit) -> str:
        return await elicit("a?")

    async with asyncio.timeout(10), connect(asking("mcpserver", slow_to_end, tool, max_live=1)) as client:
        await begin(client, "slow_to_end")
        newer = await begin(client, "tool")  # while the other's cleanup is held up
        await ending.wait()
        assert await finish(client, newer, ANSWERS) == "1"
        release.set()


async def test_a_replay_begins_when_the_evicted_run_has_ended() -> None:
    ending, release = asyncio.Event(), asyncio.Event()
    trail: list[str] = []

    async def tool(elicit: Elicit) -> str:
        trail.append("began")
        try:
            return await elicit("a?")
        finally:
            ending.set()
            await release.wait()
            trail.append("ended")

    async def other(elicit: Elicit) -> str:
        return await elicit("a?")

    async with asyncio.timeout(10), connect(asking("mcpserver", tool, other, max_live=1)) as client:
        first = await begin(client, "tool")
        await begin(client, "other")
        await ending.wait()
        answered = asyncio.create_task(finish(client, first, ANSWERS))
        for _ in range(10):
            await client.list_tools()  # the retry has reached the server, and a replay would have begun by now
        release.set()
        assert await answered == "1"
    assert trail == ["began", "ended", "began", "ended"]


async def test_first_the_runs_of_the_caller_with_most_are_evicted() -> None:
    runs = Runs()

    def caller(ctx: Any) -> str:
        return str((ctx.params or {}).get("_meta", {}).get("example.com/user"))

    server = server_with(runs.tool, max_live=2, principal=caller)
    async with asyncio.timeout(10), connect(server) as client:
        quiet: Any = {"meta": {"example.com/user": "quiet"}}
        greedy: Any = {"meta": {"example.com/user": "greedy"}}
        oldest = await begin(client, "tool", {"name": "oldest"}, **quiet)
        one = await begin(client, "tool", {"name": "one"}, **greedy)
        await begin(client, "tool", {"name": "two"}, **greedy)
        await runs.ended["one"].wait()
        assert await finish(client, oldest, ANSWERS, **quiet) == "oldest 1"
        assert await finish(client, one, ANSWERS, **greedy) == "one 1"
    assert runs.began == {"oldest": 1, "one": 2, "two": 1}


async def test_one_caller_may_have_half_of_the_runs_though_there_is_room_for_more() -> None:
    runs = Runs()
    server = server_with(runs.tool, max_live=4, principal=lambda ctx: "greedy")
    async with asyncio.timeout(10), connect(server) as client:
        one, two, three = [await begin(client, "tool", {"name": name}) for name in ("one", "two", "three")]
        await runs.ended["one"].wait()
        assert [await finish(client, each, ANSWERS) for each in (one, two, three)] == ["one 1", "two 1", "three 1"]
    assert runs.began == {"one": 2, "two": 1, "three": 1}


async def test_an_effect_of_an_evicted_call_happens_once_by_once() -> None:
    paid: list[str] = []

    async def pay(name: str) -> str:
        async def charge() -> int:
            paid.append(name)
            return len(paid)

        number = await once("charge", charge)
        return f"{number} {await midcall.ask('a?', str)}"

    async with asyncio.timeout(10), connect(server_with(pay, max_live=1)) as client:
        one, two = [await begin(client, "pay", {"name": name}) for name in ("one", "two")]
        assert [await finish(client, each, ANSWERS) for each in (one, two)] == ["1 1", "2 1"]
    assert paid == ["one", "two"]


async def test_the_same_retry_of_an_evicted_call_again_runs_nothing_either() -> None:
    runs = Runs()
    async with asyncio.timeout(10), connect(server_with(runs.tool, max_live=1)) as client:
        one, _two = [await begin(client, "tool", {"name": name}) for name in ("one", "two")]
        assert [await finish(client, one, ANSWERS) for _ in range(3)] == ["one 1"] * 3
        with pytest.raises(MCPError, match="already continued"):
            await retry(client, one, {"a?": "another"})
    assert runs.began["one"] == 2


async def test_a_run_that_has_finished_between_two_rounds_is_not_evicted() -> None:
    """It waits for nobody, and its effects have happened: a replay would do them again."""
    give_up, done = asyncio.Event(), asyncio.Event()
    effects: list[str] = []

    async def gives_up(elicit: Elicit) -> str:
        async def asked() -> str:
            return await elicit("a?")

        question = asyncio.create_task(asked())
        await give_up.wait()
        question.cancel()
        await asyncio.wait([question])
        effects.append("charged")
        done.set()
        return "without an answer"

    async def tool(elicit: Elicit) -> str:
        return await elicit("a?")

    async with asyncio.timeout(10), connect(asking("mcpserver", gives_up, tool, max_live=1)) as client:
        first = await begin(client, "gives_up")
        give_up.set()
        await done.wait()
        await begin(client, "tool")
        await begin(client, "tool")
        assert await finish(client, first, ANSWERS) == "without an answer"
    assert effects == ["charged"]


# --- what the log says -----------------------------------------------------------------------


def replays(caplog: pytest.LogCaptureFixture, tool: str) -> list[str]:
    said = [each.getMessage() for each in caplog.records if each.name == "midcall" and each.levelno == logging.INFO]
    return [each for each in said if tool in each]


async def test_a_replay_after_an_eviction_is_logged_once_per_tool(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "midcall")

    async def book_a_room(elicit: Elicit) -> str:
        return await elicit("a?")

    async def book_a_table(elicit: Elicit) -> str:
        return await elicit("a?")

    async with connect(asking("mcpserver", book_a_room, book_a_table, max_live=1)) as client:
        names = ("book_a_room", "book_a_room", "book_a_table", "book_a_table", "book_a_room")
        rounds = [await begin(client, name) for name in names]
        for each in rounds[:-1]:
            assert await finish(client, each, ANSWERS) == "1"
    for tool in ("book_a_room", "book_a_table"):
        [line] = replays(caplog, tool)
        assert "evicted" in line
        assert "once" in line


async def test_a_replay_of_a_call_that_began_elsewhere_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "midcall")

    async def book_a_room(elicit: Elicit) -> str:
        return await elicit("a?")

    async with (
        connect(asking("mcpserver", book_a_room, keys=KEYS, live=True)) as here,
        connect(asking("mcpserver", book_a_room, keys=KEYS, live=True)) as there,
    ):
        first = await begin(here, "book_a_room")
        assert replays(caplog, "book_a_room") == []
        assert await finish(there, first, ANSWERS) == "1"
    [line] = replays(caplog, "book_a_room")
    assert all(word in line for word in ("restart", "another replica", "once"))


async def test_a_replay_because_the_store_could_not_be_reached_is_logged_as_that(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "midcall")
    wire = Wire(Memory())

    async def book_a_room(elicit: Elicit) -> str:
        return await elicit("a?")

    async with connect(asking("mcpserver", book_a_room, keys=KEYS, store=wire)) as client:
        wire.is_cut = True
        first = await begin(client, "book_a_room")
        wire.is_cut = False
        assert await finish(client, first, ANSWERS) == "1"
    [line] = replays(caplog, "book_a_room")
    assert "store could not be reached" in line


async def test_a_live_call_is_not_a_replay_and_nothing_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "midcall")

    async def book_a_room(elicit: Elicit) -> str:
        return await elicit("a?")

    server = bare_asking("mcpserver", book_a_room)
    midcall.install(server)
    async with connect(server) as client:
        first = await begin(client, "book_a_room")
        assert [await finish(client, first, ANSWERS) for _ in range(2)] == ["1", "1"]
    assert [line for line in replays(caplog, "book_a_room") if "once" in line] == []


# --- nobody can take the room of others --------------------------------------------------------


async def test_results_that_nobody_fetches_are_bounded_and_a_forgotten_one_is_refused_and_not_made_again() -> None:
    """A tool that ends between two requests leaves its result for the next one."""
    ran: Counter[str] = Counter()
    ended: dict[str, asyncio.Event] = {}

    async def gives_up(name: str) -> str:
        ran[name] += 1
        ended[name] = asyncio.Event()
        try:
            await midcall.ask("a?", str, timeout=0.01)
        except midcall.TimedOut:
            return f"{name} was not answered"
        finally:
            ended[name].set()
        return "answered"

    async with asyncio.timeout(10), connect(server_with(gives_up, max_live=2)) as client:
        rounds = {}
        for name in ("one", "two", "three", "four"):
            rounds[name] = await begin(client, "gives_up", {"name": name})
            await ended[name].wait()
        with pytest.raises(MCPError, match="its result is gone"):
            await retry(client, rounds["one"], ANSWERS)
        for name in ("two", "three", "four"):
            assert await finish(client, rounds[name], ANSWERS) == f"{name} was not answered"
    assert ran == dict.fromkeys(rounds, 1)


@asynccontextmanager
async def client_at(url: str, address: str) -> AsyncIterator[Client]:
    """A client at another address of this machine."""
    way = httpx2.AsyncHTTPTransport(local_address=address)
    async with (
        httpx2.AsyncClient(transport=way, timeout=30) as http,
        connect(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


@pytest.mark.parametrize("finds", ["a live run", "a code"])
async def test_a_crowd_of_one_address_takes_the_room_of_that_address_only(finds: str) -> None:
    runs = Runs()
    code = finds == "a code"

    async def twice(name: str) -> str:
        return f"{await runs.tool(name)} {await midcall.ask('b?', str)}"

    server = server_with(twice, max_live=4, max_rounds=1 if code else 9)
    async with (
        asyncio.timeout(20),
        served(server) as url,
        client_at(url, "127.0.0.2") as ada,
        client_at(url, "127.0.0.3") as crowd,
    ):
        mine = await begin(ada, "twice", {"name": "mine"})
        ended = await retry(ada, mine, ANSWERS) if code else None
        for number in range(8):
            theirs = await begin(crowd, "twice", {"name": f"theirs {number}"})
            if code:
                await retry(crowd, theirs, ANSWERS)
        if isinstance(ended, CallToolResult):
            second = await send(ada, "midcall_continue", {"code": code_of(ended)})
        else:
            second = await retry(ada, mine, ANSWERS)
        assert isinstance(second, Round)
        assert await finish(ada, second, ANSWERS) == "mine 1 2"
    assert runs.began["mine"] == 1


async def test_large_answers_of_one_caller_take_only_so_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "LARGE_JOURNAL_BYTES", 1_000_000)
    answers = {"a?": "x" * 200_000, "b?": "2"}

    async def twice() -> str:
        return f"{len(await midcall.ask('a?', str))} {await midcall.ask('b?', str)}"

    async with connect(server_with(twice)) as client:
        one, two = [await proceed(client, await begin(client, "twice"), answers) for _ in range(2)]
        refused = await retry(client, await begin(client, "twice"), answers)
        assert isinstance(refused, CallToolResult)
        assert refused.is_error
        small = await proceed(client, await begin(client, "twice"), {"a?": "1"})
        assert await finish(client, one, answers) == "200000 2"
        three = await proceed(client, await begin(client, "twice"), answers)
        assert [await finish(client, each, answers) for each in (small, two, three)] == ["1 2", *["200000 2"] * 2]


def caller(ctx: Any) -> str:
    return str((ctx.params or {}).get("_meta", {}).get("example.com/user"))


def called_by(name: str) -> Any:
    return {"meta": {"example.com/user": name}}


async def test_large_arguments_of_one_caller_take_only_so_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "WAITING_BYTES", 1_000_000)
    ran: Counter[str] = Counter()

    async def tool(name: str, text: str) -> str:
        ran[name] += 1
        return f"{len(text)} {await midcall.ask('a?', str)}"

    crowd, ada = called_by("crowd"), called_by("ada")
    async with asyncio.timeout(10), connect(server_with(tool, principal=caller)) as client:
        mine = await begin(client, "tool", {"name": "mine", "text": "x" * 100_000}, **ada)
        rounds = [
            await begin(client, "tool", {"name": str(number), "text": "x" * 300_000}, **crowd) for number in range(4)
        ]
        small = await begin(client, "tool", {"name": "small", "text": ""}, **crowd)
        assert await finish(client, mine, ANSWERS, **ada) == "100000 1"
        assert await finish(client, small, ANSWERS, **crowd) == "0 1"
        assert [await finish(client, each, ANSWERS, **crowd) for each in rounds] == ["300000 1"] * 4
    assert (ran["mine"], ran["small"], ran["3"]) == (1, 1, 1)
    assert (ran["0"], ran["1"], ran["2"]) == (2, 2, 2)


async def test_over_http_the_bodies_of_requests_count_and_an_address_takes_no_room_of_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(waiting, "WAITING_BYTES", 1_000_000)
    ran: Counter[str] = Counter()

    async def tool(name: str, text: str) -> str:
        ran[name] += 1
        return f"{len(text)} {await midcall.ask('a?', str)}"

    async with (
        asyncio.timeout(20),
        served(server_with(tool)) as url,
        client_at(url, "127.0.0.2") as ada,
        client_at(url, "127.0.0.3") as crowd,
    ):
        mine = await begin(ada, "tool", {"name": "mine", "text": "x" * 50_000})
        rounds = [await begin(crowd, "tool", {"name": str(each), "text": "x" * 200_000}) for each in range(3)]
        assert await finish(ada, mine, ANSWERS) == "50000 1"
        assert [await finish(crowd, each, ANSWERS) for each in rounds] == ["200000 1"] * 3
    assert ran == {"mine": 1, "0": 2, "1": 1, "2": 1}


async def test_large_answers_count_too_while_their_call_waits_for_the_next_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(waiting, "WAITING_BYTES", 100_000)
    ran: Counter[str] = Counter()

    async def twice(name: str) -> str:
        ran[name] += 1
        return f"{len(await midcall.ask('a?', str))} {await midcall.ask('b?', str)}"

    answers = {"a?": "x" * 60_000, "b?": "2"}
    async with asyncio.timeout(10), connect(server_with(twice)) as client:
        one, two = [await proceed(client, await begin(client, "twice", {"name": name}), answers) for name in "ab"]
        assert [await finish(client, each, answers) for each in (one, two)] == ["60000 2"] * 2
    assert sorted(ran.values()) == [1, 2]


# --- what was continued ---------------------------------------------------------------------------


@pytest.mark.parametrize("continued", ["declined", "in service"])
async def test_the_turns_of_a_crowd_do_not_have_those_of_others_forgotten(
    monkeypatch: pytest.MonkeyPatch, continued: str
) -> None:
    """Without a store, a state could be continued again, or beside its own run."""
    monkeypatch.setattr(turn, "MAX_TURNS", 4)
    working, go_on = asyncio.Event(), asyncio.Event()
    ran: Counter[str] = Counter()

    async def tool(name: str) -> str:
        answer = await midcall.ask("a?", str)
        ran[name] += 1
        if name == "mine" and continued == "in service":
            working.set()
            await go_on.wait()
        return answer

    crowd, ada = called_by("crowd"), called_by("crowd" if continued == "in service" else "ada")
    no = {"a?": ElicitResult(action="decline")}
    async with asyncio.timeout(10), connect(server_with(tool, principal=caller)) as client:
        first = await begin(client, "tool", {"name": "mine"}, **ada)
        if continued == "declined":
            await retry(client, first, no, **ada)
        else:
            served_now = asyncio.create_task(finish(client, first, ANSWERS, **ada))
            await working.wait()
        for number in range(8):
            await finish(client, await begin(client, "tool", {"name": str(number)}, **crowd), ANSWERS, **crowd)
        if continued == "declined":
            with pytest.raises(MCPError, match="already continued"):
                await retry(client, first, ANSWERS, **ada)
            assert ran["mine"] == 0
        else:
            again = asyncio.create_task(finish(client, first, ANSWERS, **ada))
            await client.list_tools()  # the same retry has reached the server
            go_on.set()
            assert await asyncio.gather(served_now, again) == ["1", "1"]
            assert ran["mine"] == 1


async def test_the_same_caller_with_too_many_turns_has_the_oldest_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn, "MAX_TURNS", 4)
    remembered = turn.Past(in_store=False)
    for number in range(9):
        remembered.join(Head("call", number, ""), turn.Given({}), "ada")
    assert [number for number in range(9) if ("call", number) in remembered] == [5, 6, 7, 8]


@pytest.mark.parametrize("bound", ["by number", "by bytes"])
async def test_a_retry_of_one_caller_gets_its_result_again_however_much_others_get(
    monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    size = 1 if bound == "by number" else 400_000
    monkeypatch.setattr(turn, "MAX_TURN_OUTCOMES", 4 if bound == "by number" else 1_000)
    monkeypatch.setattr(turn, "OUTCOME_BYTES", 1_000_000)

    async def tool(name: str) -> str:
        return await midcall.ask("a?", str)

    crowd, ada = called_by("crowd"), called_by("ada")
    long = {"a?": "x" * size}
    async with asyncio.timeout(10), connect(server_with(tool, principal=caller)) as client:
        mine = await begin(client, "tool", {"name": "mine"}, **ada)
        assert await finish(client, mine, ANSWERS, **ada) == "1"
        theirs = [await begin(client, "tool", {"name": str(number)}, **crowd) for number in range(8)]
        for each in theirs:
            assert len(await finish(client, each, long, **crowd)) == size
        assert await finish(client, mine, ANSWERS, **ada) == "1"
        assert len(await finish(client, theirs[-1], long, **crowd)) == size
        with pytest.raises(MCPError, match="its result is gone"):
            await retry(client, theirs[0], long, **crowd)


async def test_a_result_that_is_larger_than_all_may_be_together_pushes_out_only_its_callers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turn, "OUTCOME_BYTES", 1_000_000)

    async def tool(name: str) -> str:
        return await midcall.ask("a?", str)

    crowd, ada = called_by("crowd"), called_by("ada")
    long = {"a?": "x" * 3_000_000}
    async with asyncio.timeout(10), connect(server_with(tool, principal=caller)) as client:
        mine, more = [await begin(client, "tool", {"name": name}, **ada) for name in ("mine", "more")]
        theirs = await begin(client, "tool", {"name": "theirs"}, **crowd)
        assert await finish(client, mine, ANSWERS, **ada) == "1"
        for _ in range(2):
            assert len(await finish(client, theirs, long, **crowd)) == 3_000_000
        assert await finish(client, more, ANSWERS, **ada) == "1"
        assert [await finish(client, each, ANSWERS, **ada) for each in (mine, more)] == ["1", "1"]
        with pytest.raises(MCPError, match="its result is gone"):
            await retry(client, theirs, long, **crowd)
