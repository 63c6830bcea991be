"""Live runs end inside the lifespan of their server, and every `finally` of a tool runs."""

from __future__ import annotations

import asyncio
import gc
import logging
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError

import midcall
from midcall import from_thread
from midcall.testing import connect
from tests import waiting
from tests.calling import MEANS, Elicit, Means, asking, bare_asking, begin, finish
from tests.kinds import KINDS, Kind, bare_server, server_with
from tests.serving import serving, stdio

ANSWERS = {"a?": "1", "b?": "2"}
SERVER = Path(waiting.__file__)


@pytest.mark.parametrize("means", MEANS)
async def test_a_server_that_stops_ends_its_live_runs_before_the_authors_own_cleanup(means: Means) -> None:
    trail: list[str] = []

    @asynccontextmanager
    async def lifespan(server: Any) -> AsyncIterator[dict[str, Any]]:
        yield {}
        trail.append("closed")

    async def tool(elicit: Elicit) -> str:
        try:
            return await elicit("a?")
        finally:
            await asyncio.sleep(0)
            trail.append("ended")

    server = bare_asking(means, tool, lifespan=lifespan)
    midcall.install(server)
    async with asyncio.timeout(20), connect(server) as client:
        await begin(client, "tool")
        await begin(client, "tool")
        assert trail == []
    assert trail == ["ended", "ended", "closed"]


@pytest.mark.parametrize("means", MEANS)
async def test_a_run_that_is_being_served_when_its_server_stops_ends_before_the_authors_own_cleanup(
    means: Means,
) -> None:
    trail: list[str] = []
    working = asyncio.Event()

    @asynccontextmanager
    async def lifespan(server: Any) -> AsyncIterator[dict[str, Any]]:
        yield {}
        trail.append("closed")

    async def tool(elicit: Elicit) -> str:
        await elicit("a?")
        working.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            trail.append("ended")
        return "never"

    server = bare_asking(means, tool, lifespan=lifespan)
    midcall.install(server)
    async with asyncio.timeout(20):
        async with connect(server) as client:
            served = asyncio.create_task(finish(client, await begin(client, "tool"), ANSWERS))
            await working.wait()
        with pytest.raises(MCPError):
            await served
    assert trail == ["ended", "closed"]


async def test_a_server_that_stops_ends_a_thread_that_waits_before_the_authors_own_cleanup() -> None:
    trail: list[str] = []

    @asynccontextmanager
    async def lifespan(server: Any) -> AsyncIterator[dict[str, Any]]:
        yield {}
        trail.append("closed")

    def tool() -> str:
        try:
            return from_thread.ask("a?", str)
        finally:
            trail.append("ended")

    server = bare_asking("mcpserver", lifespan=lifespan)
    server.add_tool(tool)
    midcall.install(server)
    async with asyncio.timeout(20), connect(server) as client:
        await begin(client, "tool")
    assert trail == ["ended", "closed"]


async def test_stdio_that_is_closed_ends_the_runs_inside_the_lifespan(tmp_path: Path) -> None:
    trail = tmp_path / "trail"
    with (tmp_path / "stderr").open("w") as stderr:
        async with connect(stdio(SERVER, stderr, "--trail", str(trail))) as client:
            await begin(client, "waits")
    assert waiting.read(trail) == ["began", "ended", "closed"]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_terminated_http_server_ends_the_runs_inside_the_lifespan(kind: Kind, tmp_path: Path) -> None:
    trail = tmp_path / "trail"
    with serving(SERVER, tmp_path / "stderr", "--kind", kind, "--trail", str(trail)) as url:
        async with connect(url) as client:
            await begin(client, "waits")
        assert waiting.read(trail) == ["began"]
    assert waiting.read(trail) == ["began", "ended", "closed"]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_terminated_http_server_ends_a_run_that_is_being_served(kind: Kind, tmp_path: Path) -> None:
    trail = tmp_path / "trail"
    async with asyncio.timeout(60):
        with ExitStack() as stack:
            url = stack.enter_context(serving(SERVER, tmp_path / "stderr", "--kind", kind, "--trail", str(trail)))
            async with connect(url) as client:
                served = asyncio.create_task(finish(client, await begin(client, "works"), ANSWERS))
                await waiting.written(trail, "working")
                await asyncio.to_thread(stack.close)
                served.cancel()
                await asyncio.wait([served])
    assert waiting.read(trail) == ["began", "working", "ended", "closed"]


# --- while a run is being ended --------------------------------------------------------------


async def test_a_question_in_the_cleanup_of_a_run_that_is_being_ended_raises_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("midcall.server.running.run.CLEANUP_SECONDS", 60)  # nothing else ends it
    asked, trail = asyncio.Event(), list[str]()

    async def tool(elicit: Elicit) -> str:
        try:
            return await elicit("a?")
        finally:
            try:
                await elicit("b?")
                trail.append("answered")
            except BaseException:
                trail.append("raised")
                raise
            finally:
                asked.set()

    async with asyncio.timeout(20):
        async with connect(asking("mcpserver", tool)) as client:
            await begin(client, "tool")
        await asked.wait()
    assert trail == ["raised"]


async def test_the_questions_of_all_branches_fail_when_their_run_is_ended() -> None:
    trail: list[str] = []
    kept: list[asyncio.Task[str]] = []

    async def tool(elicit: Elicit) -> str:
        async def branch(name: str) -> str:
            try:
                return await elicit(f"{name}?")
            finally:
                trail.append(name)

        kept.append(asyncio.create_task(branch("c")))  # which nobody waits for
        return " ".join(await asyncio.gather(branch("a"), branch("b")))

    async with asyncio.timeout(20), connect(asking("mcpserver", tool)) as client:
        first = await begin(client, "tool")
        assert first.asked == ["a?", "b?", "c?"]
    assert sorted(trail) == ["a", "b", "c"]
    assert kept[0].done()


@pytest.mark.parametrize("means", MEANS)
async def test_the_question_of_a_task_that_nobody_awaits_fails_when_its_run_has_ended(means: Means) -> None:
    left: list[asyncio.Task[str]] = []

    async def tool(elicit: Elicit) -> str:
        async def branch() -> str:
            return await elicit("b?")

        left.append(asyncio.create_task(branch()))
        await asyncio.sleep(0)
        return await elicit("a?")

    async with asyncio.timeout(10), connect(asking(means, tool)) as client:
        first = await begin(client, "tool")
        assert first.asked == ["a?", "b?"]
        assert await finish(client, first, {"a?": "1"}) == "1"
        await asyncio.wait(left)
    assert left[0].cancelled()


@pytest.mark.parametrize("means", MEANS)
async def test_a_question_after_a_run_has_ended_between_two_rounds_raises_at_once(means: Means) -> None:
    left: list[asyncio.Task[str]] = []
    give_up, go_on = asyncio.Event(), asyncio.Event()

    async def tool(elicit: Elicit) -> str:
        async def ask(message: str) -> str:
            return await elicit(message)

        async def late() -> str:
            await go_on.wait()
            return await elicit("b?")

        left[:] = [asyncio.create_task(ask("a?")), asyncio.create_task(late())]
        await give_up.wait()
        return "without an answer"

    async with asyncio.timeout(10), connect(asking(means, tool)) as client:
        first = await begin(client, "tool")
        give_up.set()
        await asyncio.wait(left[:1])
        go_on.set()
        await asyncio.wait(left)
        assert all(task.cancelled() or task.exception() is not None for task in left)
        assert await finish(client, first, ANSWERS) == "without an answer"


async def test_a_tool_that_swallows_every_cancellation_is_abandoned_and_named(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("midcall.server.running.run.CLEANUP_SECONDS", 0.1)
    stop, stopped = asyncio.Event(), asyncio.Event()

    async def clings(elicit: Elicit) -> str:
        while not stop.is_set():
            try:
                await elicit("a?")
            except BaseException:
                try:
                    await stop.wait()
                except asyncio.CancelledError:
                    pass
        stopped.set()
        return "at last"

    async with asyncio.timeout(60):
        async with connect(asking("mcpserver", clings)) as client:
            await begin(client, "clings")
        errors = [each.getMessage() for each in caplog.records if each.levelno == logging.ERROR]
        stop.set()
        await stopped.wait()
    assert len(errors) == 1
    assert "clings" in errors[0]


# --- nobody is left waiting, and nothing is left over -----------------------------------------


@contextmanager
def no_loose_ends() -> Iterator[None]:
    """The loop has nothing to complain of: no exception that nobody retrieved, no task that was destroyed."""
    loop, complaints = asyncio.get_running_loop(), list[str]()
    before = loop.get_exception_handler()
    loop.set_exception_handler(lambda loop, context: complaints.append(str(context)))
    try:
        yield
        gc.collect()
    finally:
        loop.set_exception_handler(before)
    assert complaints == []


@pytest.mark.parametrize("error", [partial(OSError, "out of stock"), partial(MCPError, -32001, "out of stock")])
@pytest.mark.parametrize("means", MEANS)
async def test_the_error_of_a_run_that_nobody_continues_is_not_reported_as_never_retrieved(
    means: Means, error: Callable[[], Exception]
) -> None:
    """Frameworks make a result of most errors, and let the SDK's own through."""
    give_up, failing = asyncio.Event(), asyncio.Event()

    async def tool(elicit: Elicit) -> str:
        async def fails() -> None:
            await give_up.wait()
            failing.set()
            raise error()

        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(fails())
                await elicit("a?")
        except ExceptionGroup as group:
            raise group.exceptions[0] from None
        return "never"

    async def begin_and_leave() -> None:
        async with asyncio.timeout(20), connect(asking(means, tool)) as client:
            await begin(client, "tool")
            give_up.set()
            await failing.wait()
            await client.list_tools()  # the run has ended by now

    with no_loose_ends():
        await begin_and_leave()  # then nothing holds the run


@pytest.mark.parametrize("means", MEANS)
async def test_a_cleanup_that_fails_when_its_run_ends_is_not_reported_as_never_retrieved(
    means: Means,
) -> None:
    async def tool(elicit: Elicit) -> str:
        try:
            return await elicit("a?")
        finally:
            raise OSError("cannot roll back")

    with no_loose_ends():
        async with asyncio.timeout(20), connect(asking(means, tool)) as client:
            await begin(client, "tool")


async def test_a_branch_that_fails_beside_an_answered_question_leaves_no_loose_ends() -> None:
    async def tool(elicit: Elicit) -> str:
        async def fails() -> None:
            await elicit("b?")
            raise OSError("out of stock")

        results = await asyncio.gather(_text(elicit("a?")), fails(), return_exceptions=True)
        return " ".join(map(str, results))

    with no_loose_ends():
        async with connect(asking("mcpserver", tool)) as client:
            assert await finish(client, await begin(client, "tool"), ANSWERS) == "1 out of stock"


async def _text(question: Any) -> str:
    return await question


async def test_a_run_that_nobody_answers_is_ended_when_its_state_has_expired() -> None:
    ended = asyncio.Event()

    async def tool() -> str:
        try:
            return await midcall.ask("a?", str)
        finally:
            ended.set()

    async with asyncio.timeout(20), connect(server_with(tool, state_ttl=0.2)) as client:
        await begin(client, "tool")
        await ended.wait()


async def test_a_run_that_has_ended_keeps_nothing_of_the_tool_alive() -> None:
    class Heavy: ...

    made: list[weakref.ref[Heavy]] = []

    async def tool(elicit: Elicit) -> str:
        heavy = Heavy()
        made.append(weakref.ref(heavy))
        await elicit("a?")
        return type(heavy).__name__

    async with connect(asking("mcpserver", tool)) as client:
        assert await finish(client, await begin(client, "tool"), ANSWERS) == "Heavy"
        gc.collect()
        assert made[0]() is None


@pytest.mark.parametrize("ended", ["by stopping", "before"])
async def test_a_server_stops_though_an_effect_hangs_and_the_log_names_its_tool(
    ended: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("midcall.server.running.run.CLEANUP_SECONDS", 0.05)
    monkeypatch.setattr("midcall.server.running.run.EFFECT_SECONDS", 0.05)
    paying, release, paid = asyncio.Event(), asyncio.Event(), asyncio.Event()
    trail: list[str] = []

    @asynccontextmanager
    async def lifespan(server: Any) -> AsyncIterator[dict[str, Any]]:
        yield {}
        trail.append("closed")

    async def pay() -> None:
        paying.set()
        await release.wait()
        paid.set()

    async def pays() -> str:
        await midcall.once("pay", pay)
        return "paid"

    server = bare_server("mcpserver", pays, lifespan=lifespan)
    midcall.install(server)
    async with asyncio.timeout(20):
        async with connect(server) as client:
            served = asyncio.create_task(client.call_tool("pays", {}))
            await paying.wait()
            if ended == "before":
                served.cancel()
                await asyncio.gather(served, return_exceptions=True)
                await client.list_tools()  # the server has heard of it
        await asyncio.gather(served, return_exceptions=True)
        assert trail == ["closed"]
        release.set()
        await paid.wait()
    assert [
        each.getMessage() for each in caplog.records if "pays" in each.getMessage() and "effect" in each.getMessage()
    ]
