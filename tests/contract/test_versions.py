"""Versions of a record: every store counts changes, changes only the version that was read, and wakes waiters."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import replace

import pytest
from redis import Redis as Client

from midcall.stores import Record, Store, StoreError, open_store
from tests.contract import servers
from tests.contract.waiters import waking, watched

PENDING = Record("an-id", "turn", "ann", "{}", created=1000.0, expires=1900.5)
CHANGED = replace(PENDING, data='{"claim": "b"}')
DONE = '{"action": "accept"}'

Act = Callable[[Store], Awaitable[object]]
ACTS: dict[str, Act] = {
    "change": lambda store: store.change(CHANGED, 1),
    "complete": lambda store: store.complete("an-id", DONE, owner="ann", now=1001.0),
    "consume": lambda store: store.consume("an-id", owner="ann", now=1001.0),
}


async def version_of(store: Store) -> int:
    found = await store.read("an-id")
    return 0 if found is None else found.version


# --- counting -----------------------------------------------------------------------------------


async def test_a_new_record_always_has_version_1(store: Store) -> None:
    assert await store.create(replace(PENDING, version=7)) == (PENDING, True)
    assert await store.read("an-id") == PENDING


async def test_every_change_adds_one_and_a_rejected_change_adds_nothing(store: Store) -> None:
    await store.create(PENDING)
    await store.create(PENDING)
    assert await version_of(store) == 1
    for version, name in enumerate(ACTS, 2):
        assert await ACTS[name](store)
        assert await version_of(store) == version
    for act in ACTS.values():
        await act(store)
    assert await version_of(store) == 4


async def test_a_record_that_replaces_an_expired_one_starts_at_version_1(store: Store) -> None:
    await store.create(PENDING)
    await store.change(CHANGED, 1)
    await store.complete("an-id", DONE, owner="ann", now=1001.0)
    new = replace(PENDING, created=1900.5, expires=3000.0)
    assert await store.create(new) == (new, True)
    assert await store.read("an-id") == new


# --- changing -----------------------------------------------------------------------------------


async def test_a_change_replaces_everything_except_the_creation_time(store: Store) -> None:
    await store.create(PENDING)
    other = Record("an-id", "b", "bob", "[]", created=5.0, expires=2000.0, outcome="", consumed=True, version=9)
    changed = replace(other, created=1000.0, version=2)
    assert await store.change(other, 1) == (changed, True)
    assert await store.read("an-id") == changed
    back = replace(PENDING, version=3)
    assert await store.change(PENDING, 2) == (back, True)  # without an outcome, and no longer consumed
    assert await store.read("an-id") == back


async def test_a_change_of_another_version_changes_nothing_and_returns_what_is_there(store: Store) -> None:
    assert await store.change(CHANGED, 0) == (None, False)
    assert await store.change(CHANGED, 1) == (None, False)
    await store.create(PENDING)
    for version in (0, 2, -1):
        assert await store.change(CHANGED, version) == (PENDING, False)
    await store.change(CHANGED, 1)
    assert await store.change(PENDING, 1) == (replace(CHANGED, version=2), False)
    assert await store.read("an-id") == replace(CHANGED, version=2)


async def test_an_expired_record_can_be_changed_until_it_is_purged(store: Store) -> None:
    await store.create(replace(PENDING, expires=1000.0))
    assert (await store.change(PENDING, 1))[1]
    assert await store.sweep(1900.0) == 0  # it expires later now
    assert await store.sweep(1900.5) == 1
    assert await store.change(PENDING, 2) == (None, False)


@pytest.mark.parametrize("what", ["kind", "owner"])
async def test_a_change_refuses_names_that_no_index_could_hold(store: Store, what: str) -> None:
    await store.create(PENDING)
    with pytest.raises(StoreError, match=r"at most 1,024 bytes"):
        await store.change(replace(PENDING, **{what: "x" * 1025}), 1)
    assert await store.read("an-id") == PENDING


async def test_of_many_that_change_the_same_version_at_once_one_wins_and_all_see_it(store: Store) -> None:
    await store.create(PENDING)
    tries = await asyncio.gather(*(store.change(replace(PENDING, data=str(n)), 1) for n in range(20)))
    (winner,) = [record for record, won in tries if won]
    assert {record for record, _ in tries} == {winner}
    assert await store.read("an-id") == winner


async def test_no_change_is_lost_when_many_read_and_change(store: Store) -> None:
    await store.create(replace(PENDING, data="0"))

    async def add_one() -> None:
        won, record = False, await store.read("an-id")
        while not won:
            assert record is not None
            record, won = await store.change(replace(record, data=str(int(record.data) + 1)), record.version)

    await asyncio.gather(*(add_one() for _ in range(12)))
    assert await store.read("an-id") == replace(PENDING, data="12", version=13)


# --- looking ------------------------------------------------------------------------------------


async def test_look_returns_the_existing_records(store: Store) -> None:
    awkward = replace(PENDING, id="'a\0\ud800\x1a", outcome="")
    for record in (PENDING, awkward):
        await store.create(record)
    await store.consume("an-id", owner=None, now=1001.0)
    ids = ["an-id", "nobody", awkward.id, "an-id"]
    assert await store.look(ids) == {"an-id": replace(PENDING, consumed=True, version=2), awkward.id: awkward}
    assert await store.look(["nobody"]) == {}
    assert await store.look([]) == {}


async def test_look_finds_each_of_more_than_a_thousand_records(store: Store) -> None:
    records = {f"id-{n}": replace(PENDING, id=f"id-{n}", data=str(n)) for n in range(0, 1200, 2)}
    await asyncio.gather(*map(store.create, records.values()))
    assert await store.look([f"id-{n}" for n in range(1200)]) == records


# --- waiting ------------------------------------------------------------------------------------


async def test_a_record_that_does_not_exist_is_waited_for_until_it_is_created(store: Store) -> None:
    async with asyncio.timeout(10):
        waiting = asyncio.create_task(store.wait("an-id", 60, version=0))
        await watched(store)
        assert not waiting.done()
        await store.create(PENDING)
        assert await waiting == PENDING


@pytest.mark.parametrize("act", ACTS)
async def test_every_change_wakes_a_waiter_for_another_version(store: Store, act: str) -> None:
    await store.create(PENDING)
    async with asyncio.timeout(10):
        waiting = asyncio.create_task(store.wait("an-id", 60, version=1))
        await watched(store)
        assert not waiting.done()
        await ACTS[act](store)
        found = await waiting
    assert found is not None
    assert found.version == 2


async def test_an_existing_other_version_is_returned_at_once(store: Store) -> None:
    await store.create(PENDING)
    async with asyncio.timeout(10):
        assert await store.wait("an-id", 60, version=0) == PENDING
        assert await store.wait("an-id", 60, version=2) == PENDING
        assert await store.wait("another-id", 60, version=1) is None


async def test_without_a_change_the_record_is_returned_after_the_timeout(store: Store) -> None:
    assert await store.wait("an-id", 0.15, version=0) is None
    await store.create(PENDING)
    assert await store.wait("an-id", 0.15, version=1) == PENDING
    await store.complete("an-id", DONE, owner="ann", now=1001.0)
    assert await store.wait("an-id", 0.15, version=2) == replace(PENDING, outcome=DONE, version=2)


async def test_a_waiter_for_another_version_learns_that_the_record_was_purged(store: Store) -> None:
    await store.create(PENDING)
    async with asyncio.timeout(20):
        waiting = asyncio.create_task(store.wait("an-id", 60, version=1))
        await watched(store)
        assert await store.sweep(1900.5) == 1
        assert await waiting is None


async def test_without_a_version_only_an_outcome_wakes_the_waiter(store: Store) -> None:
    await store.create(PENDING)
    async with asyncio.timeout(10):
        waiting = asyncio.create_task(store.wait("an-id", 60))
        await watched(store)
        await store.change(CHANGED, 1)
        await store.consume("an-id", owner="ann", now=1001.0)
        assert await store.wait("an-id", 0.15) == replace(CHANGED, consumed=True, version=3)
        assert not waiting.done()
        await store.change(replace(CHANGED, outcome=DONE), 3)
        assert await waiting == replace(CHANGED, outcome=DONE, version=4)


async def test_many_wait_for_records_that_do_not_exist_yet_and_each_gets_its_own(store: Store) -> None:
    records = [replace(PENDING, id=f"id-{n}") for n in range(300)]
    async with asyncio.timeout(30):
        waiting = [asyncio.create_task(store.wait(record.id, 60, version=0)) for record in records for _ in range(2)]
        await watched(store)
        await asyncio.gather(*map(store.create, records))
        assert await asyncio.gather(*waiting) == [record for record in records for _ in range(2)]
    assert waking(store).waiting == 0


# --- two stores at one place --------------------------------------------------------------------


@pytest.fixture
async def other(shared_url: str):
    """A second store, as in another replica."""
    store = open_store(shared_url)
    await store.open()
    yield store
    await store.close()


async def hearing(store: Store) -> None:
    """Wait until it receives changes from other processes."""
    await store.wait("nobody", 0.3, version=0)


async def test_a_waiter_for_a_version_is_woken_by_another_store_long_before_the_next_poll(
    shared: Store, other: Store
) -> None:
    await hearing(shared)
    steps: list[Act] = [lambda store: store.create(PENDING), *ACTS.values()]
    for version, act in enumerate(steps):
        async with asyncio.timeout(2):
            waiting = asyncio.create_task(shared.wait("an-id", 60, version=version))
            await watched(shared)
            assert not waiting.done()
            assert await act(other)
            found = await waiting
            assert found is not None
            assert found.version == version + 1


async def test_no_change_between_reading_and_waiting_is_lost(shared: Store, other: Store) -> None:
    """The change comes earlier or later each time, relative to the waiter."""
    await hearing(shared)
    await other.create(PENDING)
    for version in range(1, 25):
        async with asyncio.timeout(2):
            waiting = asyncio.create_task(shared.wait("an-id", 60, version=version))
            for _ in range(version // 2):
                await asyncio.sleep(0)
            changed, won = await other.change(PENDING, version)
            assert won
            assert await waiting == changed


async def change_unheard(url: str) -> None:
    """Make a change whose notification is lost."""
    where, _, name = url.partition("?")
    name = name.partition("=")[2]
    if where.startswith("sqlite"):
        with closing(sqlite3.connect(where.removeprefix("sqlite://"), isolation_level=None)) as connection:
            connection.execute("UPDATE midcall_records SET version = 2")
    elif where.startswith("postgresql"):
        await servers.run_sql(f'UPDATE "{name}".midcall_records SET version = 2')
    else:
        with Client.from_url(where) as client:
            client.hset(f"{{{name}}}:r:an-id", "v", 2)


async def test_a_change_without_a_notification_is_found_by_polling(shared: Store, shared_url: str) -> None:
    await shared.create(PENDING)
    waking(shared)._seldom = 0.1
    async with asyncio.timeout(5):
        await hearing(shared)
        waiting = asyncio.create_task(shared.wait("an-id", 60, version=1))
        await watched(shared)
        assert not waiting.done()
        await change_unheard(shared_url)
        assert await waiting == replace(PENDING, version=2)
