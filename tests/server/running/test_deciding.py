"""What a request comes to is decided once, even if the request breaks off while that is being written."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from mcp import MCPError

import midcall
from midcall.server.installation import installation_on
from midcall.server.running import beat, driver, handover
from midcall.stores import Store
from midcall.stores.memory import Memory
from midcall.testing import connect
from tests.calling import Elicit, Round, asking, begin, finish, proceed, retry
from tests.server.running.replicas import KEYS, Wire, replicas

ANSWERS = {"a?": "1", "b?": "2"}
SECONDS = 20


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handover, "BEAT_SECONDS", 0.05)
    monkeypatch.setattr(beat, "BEAT_SECONDS", 0.05)


@pytest.fixture
def stores() -> Callable[[], Store]:
    memory = Memory()
    return lambda: memory


async def drop(request: asyncio.Task[Any], client: Any) -> None:
    """The client gives up this request; the server has heard of it when this returns."""
    request.cancel()
    await asyncio.gather(request, return_exceptions=True)
    await client.list_tools()


class Till:
    """A tool with an effect after each question."""

    def __init__(self) -> None:
        self.effects: list[str] = []

    async def pay(self, at: str, elicit: Elicit) -> str:
        self.effects.append("before")
        first = await elicit("a?")
        self.effects.append("between")
        second = await elicit("b?")
        self.effects.append("after")
        return f"{at}: {first} {second}"


async def test_a_retry_that_is_dropped_while_its_outcome_is_written_leaves_the_live_run_to_the_same_retry(
    stores: Callable[[], Store],
) -> None:
    till = Till()
    async with replicas(stores, till.pay) as (a, _, _):
        first = await begin(a.client, "tool")
        written, go_on = a.wire.hold_reply("change")
        dropped, again = [asyncio.create_task(proceed(a.client, first, ANSWERS)) for _ in range(2)]
        await written.wait()
        await drop(dropped, a.client)
        go_on.set()
        second = await again
        assert second.asked == ["b?"]
        assert await finish(a.client, second, ANSWERS) == "a: 1 2"
    assert till.effects == ["before", "between", "after"]


async def test_a_result_that_is_being_written_when_its_request_is_dropped_is_that_of_the_same_retry(
    stores: Callable[[], Store],
) -> None:
    till = Till()
    async with replicas(stores, till.pay) as (a, b, _):
        second = await proceed(a.client, await begin(a.client, "tool"), ANSWERS)
        written, go_on = a.wire.hold_reply("change")
        dropped, again = [asyncio.create_task(finish(a.client, second, ANSWERS)) for _ in range(2)]
        await written.wait()
        await drop(dropped, a.client)
        go_on.set()
        assert await again == await finish(b.client, second, ANSWERS) == "a: 1 2"
    assert till.effects == ["before", "between", "after"]


async def test_a_retry_that_is_dropped_while_its_large_journal_is_stored_leaves_one_next_round(
    stores: Callable[[], Store],
) -> None:
    till = Till()
    answers = {"a?": "x" * 100_000, "b?": "2"}
    async with replicas(stores, till.pay) as (a, _, _):
        first = await begin(a.client, "tool")
        claimed, go_on = a.wire.hold_reply("create")
        dropped = asyncio.create_task(proceed(a.client, first, answers))
        await claimed.wait()
        stored, store = a.wire.hold_reply("create")  # the journal
        go_on.set()
        await stored.wait()
        again = asyncio.create_task(proceed(a.client, first, answers))
        await a.client.list_tools()  # it has reached the server by now
        await drop(dropped, a.client)
        store.set()
        assert (await finish(a.client, await again, answers))[-2:] == " 2"
    assert till.effects == ["before", "between", "after"]


async def test_in_replay_a_retry_that_is_dropped_during_the_cleanup_leaves_its_round_to_the_same_retry() -> None:
    cleaning, go_on = asyncio.Event(), asyncio.Event()

    async def tool(elicit: Elicit) -> str:
        first = await elicit("a?")
        try:
            return f"{first} {await elicit('b?')}"
        finally:
            cleaning.set()
            await go_on.wait()

    async with asyncio.timeout(SECONDS), connect(asking("mcpserver", tool, live=False)) as client:
        first = await begin(client, "tool")
        dropped, again = [asyncio.create_task(proceed(client, first, ANSWERS)) for _ in range(2)]
        await cleaning.wait()
        await drop(dropped, client)
        go_on.set()
        assert await finish(client, await again, ANSWERS) == "1 2"


async def test_a_call_that_its_client_cancels_while_its_outcome_is_written_leaves_no_run_behind() -> None:
    wire = Wire(Memory())

    async def tool(elicit: Elicit) -> str:
        return f"{await elicit('a?')} {await elicit('b?')}"

    server = asking("mcpserver", tool, keys=KEYS, store=wire)
    runs: Any = installation_on(server).runs  # type: ignore[union-attr]
    async with asyncio.timeout(SECONDS), connect(server) as client:
        first = await begin(client, "tool")
        written, go_on = wire.hold_reply("change")
        dropped = asyncio.create_task(retry(client, first, ANSWERS))
        await written.wait()
        await drop(dropped, client)
        go_on.set()
        with pytest.raises(MCPError, match="cancelled"):
            await retry(client, first, ANSWERS)
        while runs.running:
            await asyncio.sleep(0)
        assert not runs.waiting


async def test_a_first_request_that_is_dropped_while_its_round_is_stored_leaves_no_run_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("midcall.server.running.replies.STATE_BYTES", 10)
    wire = Wire(Memory())

    async def tool(elicit: Elicit) -> str:
        return await elicit("a?")

    server = asking("mcpserver", tool, keys=KEYS, store=wire)
    runs: Any = installation_on(server).runs  # type: ignore[union-attr]
    async with asyncio.timeout(SECONDS), connect(server) as client:
        stored, go_on = wire.hold_reply("create")
        dropped = asyncio.create_task(client.call_tool("tool", {}))
        await stored.wait()
        await drop(dropped, client)
        go_on.set()
        while runs.running:
            await asyncio.sleep(0)
        assert not runs.waiting


async def test_an_answer_that_a_live_run_cannot_take_ends_it_and_the_client_hears_why(
    stores: Callable[[], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever goes wrong between two replicas, no run stays behind that nobody can continue, or end."""
    ended = asyncio.Event()
    runs: list[Any] = []

    async def tool(at: str, elicit: Elicit) -> str:
        try:
            return await elicit("a?")
        finally:
            if at == "a":
                ended.set()

    def refuse(calls: Any, *_: Any) -> tuple[str, ...]:
        runs.append(calls._runs)
        raise midcall.MalformedAnswer("It is neither an object nor null.")

    async with replicas(stores, tool) as (a, b, _):
        first = await begin(a.client, "tool")
        monkeypatch.setattr("midcall.server.running.driver.Driver._answer", refuse)
        with pytest.raises(MCPError, match="neither an object"):
            await retry(b.client, first, ANSWERS)
        await ended.wait()
        assert not runs[0].waiting
        assert not runs[0].running


async def test_an_answer_that_the_owner_cannot_take_leaves_its_live_run_waiting(
    stores: Callable[[], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    till = Till()

    take, refused = driver.Driver._answer, False

    def refuse_once(self: driver.Driver, *given: Any) -> tuple[str, ...]:
        nonlocal refused
        if refused:  # by a beat, which may find the turn before the second retry does
            return take(self, *given)
        refused = True
        raise midcall.MalformedAnswer("It is neither an object nor null.")

    monkeypatch.setattr(driver.Driver, "_answer", refuse_once)
    async with replicas(stores, till.pay) as (a, b, _):
        first = await begin(a.client, "tool")
        with pytest.raises(MCPError, match="neither an object"):
            await retry(a.client, first, ANSWERS)
        second = await retry(b.client, first, ANSWERS)
        assert isinstance(second, Round)
    assert till.effects == ["before", "between"]
