"""Three replicas behind a round-robin proxy: whichever dies, nothing is lost and nothing happens twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from signal import SIGTERM

import pytest
import pytest_asyncio

from tests.chaos.calling import AGREED, calling
from tests.chaos.replicas import THREE, Replicas, replicas
from tests.portal.people import APPROVES, ENTERS, Person, Surfer, connects, presses
from tests.rounds import raw_call, text
from tests.stores.test_tampering import Vandal

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAID = "Paid 40 EUR to ACME."


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["postgres", "redis"])
async def at(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Replicas]:
    """Three replicas. A test that kills one starts it again."""
    async with replicas(request.param, tmp_path_factory.mktemp(request.param)) as found:
        yield found
    assert "ghp_0123456789" not in found.logs


async def test_question_page_and_answer_are_with_three_replicas_and_the_first_is_dead(at: Replicas) -> None:
    async def second_shows_it_and_third_takes_it(surfer: Surfer) -> None:
        at.front.turn = 1
        await surfer.open(str(surfer.page.url))
        at.front.turn = 2
        await APPROVES(surfer)

    before, person = len(at.payments), Person(second_shows_it_and_third_takes_it)
    async with calling(at, "pay", person) as call:
        at.front.turn = 0
        asked = await call.begin()
        begun = at.front.served[-1]
        at.kill(0)
        assert text(await call.go_on(asked)) == PAID
        await person.done()
    *_, shown, answered = [each for each in at.front.served if "/i/" in each.path]
    assert [(each.method, each.by) for each in (begun, shown, answered)] == [("POST", 0), ("GET", 1), ("POST", 2)]
    assert len(call.questions) == len(at.payments) - before == 1
    await at.restart(0)


async def test_a_replica_that_dies_while_it_holds_the_call_loses_nothing(at: Replicas) -> None:
    ready = asyncio.Event()
    before, person = len(at.payments), Person(APPROVES, ready=ready)
    async with calling(at, "pay", person) as call:
        asked = await call.begin()
        begun = len(await at.front.met("POST", "/mcp"))
        going = asyncio.create_task(call.go_on(asked))
        holding = (await at.front.met("POST", "/mcp", begun + 1))[-1].by
        at.kill(holding)
        assert (await at.front.met("POST", "/mcp", begun + 2))[-1].by != holding
        ready.set()
        assert text(await going) == PAID
        await person.done()
    assert call.repeated == 1
    assert len(call.questions) == len(at.payments) - before == 1
    await at.restart(holding)


async def test_the_last_round_at_all_replicas_at_once_pays_once(at: Replicas) -> None:
    before, person = len(at.payments), Person(APPROVES)
    async with calling(at, "pay", person) as call:
        asked = await call.begin()
        [(key, request)] = asked["inputRequests"].items()
        person.go(request["params"]["url"])
        await person.done()
        again = (raw_call(call.client, "pay", {}, state=asked["requestState"], answers={key: AGREED}) for _ in THREE)
        results = [text(each) for each in await asyncio.gather(*again)]
    assert results == [PAID] * 3
    assert len(at.payments) - before == 1


async def test_what_one_replica_stores_the_others_can_use(at: Replicas) -> None:
    """The secret, the access and the bank's signed callback, each on the replica whose turn it is."""
    begins = {"read_repo": "Read", "list_issues": "Open", "order": "Ordered"}
    for tool, act in {"read_repo": ENTERS, "list_issues": connects, "order": presses("bank")}.items():
        person = Person(act)
        for again in THREE:
            async with calling(at, tool, person) as call:
                assert (await call.whole()).startswith(begins[tool])
            assert bool(call.questions) is (again == 0 or tool == "order")
        await person.done()
    assert {each.by for each in at.front.served} == set(THREE)


async def test_a_stopping_replica_releases_the_call_that_it_holds(at: Replicas) -> None:
    """Without a broken connection or an error in its log, and long before the hold is over."""
    ready, store = asyncio.Event(), Vandal(at.options[0])
    before, person = len(at.payments), Person(APPROVES, ready=ready)
    async with calling(at, "pay", person) as call:
        asked = await call.begin()
        begun, turns = len(await at.front.met("POST", "/mcp")), len(await store.rows("turn"))
        at.front.turn = at.front.served[-1].by
        going = asyncio.create_task(call.go_on(asked))
        holding = (await at.front.met("POST", "/mcp", begun + 1))[-1].by
        async with asyncio.timeout(30):
            while len(await store.rows("turn")) == turns:  # the proxy counts a request before it passes it on
                await asyncio.sleep(0)
        assert await at.stop(holding) == -SIGTERM
        said = await going
        assert "requestState" in said
        ready.set()
        assert text(await call.go_on(said)) == PAID
        await person.done()
    assert call.repeated == 0
    assert len(call.questions) == len(at.payments) - before == 1
    assert "Exception in ASGI application" not in at.logs
    await at.restart(holding)


async def test_a_stopping_replica_releases_a_request_whose_run_is_elsewhere(at: Replicas) -> None:
    ready = asyncio.Event()
    before, person = len(at.payments), Person(APPROVES, ready=ready)
    async with calling(at, "pay", person) as call:
        asked = await call.begin()
        begun = len(await at.front.met("POST", "/mcp"))
        at.front.turn = at.front.served[-1].by + 1
        going = asyncio.create_task(call.go_on(asked))
        waiting = (await at.front.met("POST", "/mcp", begun + 1))[-1].by
        assert await at.stop(waiting) == -SIGTERM
        await at.front.met("POST", "/mcp", begun + 2)
        ready.set()
        assert text(await going) == PAID
        await person.done()
    assert call.repeated == len(call.questions) == len(at.payments) - before == 1
    assert "Exception in ASGI application" not in at.logs
    await at.restart(waiting)
