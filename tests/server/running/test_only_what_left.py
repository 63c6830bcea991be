"""A retry answers only what left in the round that it continues, live and replayed, at every replica."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from mcp import Client, MCPError

from midcall import STRONG, Accepted, Question, ask, confirm, elicit
from midcall.portal import Portal
from midcall.stores import Store, open_store
from midcall.stores.memory import Memory
from midcall.testing import connect
from tests.calling import begin
from tests.contract.conftest import ALL, place
from tests.kinds import server_with
from tests.rounds import accept, raw_call, text
from tests.server.running.replicas import KEYS

Stores = Callable[[], Store]
Way = Literal["live", "replayed", "evicted", "restarted", "elsewhere"]
WAYS: tuple[Way, ...] = ("live", "replayed", "evicted", "restarted", "elsewhere")
"""Who gets the retry: the run, a replay, one in place of a run that made room, one after a restart, another replica."""


@pytest.fixture(params=ALL)
async def each_store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stores]:
    """A store for each replica, all of which are the same place."""
    memory, opened = Memory(), list[Store]()

    def store() -> Store:
        opened.append(memory if request.param == "memory" else open_store(url))
        return opened[-1]

    async with place(request.param, tmp_path) as url:
        try:
            yield store
        finally:
            for each in opened:
                await each.close()


@pytest.fixture
def stores() -> Stores:
    memory = Memory()
    return lambda: memory


@asynccontextmanager
async def client_of(stores: Stores, *tools: Any, **options: Any) -> AsyncIterator[Client]:
    portal = Portal()
    try:
        async with connect(server_with(*tools, keys=KEYS, store=stores(), portal=portal, **options)) as client:
            yield client
    finally:
        await portal.close()


async def filler() -> str:
    return await ask("Anything?", str)


@asynccontextmanager
async def asked_first(way: Way, stores: Stores, tool: Any, **options: Any) -> AsyncIterator[tuple[Any, Client]]:
    """The first round of this tool, and the client whose retry is served this way."""
    async with AsyncExitStack() as stack:

        async def client(**more: Any) -> Client:
            return await stack.enter_async_context(client_of(stores, tool, filler, **options, **more))

        name = tool.__name__
        match way:
            case "live":
                here = there = await client()
                first = await raw_call(here, name, {})
            case "replayed":
                here = there = await client(live=False)
                first = await raw_call(here, name, {})
            case "evicted":
                here = there = await client(max_live=1)
                first = await raw_call(here, name, {})
                await begin(here, "filler")
                await begin(here, "filler")
            case "restarted":
                async with client_of(stores, tool, **options) as here:
                    first = await raw_call(here, name, {})
                there = await client()
            case "elsewhere":
                here, there = await client(), await client()
                first = await raw_call(here, name, {})
        yield first, there


def modes(round: Any) -> list[str]:
    return [request["params"]["mode"] for request in round["inputRequests"].values()]


# --- what only a page may answer --------------------------------------------------------------


WIPE = Question("Wipe the disk?", bool, via=("page", "link"))
NAMED = Question("Wipe the disk?", bool, via=("page", "link"), key="sure")


async def wipe() -> str:
    return f"wiped: {await ask(WIPE)}"


async def wipe_named() -> str:
    return f"wiped: {await ask(NAMED)}"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("tool", "name"), [(wipe, WIPE.base), (wipe_named, "sure")])
async def test_a_client_cannot_answer_what_only_a_page_may_answer(
    each_store: Stores, way: Way, tool: Any, name: str
) -> None:
    async with asked_first(way, each_store, tool) as (first, client):
        assert modes(first) == ["url"]
        answers = {name: accept(answer=True), f"{name}~2": accept(answer=True)}
        again = await raw_call(client, tool.__name__, {}, state=first["requestState"], answers=answers)
        assert modes(again) == ["url"]
        once_more = await raw_call(client, tool.__name__, {}, state=again["requestState"], answers=answers)
        assert modes(once_more) == ["url"]


@pytest.mark.parametrize("way", [way for way in WAYS if way != "evicted"])
async def test_a_client_that_declined_at_once_cannot_answer_the_page_that_asks_again(stores: Stores, way: Way) -> None:
    """Its address leaves in its own round, which the retry continues."""

    async def sure() -> str:
        return f"sure: {await confirm('Wipe the disk?', via=STRONG)}"

    async def declined(client: Client) -> Any:
        first = await raw_call(client, "sure", {})
        [key] = first["inputRequests"]
        names.append(key)
        state = first["requestState"]
        return await raw_call(client, "sure", {}, state=state, answers={key: {"action": "decline"}})

    names: list[str] = []
    async with AsyncExitStack() as stack:
        live = way != "replayed"
        here = await stack.enter_async_context(client_of(stores, sure, filler, doubt=60.0, live=live))
        if way == "restarted":
            async with client_of(stores, sure, doubt=60.0) as before:
                page = await declined(before)
        else:
            page = await declined(here)
        if way == "elsewhere":
            here = await stack.enter_async_context(client_of(stores, sure, filler, doubt=60.0))
        assert modes(page) == ["url"]
        answers = {f"{names[0]}~{attempt}": accept(confirmed=True) for attempt in (2, 3)}
        state = page["requestState"]
        again = await raw_call(here, "sure", {}, state=state, answers=answers)
        assert modes(again) == ["url"]


async def test_equal_questions_that_different_channels_may_answer_stay_apart_in_any_order(either: str) -> None:
    """A replay meets them in another order: else one would get the other's name, and its answer."""
    order: list[list[int]] = [[0, 1], [1, 0]]
    turns = iter(order)

    async def tool() -> str:
        waits = next(turns, order[-1])

        async def after(steps: int, **options: Any) -> Any:
            for _ in range(steps):
                await asyncio.sleep(0)
            return await elicit("Wipe the disk?", bool, **options)

        anyhow, on_a_page = await asyncio.gather(after(waits[0]), after(waits[1], via=("page", "link")))
        return f"{anyhow} {on_a_page}"

    portal = Portal()
    try:
        server = server_with(tool, keys=KEYS, store=Memory(), portal=portal)
        async with connect(server) as client:
            first = await raw_call(client, "tool", {})
            assert sorted(modes(first)) == ["form", "url"]
            answers = {
                key: accept(answer=True)
                for key, request in first["inputRequests"].items()
                if request["params"]["mode"] == "form"
            }
            second = await raw_call(client, "tool", {}, state=first["requestState"], answers=answers)
            assert modes(second) == ["url"]
    finally:
        await portal.close()


# --- what a branch has asked since ------------------------------------------------------------


class Branches:
    """A tool with a branch that asks once it may, between two rounds."""

    def __init__(self) -> None:
        self.runs = 0
        self.may_ask = asyncio.Event()
        self.has_asked = asyncio.Event()

    async def tool(self) -> str:
        self.runs += 1

        async def later() -> Any:
            await self.may_ask.wait()
            asking = asyncio.ensure_future(elicit("Delete everything?", bool))
            await asyncio.sleep(0)
            self.has_asked.set()
            return await asking

        first, second = await asyncio.gather(ask("First?", str), later())
        return f"{first} {second.value if isinstance(second, Accepted) else 'no'}"

    async def ask_between(self) -> None:
        self.may_ask.set()
        await self.has_asked.wait()
        await asyncio.sleep(0)


DELETE = Question("Delete everything?", bool).base


@asynccontextmanager
async def two_branches(way: Way, stores: Stores) -> AsyncIterator[tuple[Branches, Any, Client]]:
    """A round that asked the first question; the run has asked the second one since."""
    branches = Branches()

    async def tool() -> str:
        return await branches.tool()

    async with asyncio.timeout(30), asked_first(way, stores, tool) as (first, client):
        assert [request["params"]["message"] for request in first["inputRequests"].values()] == ["First?"]
        if way in ("live", "elsewhere"):
            await branches.ask_between()
        branches.may_ask.set()
        yield branches, first, client


@pytest.mark.parametrize("way", WAYS)
async def test_an_answer_to_what_was_asked_since_the_round_left_counts_nowhere(stores: Stores, way: Way) -> None:
    async with two_branches(way, stores) as (_, first, client):
        [key] = first["inputRequests"]
        answers = {key: accept(value="1"), DELETE: accept(answer=True)}
        state = first["requestState"]
        second = await raw_call(client, "tool", {}, state=state, answers=_fitting(first, answers))
        assert list(second["inputRequests"]) == [DELETE]
        declined = {DELETE: {"action": "decline", "_meta": {"midcall/decided": True}}}
        done = await raw_call(client, "tool", {}, state=second["requestState"], answers=declined)
        assert text(done) == "1 no"


@pytest.mark.parametrize("way", WAYS)
async def test_nonsense_as_an_answer_to_what_was_asked_since_is_ignored_and_the_run_goes_on(
    stores: Stores, way: Way
) -> None:
    async with two_branches(way, stores) as (branches, first, client):
        [key] = first["inputRequests"]
        answers = {key: accept(value="1"), DELETE: {"action": "nonsense"}, "?stranger": 7}
        state, runs = first["requestState"], branches.runs
        second = await raw_call(client, "tool", {}, state=state, answers=_fitting(first, answers))
        assert list(second["inputRequests"]) == [DELETE]
        again = await raw_call(client, "tool", {}, state=state, answers=_fitting(first, answers))
        assert again["inputRequests"] == second["inputRequests"]
        assert branches.runs == runs + (way not in ("live", "elsewhere"))


@pytest.mark.parametrize("way", WAYS)
async def test_nonsense_as_an_answer_to_what_was_asked_is_refused_and_the_turn_is_still_there(
    stores: Stores, way: Way
) -> None:
    async with two_branches(way, stores) as (branches, first, client):
        [key] = first["inputRequests"]
        state, runs = first["requestState"], branches.runs
        for _ in range(2):
            with pytest.raises(MCPError, match="Malformed answer"):
                await raw_call(client, "tool", {}, state=state, answers={key: {"action": "nonsense"}})
        second = await raw_call(client, "tool", {}, state=state, answers=_fitting(first, {key: accept(value="1")}))
        assert list(second["inputRequests"]) == [DELETE]
        assert branches.runs == runs + (way not in ("live", "elsewhere"))


def _fitting(round: Any, answers: dict[str, Any]) -> dict[str, Any]:
    """These answers, with the field of each form in place of `value`."""
    fitting = dict(answers)
    for key, request in round["inputRequests"].items():
        [field] = request["params"]["requestedSchema"]["properties"]
        if answers.get(key, {}).get("content"):
            fitting[key] = accept(**{field: answers[key]["content"]["value"]})
    return fitting
