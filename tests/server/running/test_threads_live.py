"""A `def` tool waits for its answer in its own thread; it is ended by failing its question."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from typing import Any

import anyio.to_thread
import pytest
from mcp import Client
from mcp_types import ElicitResult

from midcall import ask, from_thread
from midcall.server.running import threads
from midcall.testing import connect
from tests.calling import begin, finish, proceed
from tests.kinds import Kind, server_with
from tests.rounds import text

ANSWERS = {"a?": "1", "b?": "2"}
SECONDS = 20


def borrowed() -> int:
    return anyio.to_thread.current_default_thread_limiter().statistics().borrowed_tokens


@pytest.mark.parametrize("kind", ["mcpserver", "fastmcp"])
async def test_a_def_tool_runs_once_and_stays_in_its_thread(kind: Kind) -> None:
    used: list[int] = []

    def tool() -> str:
        used.append(threading.get_ident())
        answers = [from_thread.ask("a?", str), from_thread.ask("b?", str)]
        used.append(threading.get_ident())
        return " ".join(answers)

    async with asyncio.timeout(SECONDS), connect(server_with(tool, kind=kind)) as client:
        second = await proceed(client, await begin(client, "tool"), ANSWERS)
        assert await finish(client, second, ANSWERS) == "1 2"
    assert len(used) == 2
    assert used[0] == used[1]


async def test_an_async_tool_that_asks_in_a_thread_runs_once() -> None:
    runs: list[str] = []

    def blocking() -> str:
        runs.append("thread")
        return from_thread.ask("a?", str)

    async def tool() -> str:
        runs.append("tool")
        return f"{await anyio.to_thread.run_sync(blocking)} {await ask('b?', str)}"

    async with asyncio.timeout(SECONDS), connect(server_with(tool)) as client:
        second = await proceed(client, await begin(client, "tool"), ANSWERS)
        assert await finish(client, second, ANSWERS) == "1 2"
    assert runs == ["tool", "thread"]


async def test_an_evicted_def_tool_leaves_its_thread_before_it_is_replayed() -> None:
    ending, release = threading.Event(), threading.Event()
    trail: list[str] = []

    def tool(name: str) -> str:
        trail.append(f"{name} began")
        try:
            return from_thread.ask("a?", str)
        finally:
            if name == "one" and not release.is_set():
                ending.set()
                release.wait(SECONDS)
            trail.append(f"{name} ended")

    async with asyncio.timeout(SECONDS), connect(server_with(tool, max_live=1)) as client:
        one = await begin(client, "tool", {"name": "one"})
        await begin(client, "tool", {"name": "two"})
        while not ending.is_set():
            await asyncio.sleep(0)
        answered = asyncio.create_task(finish(client, one, ANSWERS))
        for _ in range(10):
            await client.list_tools()  # the retry has reached the server, and a replay would have begun by now
        release.set()
        assert await answered == "1"
    assert [each for each in trail if each.startswith("one")] == ["one began", "one ended"] * 2


async def test_what_follows_the_question_of_an_ended_def_tool_does_not_run() -> None:
    trail: list[str] = []

    def tool() -> str:
        try:
            from_thread.ask("a?", str)
            trail.append("answered")
        except Exception:
            trail.append("caught")
        finally:
            trail.append("ended")
        return "done"

    async with asyncio.timeout(SECONDS), connect(server_with(tool)) as client:
        await begin(client, "tool")
        assert borrowed() == 1
    assert trail == ["ended"]


async def test_at_most_half_of_the_threads_are_held_by_live_runs_and_other_calls_are_replayed() -> None:
    anyio.to_thread.current_default_thread_limiter().total_tokens = 4
    runs: Counter[str] = Counter()

    def tool(name: str) -> str:
        runs[name] += 1
        return f"{name} {from_thread.ask('a?', str)}"

    def plain() -> str:
        return "served"

    names = [str(number) for number in range(6)]
    async with asyncio.timeout(SECONDS), connect(server_with(tool, plain)) as client:
        rounds = [await begin(client, "tool", {"name": name}) for name in names]
        while borrowed() > 2:
            await asyncio.sleep(0)
        assert borrowed() == 2
        assert (await client.call_tool("plain", {})).is_error is False
        assert [await finish(client, each, ANSWERS) for each in rounds] == [f"{name} 1" for name in names]
    assert sorted(runs.values()) == [1, 1, 2, 2, 2, 2]


async def test_a_thread_that_was_given_back_can_be_held_by_another_run() -> None:
    anyio.to_thread.current_default_thread_limiter().total_tokens = 2
    runs: Counter[str] = Counter()

    def tool(name: str) -> str:
        runs[name] += 1
        return from_thread.ask("a?", str)

    async with asyncio.timeout(SECONDS), connect(server_with(tool)) as client:
        for name in ("one", "two"):
            assert await finish(client, await begin(client, "tool", {"name": name}), ANSWERS) == "1"
    assert runs == {"one": 1, "two": 1}


async def test_people_who_never_answer_leave_threads_to_others() -> None:
    """Each pushed question of a `def` tool holds its thread, and one client may open any number of them."""
    pool = anyio.to_thread.current_default_thread_limiter()
    pool.total_tokens = 2
    asked, answer = asyncio.Semaphore(0), asyncio.Event()

    def asks() -> str:
        return from_thread.ask("a?", str)

    def plain() -> str:
        return "served"

    async def answers_late(context: Any, params: Any) -> ElicitResult:
        asked.release()
        await answer.wait()
        return ElicitResult(action="accept", content={"answer": "1"})

    server = server_with(asks, plain)
    async with (
        asyncio.timeout(SECONDS),
        Client(server, mode="legacy", elicitation_callback=answers_late) as crowd,
        connect(server) as other,
    ):
        waiting = [asyncio.create_task(crowd.call_tool("asks", {})) for _ in range(5)]
        try:
            async with asyncio.timeout(5):
                for _ in waiting:
                    await asked.acquire()
                assert text(await other.call_tool("plain", {})) == "served"
        finally:
            answer.set()
            assert [text(each) for each in await asyncio.gather(*waiting)] == ["1"] * 5
    assert pool.total_tokens == 2


def caller(ctx: Any) -> str:
    return str((ctx.params or {}).get("_meta", {}).get("example.com/user"))


def called_by(name: str) -> Any:
    return {"meta": {"example.com/user": name}}


async def test_one_callers_waiting_def_tools_do_not_have_those_of_others_run_again() -> None:
    anyio.to_thread.current_default_thread_limiter().total_tokens = 8
    runs: Counter[str] = Counter()

    def tool(name: str) -> str:
        runs[name] += 1
        return f"{name} {from_thread.ask('a?', str)}"

    crowd, ada = called_by("crowd"), called_by("ada")
    async with asyncio.timeout(SECONDS), connect(server_with(tool, principal=caller)) as client:
        mine = await begin(client, "tool", {"name": "early"}, **ada)
        rounds = [await begin(client, "tool", {"name": str(number)}, **crowd) for number in range(6)]
        late = await begin(client, "tool", {"name": "late"}, **ada)
        assert [await finish(client, each, ANSWERS, **ada) for each in (mine, late)] == ["early 1", "late 1"]
        assert [await finish(client, each, ANSWERS, **crowd) for each in rounds] == [f"{n} 1" for n in range(6)]
    assert (runs["early"], runs["late"]) == (1, 1)
    assert runs["0"] == 2


async def test_one_caller_may_have_half_of_the_threads_that_others_leave_and_hears_why_there_are_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each pushed question of a `def` tool holds its thread until it is answered, which may be never."""
    monkeypatch.setattr(threads, "MAX_LENT_THREADS", 8)
    pool = anyio.to_thread.current_default_thread_limiter()
    pool.total_tokens = 2
    asked, answer = asyncio.Semaphore(0), asyncio.Event()

    def asks() -> str:
        return from_thread.ask("a?", str)

    def plain() -> str:
        return "served"

    async def answers_late(context: Any, params: Any) -> ElicitResult:
        asked.release()
        await answer.wait()
        return ElicitResult(action="accept", content={"answer": "1"})

    server = server_with(asks, plain, principal=caller)
    async with (
        asyncio.timeout(SECONDS),
        Client(server, mode="legacy", elicitation_callback=answers_late) as client,
    ):
        waiting: list[asyncio.Task[Any]] = []

        async def ask_for(name: str, count: int) -> None:
            meta: Any = {"example.com/user": name}
            waiting.extend(asyncio.create_task(client.call_tool("asks", {}, meta=meta)) for _ in range(count))
            for _ in range(count):
                await asked.acquire()

        async def refused(name: str) -> str:
            result = await client.call_tool("asks", {}, meta={"example.com/user": name})
            assert result.is_error
            return text(result)

        try:
            await ask_for("crowd", 4)
            assert "too many questions" in (await refused("crowd")).lower()
            await ask_for("ada", 2)
            assert "too many questions" in (await refused("ada")).lower()
            assert text(await client.call_tool("plain", {})) == "served"
        finally:
            answer.set()
            assert [text(each) for each in await asyncio.gather(*waiting)] == ["1"] * 6
        assert text(await client.call_tool("asks", {}, meta={"example.com/user": "crowd"})) == "1"
    assert pool.total_tokens == 2
