"""Several processes on one store: one winner each time, and waiters in other processes wake up."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, replace

import pytest

from midcall.stores import Record, Store, Value
from tests.contract.racing import Racer, race

PENDING = Record("an-id", "approve", "ann", "{}", created=1000.0, expires=1900.0)
EIGHT = range(8)


async def test_of_eight_processes_one_creates_and_all_see_its_record(
    shared: Store, shared_url: str, eight: list[Racer]
) -> None:
    results = await race(eight, shared_url, "create", [asdict(replace(PENDING, data=str(n))) for n in EIGHT])
    found = await shared.read("an-id")
    assert found is not None
    assert sorted(results, key=str) == sorted(([found.data, str(n) == found.data] for n in EIGHT), key=str)


async def test_of_eight_processes_one_replaces_an_expired_record(
    shared: Store, shared_url: str, eight: list[Racer]
) -> None:
    await shared.create(PENDING)
    new = replace(PENDING, created=2000.0, expires=3000.0)
    results = await race(eight, shared_url, "create", [asdict(replace(new, data=str(n))) for n in EIGHT])
    assert sum(made for _, made in results) == 1
    assert len({data for data, _ in results}) == 1


async def test_of_eight_processes_one_changes_and_all_see_its_record(
    shared: Store, shared_url: str, eight: list[Racer]
) -> None:
    await shared.create(PENDING)
    given = [{"record": asdict(replace(PENDING, data=str(n))), "version": 1} for n in EIGHT]
    results = await race(eight, shared_url, "change", given)
    found = await shared.read("an-id")
    assert found is not None
    assert found.version == 2
    assert results == [[asdict(found), str(n) == found.data] for n in EIGHT]


async def test_of_eight_processes_one_completes(shared: Store, shared_url: str, eight: list[Racer]) -> None:
    await shared.create(PENDING)
    given = [{"id": "an-id", "outcome": str(n), "owner": "ann", "now": 1001.0} for n in EIGHT]
    results = await race(eight, shared_url, "complete", given)
    assert sorted(results) == ["already"] * 7 + ["done"]
    assert await shared.read("an-id") == replace(PENDING, outcome=str(results.index("done")), version=2)


async def test_of_eight_processes_one_consumes(shared: Store, shared_url: str, eight: list[Racer]) -> None:
    await shared.create(PENDING)
    results = await race(eight, shared_url, "consume", [{"id": "an-id", "now": 1001.0}] * 8)
    assert [Record(**result) for result in results if result] == [PENDING]


async def test_of_eight_processes_one_swaps_a_value(shared: Store, shared_url: str, eight: list[Racer]) -> None:
    await shared.put(Value("ann", "token", b"old", 1.0))
    results = await race(eight, shared_url, "swap", [{"old": "old", "new": f"new-{n}"} for n in EIGHT])
    assert sorted(results) == [False] * 7 + [True]
    kept = await shared.get("ann", "token")
    assert kept is not None
    assert kept.sealed.decode() == f"new-{results.index(True)}"


async def test_eight_processes_that_start_at_once_all_find_their_tables(shared_url: str, eight: list[Racer]) -> None:
    assert await race(eight, shared_url, "open", [{}] * 8) == [None] * 8


async def test_a_waiter_in_another_process_wakes(shared: Store, shared_url: str, eight: list[Racer]) -> None:
    await shared.create(PENDING)
    waiter = eight[0]
    await waiter.get_ready(shared_url, "wait", {"id": "an-id", "seconds": 30.0})
    waiter.go()
    # Nothing is lost, however early or late the other process starts to wait.
    assert await shared.complete("an-id", '{"action": "accept"}', owner="ann", now=1001.0) == "done"
    outcome, _ = await waiter.result()
    assert outcome == '{"action": "accept"}'


async def test_a_waiter_in_another_process_for_a_missing_record_wakes(
    shared: Store, shared_url: str, eight: list[Racer]
) -> None:
    waiter = eight[0]
    await waiter.get_ready(shared_url, "wait", {"id": "an-id", "seconds": 30.0, "version": 0})
    waiter.go()
    await shared.create(replace(PENDING, outcome="{}"))
    outcome, _ = await waiter.result()
    assert outcome == "{}"


async def test_a_waiter_is_woken_by_another_process_long_before_the_next_poll(
    shared: Store, shared_url: str, eight: list[Racer]
) -> None:
    await shared.create(PENDING)
    given = {"id": "an-id", "outcome": "{}", "owner": "ann", "now": 1001.0}
    other = eight[0]
    await other.get_ready(shared_url, "complete", given)
    waiting = asyncio.create_task(shared.wait("an-id", 60))
    assert await shared.wait("an-id", 0.3) == PENDING  # now it listens
    other.go()
    assert await other.result() == "done"
    async with asyncio.timeout(2):
        assert await waiting == replace(PENDING, outcome="{}", version=2)


@pytest.mark.parametrize("action", ["complete", "consume"])
async def test_a_record_outlives_the_process_that_made_it(
    shared: Store, shared_url: str, eight: list[Racer], action: str
) -> None:
    await race(eight, shared_url, "create", [asdict(PENDING)])
    given = {"id": "an-id", "outcome": "{}", "owner": "ann", "now": 1001.0}
    (result,) = await race(eight, shared_url, action, [given])
    assert result == ("done" if action == "complete" else asdict(PENDING))
    found = await shared.read("an-id")
    assert found is not None
    assert (found.outcome, found.consumed) == (("{}", False) if action == "complete" else (None, True))
