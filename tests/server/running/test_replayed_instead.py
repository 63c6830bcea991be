"""Without live runs, a run is ended before its round leaves, and the call is replayed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp.server.request_state import RequestStateSecurity

import midcall
from midcall import from_thread, once, suspending
from midcall.settings.calls import BRANCH_POLL_SECONDS
from midcall.testing import ERAS, Era, connect, run
from tests.calling import MEANS, Elicit, Means, asking, bare_asking, begin, finish, proceed
from tests.kinds import server_with

ANSWERS = {"a?": "1", "b?": "2"}
KEYS = ["k key of the tests: 0123456789abcdef"]
REPLAYING = [{"live": False}, {"keys": KEYS}]


@pytest.mark.parametrize("options", REPLAYING, ids=["live=False", "shared keys"])
@pytest.mark.parametrize("means", MEANS)
async def test_the_cleanup_of_a_run_has_run_before_the_client_has_the_round(
    means: Means, options: dict[str, Any]
) -> None:
    trail: list[str] = []

    async def tool(elicit: Elicit) -> str:
        trail.append("began")
        try:
            return f"{await elicit('a?')} {await elicit('b?')}"
        finally:
            await asyncio.sleep(0.01)
            trail.append("ended")

    async with connect(asking(means, tool, **options)) as client:
        first = await begin(client, "tool")
        assert trail == ["began", "ended"]
        second = await proceed(client, first, ANSWERS)
        assert trail == ["began", "ended"] * 2
        assert await finish(client, second, ANSWERS) == "1 2"
    assert trail == ["began", "ended"] * 3


async def test_a_lock_that_a_tool_holds_is_free_for_its_replay_elsewhere() -> None:
    lock = asyncio.Lock()

    async def tool(elicit: Elicit) -> str:
        async with lock:
            return await elicit("a?")

    async with (
        asyncio.timeout(10),
        connect(asking("mcpserver", tool, keys=KEYS)) as here,
        connect(asking("mcpserver", tool, keys=KEYS)) as there,
    ):
        assert await finish(there, await begin(here, "tool"), ANSWERS) == "1"


async def test_a_def_tool_has_left_its_thread_before_the_client_has_the_round() -> None:
    trail: list[str] = []

    def tool() -> str:
        try:
            return from_thread.ask("a?", str)
        finally:
            trail.append("ended")

    async with asyncio.timeout(20), connect(server_with(tool, live=False)) as client:
        first = await begin(client, "tool")
        assert trail == ["ended"]
        assert await finish(client, first, ANSWERS) == "1"


async def test_cleanup_can_tell_that_the_call_continues() -> None:
    told: list[bool] = []

    async def tool(elicit: Elicit) -> str:
        try:
            return await elicit("a?")
        finally:
            told.append(suspending())

    async with connect(asking("ask", tool, live=False)) as client:
        assert await finish(client, await begin(client, "tool"), ANSWERS) == "1"
    assert told == [True, False]


@pytest.mark.parametrize("era", ERAS)
async def test_an_effect_in_once_happens_once_all_the_same(era: Era) -> None:
    paid: list[str] = []

    async def tool() -> str:
        await once("pay", paid.append, "x")
        return f"{await midcall.ask('a?', str)} {await midcall.ask('b?', str)}"

    done = await run(server_with(tool, live=False), "tool", {}, ANSWERS, era=era)
    assert (done.text, paid) == ("1 2", ["x"])


async def test_branches_are_ended_with_their_run() -> None:
    trail: list[str] = []

    async def tool(elicit: Elicit) -> str:
        async def branch(name: str) -> str:
            try:
                return await elicit(f"{name}?")
            finally:
                trail.append(name)

        return " ".join(await asyncio.gather(branch("a"), branch("b")))

    async with connect(asking("mcpserver", tool, live=False)) as client:
        first = await begin(client, "tool")
        assert first.asked == ["a?", "b?"]
        assert sorted(trail) == ["a", "b"]
        second = await proceed(client, first, {"b?": "2"})
        assert second.asked == ["a?"]
        assert await finish(client, second, ANSWERS) == "1 2"


async def test_a_state_continues_once_in_one_process_without_live_runs_too() -> None:
    paid: list[str] = []

    async def pay(elicit: Elicit) -> str:
        paid.append(await elicit("a?"))
        return f"paid {len(paid)}"

    async with connect(asking("mcpserver", pay, live=False)) as client:
        first = await begin(client, "pay")
        assert [await finish(client, first, ANSWERS) for _ in range(2)] == ["paid 1"] * 2
        with pytest.raises(Exception, match="already continued with other answers"):
            await finish(client, first, {"a?": "another"})
    assert paid == ["1"]


async def test_a_replica_without_the_run_replays_the_call_from_its_state() -> None:
    effects: list[str] = []

    async def tool(elicit: Elicit) -> str:
        effects.append("charged")
        return f"{await elicit('a?')} {await elicit('b?')}"

    async with (
        connect(asking("mcpserver", tool, keys=KEYS, live=True)) as here,
        connect(asking("mcpserver", tool, keys=KEYS, live=True)) as there,
    ):
        second = await proceed(there, await begin(here, "tool"), ANSWERS)
        assert second.asked == ["b?"]
        assert await finish(there, second, ANSWERS) == "1 2"
    assert len(effects) == 2  # once on each replica


async def test_what_was_recorded_in_a_live_run_is_there_for_a_replica_that_replays_it() -> None:
    paid: list[str] = []
    runs: list[str] = []

    async def pay() -> int:
        paid.append("paid")
        return len(paid)

    async def tool() -> str:
        runs.append("run")
        number = await once("pay", pay)
        first, second = await asyncio.gather(_asked("a?"), _asked("b?"))
        return f"{number} {first} {second} {await _asked('c?')}"

    replicas = [server_with(tool, keys=KEYS, live=True) for _ in range(2)]
    async with connect(replicas[0]) as here, connect(replicas[1]) as there:
        second = await proceed(here, await begin(here, "tool"), {"b?": "2"})
        third = await proceed(here, second, {"a?": "1"})
        assert len(runs) == 1
        assert await finish(there, third, {"c?": "3"}) == "1 1 2 3"
    assert (paid, len(runs)) == (["paid"], 2)


async def test_no_round_leaves_while_a_branch_works_on_that_has_withdrawn_the_questions() -> None:
    """A replay waits until its branches have come to their answers. It isn't quiet after that if it was before."""
    trail: list[str] = []

    async def tool() -> str:
        trail.append("began")
        other = asyncio.create_task(_asked("b?"))
        for _ in range(30 if len(trail) > 1 else 0):  # the run is quiet meanwhile
            await asyncio.sleep(0)
        first = await _asked("a?")
        other.cancel()
        await asyncio.sleep(10 * BRANCH_POLL_SECONDS)
        trail.append("worked")
        return first

    async with asyncio.timeout(20), connect(server_with(tool, live=False)) as client:
        first = await begin(client, "tool")
        assert first.asked == ["a?", "b?"]
        assert await finish(client, first, {"a?": "1"}) == "1"
    assert trail == ["began", "began", "worked"]


async def _asked(message: str) -> str:
    return await midcall.ask(message, str)


async def test_replicas_that_share_a_policy_of_the_servers_own_end_the_run_before_its_round_leaves() -> None:
    """The SDK's way to share keys: any of them may get the next request."""
    trail: list[tuple[str, str]] = []

    def replica(at: str) -> Any:
        async def tool(elicit: Elicit) -> str:
            trail.append((at, "locks"))
            try:
                return f"{at}: {await elicit('a?')}"
            finally:
                trail.append((at, "unlocks"))

        shared = RequestStateSecurity(keys=["s key of the tests: 0123456789abcdef"], ttl=900)
        server = bare_asking("mcpserver", tool, request_state_security=shared)
        midcall.install(server)
        return server

    async with connect(replica("a")) as a, connect(replica("b")) as b:
        assert await finish(b, await begin(a, "tool"), {"a?": "1"}) == "b: 1"
    assert trail == [("a", "locks"), ("a", "unlocks"), ("b", "locks"), ("b", "unlocks")]
