"""The contract that every store fulfils."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace

import pytest

from midcall.stores import Record, Store, StoreError, Value, open_store
from midcall.stores.base import try_out
from tests.contract.waiters import waking, watched

PENDING = Record("an-id", "approve", "ann", '{"message": "Pay 40 EUR"}', created=1000.0, expires=1900.5)
DONE = '{"action": "accept"}'
AWKWARD = [
    "",
    "ü€ 日本 🦊",
    "a\0b",
    "\x1a\x1a0000",
    "\ud800 alone",
    "'; DROP TABLE x; --",
    "%_*?[a]{b}",
    "line\nline\r\t",
]


# --- records ------------------------------------------------------------------------------------


async def test_a_record_is_created_once_and_all_see_the_same(store: Store) -> None:
    assert await store.create(PENDING) == (PENDING, True)
    assert await store.create(replace(PENDING, data="{}", owner="bob")) == (PENDING, False)
    assert await store.read("an-id") == PENDING
    assert await store.read("another-id") is None


async def test_a_new_record_replaces_an_expired_one(store: Store) -> None:
    await store.create(PENDING)
    await store.complete("an-id", DONE, owner="ann", now=1001.0)
    await store.consume("an-id", owner="ann", now=1002.0)
    early = replace(PENDING, created=1900.0, expires=3000.0)
    found, made = await store.create(early)
    assert (found.outcome, found.consumed, made) == (DONE, True, False)
    new = replace(PENDING, data="{}", owner="bob", created=1900.5, expires=3000.0)
    assert await store.create(new) == (new, True)
    assert await store.read("an-id") == new
    assert await store.complete("an-id", DONE, owner="bob", now=2000.0) == "done"


async def test_a_record_is_stored_unchanged(store: Store) -> None:
    given = replace(PENDING, outcome="", consumed=True, created=1.1, expires=math.inf)
    await store.create(given)
    assert await store.read("an-id") == given


@pytest.mark.parametrize("text", AWKWARD)
async def test_any_text_is_stored_unchanged(store: Store, text: str) -> None:
    record = Record(f"id{text}", f"kind{text}", f"owner{text}", text, 1000.0, 2000.0)
    assert await store.create(record) == (record, True)
    assert await store.complete(record.id, text, owner="owner", now=1500.0) == ("foreign" if text else "done")
    assert await store.complete(record.id, text, owner=record.owner, now=1500.0) == ("done" if text else "already")
    assert await store.read(record.id) == replace(record, outcome=text, version=2)
    assert await store.consume(record.id, owner=record.owner, now=1500.0) == replace(record, outcome=text, version=2)
    waited = await store.wait(record.id, 5)
    assert waited is not None
    assert waited.outcome == text


async def test_five_megabytes_are_stored(store: Store) -> None:
    large = replace(PENDING, data="é{}" * 1_700_000)
    outcome = "x" * 5_000_000
    assert await store.create(large) == (large, True)
    assert await store.complete("an-id", outcome, owner=None, now=1001.0) == "done"
    assert await store.read("an-id") == replace(large, outcome=outcome, version=2)


@pytest.mark.parametrize("what", ["id", "kind", "owner"])
async def test_names_that_no_index_could_hold_are_refused_by_every_store(store: Store, what: str) -> None:
    await store.create(replace(PENDING, **{what: "x" * 1024}))
    with pytest.raises(StoreError, match=r"at most 1,024 bytes, and this one has 1,026.*digest"):
        await store.create(replace(PENDING, **{what: "é" * 513}))
    with pytest.raises(StoreError, match=r"The name of .* at most"):
        await store.put(Value("ann", "x" * 1025, b"", 1.0))


# --- completing ---------------------------------------------------------------------------------


async def test_a_record_is_completed_by_its_owner_once_and_in_time(store: Store) -> None:
    await store.create(PENDING)
    assert await store.complete("another-id", DONE, owner="ann", now=1001.0) == "unknown"
    assert await store.complete("an-id", DONE, owner="bob", now=1001.0) == "foreign"
    assert await store.complete("an-id", DONE, owner="", now=1001.0) == "foreign"
    assert await store.complete("an-id", DONE, owner="ann", now=1900.5) == "expired"
    assert await store.read("an-id") == PENDING
    assert await store.complete("an-id", DONE, owner="ann", now=1900.25) == "done"
    assert await store.complete("an-id", "{}", owner="ann", now=1900.25) == "already"
    assert await store.complete("an-id", "{}", owner="bob", now=1900.25) == "foreign"
    assert await store.complete("an-id", "{}", owner="ann", now=5000.0) == "already"
    assert await store.read("an-id") == replace(PENDING, outcome=DONE, version=2)


async def test_without_an_owner_any_record_can_be_completed(store: Store) -> None:
    await store.create(PENDING)
    assert await store.complete("an-id", DONE, owner=None, now=1900.5) == "expired"
    assert await store.complete("an-id", DONE, owner=None, now=1001.0) == "done"


async def test_a_record_is_consumed_once_by_its_owner_and_in_time(store: Store) -> None:
    await store.create(PENDING)
    assert await store.consume("another-id", owner=None, now=1001.0) is None
    assert await store.consume("an-id", owner="bob", now=1001.0) is None
    assert await store.consume("an-id", owner="ann", now=1900.5) is None
    assert await store.consume("an-id", owner="ann", now=1001.0) == PENDING
    assert await store.consume("an-id", owner="ann", now=1001.0) is None
    assert await store.consume("an-id", owner=None, now=1001.0) is None
    assert await store.read("an-id") == replace(PENDING, consumed=True, version=2)


async def test_of_many_at_once_one_creates_one_completes_and_one_consumes(store: Store) -> None:
    many = [replace(PENDING, data=str(n)) for n in range(20)]
    created = await asyncio.gather(*(store.create(record) for record in many))
    assert sum(made for _, made in created) == 1
    assert len({record.data for record, _ in created}) == 1
    completed = await asyncio.gather(
        *(store.complete("an-id", str(n), owner="ann", now=1001.0) for n in range(20)),
    )
    assert sorted(completed) == ["already"] * 19 + ["done"]
    consumed = await asyncio.gather(*(store.consume("an-id", owner="ann", now=1001.0) for _ in range(20)))
    assert len([record for record in consumed if record]) == 1


async def test_purging_deletes_expired_records_and_nothing_else(store: Store) -> None:
    await asyncio.gather(*(store.create(replace(PENDING, id=f"old-{n}", expires=1500.0)) for n in range(60)))
    await store.create(replace(PENDING, id="new", expires=1500.1))
    assert await store.sweep(1499.0) == 0
    assert await store.sweep(1500.0) == 60
    assert await store.sweep(1500.0) == 0
    assert await store.read("old-7") is None
    assert await store.read("new") is not None


# --- waiting ------------------------------------------------------------------------------------


async def test_a_waiter_wakes_when_the_record_is_completed(store: Store) -> None:
    await store.create(PENDING)
    async with asyncio.timeout(10):
        waiting = asyncio.create_task(store.wait("an-id", 60))
        await asyncio.sleep(0)
        assert await store.complete("an-id", DONE, owner="ann", now=1001.0) == "done"
        assert await waiting == replace(PENDING, outcome=DONE, version=2)
        assert await store.wait("an-id", 60) == replace(PENDING, outcome=DONE, version=2)


async def test_after_the_timeout_the_record_is_returned_unchanged(store: Store) -> None:
    await store.create(PENDING)
    assert await store.wait("an-id", 0.15) == PENDING
    assert await store.wait("an-id", 0) == PENDING


async def test_waiting_for_a_missing_record_returns_at_once(store: Store) -> None:
    async with asyncio.timeout(10):
        assert await store.wait("an-id", 60) is None


async def test_a_waiter_learns_that_its_record_was_purged(store: Store) -> None:
    await store.create(PENDING)
    async with asyncio.timeout(20):
        waiting = asyncio.create_task(store.wait("an-id", 60))
        await watched(store)
        assert await store.sweep(1900.5) == 1
        assert await waiting is None


async def test_many_wait_at_once_and_each_gets_its_own(store: Store) -> None:
    records = [replace(PENDING, id=f"id-{n}") for n in range(300)]
    await asyncio.gather(*(store.create(record) for record in records))
    async with asyncio.timeout(30):
        waiting = [asyncio.create_task(store.wait(record.id, 60)) for record in records for _ in range(2)]
        await watched(store)
        await asyncio.gather(*(store.complete(record.id, record.id, owner="ann", now=1001.0) for record in records))
        found = await asyncio.gather(*waiting)
    assert [record.outcome for record in found if record] == [record.id for record in records for _ in range(2)]


async def test_a_waiter_that_is_cancelled_leaves_nothing_behind(store: Store) -> None:
    await store.create(PENDING)
    waiting = [asyncio.create_task(store.wait("an-id", 60)) for _ in range(50)]
    await watched(store)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert all(task.cancelled() for task in waiting)
    assert waking(store).waiting == 0
    assert await store.complete("an-id", DONE, owner="ann", now=1001.0) == "done"
    await store.close()
    left = {task.get_name() for task in asyncio.all_tasks()}
    assert not [name for name in left if name.startswith("midcall")]


async def test_closing_notifies_waiters_and_the_store_can_be_reopened(url: str) -> None:
    store = open_store(url)
    await store.create(PENDING)
    async with asyncio.timeout(20):
        waiting = asyncio.create_task(store.wait("an-id", 60))
        await watched(store)
        await store.close()
        with pytest.raises(StoreError, match="closed while waiting"):
            await waiting
    await store.close()
    await store.open()
    await store.open()
    assert await store.read("an-id") == PENDING
    await store.close()


# --- values -------------------------------------------------------------------------------------


async def test_values_are_stored_by_owner_and_name(store: Store) -> None:
    token, key, hers = Value("ann", "b", b"\0\xff", 1.5), Value("ann", "a", b"", 2.0), Value("eve", "b", b"e", 3.0)
    for value in (token, key, hers):
        assert await store.put(value)
    assert await store.get("ann", "b") == token
    assert await store.get("ann", "c") is None
    assert await store.get("bob", "b") is None
    assert await store.values("ann") == [key, token]
    assert await store.values("bob") == []
    assert await store.put(replace(token, sealed=b"new", updated=9.0))
    assert await store.get("ann", "b") == Value("ann", "b", b"new", 9.0)
    assert await store.remove("ann", "b")
    assert not await store.remove("ann", "b")
    assert await store.values("ann") == [key]
    assert await store.values("eve") == [hers]


async def test_a_value_is_swapped_only_for_the_current_one(store: Store) -> None:
    value = Value("ann", "token", b"one two", 1.0)
    assert not await store.put(value, instead_of=b"")
    assert await store.get("ann", "token") is None
    await store.put(value)
    new = replace(value, sealed=b"three", updated=2.0)
    assert not await store.put(new, instead_of=b"one")
    assert not await store.put(new, instead_of=b"two")
    assert await store.put(new, instead_of=b"one two")
    assert not await store.put(value, instead_of=b"one two")
    assert await store.get("ann", "token") == new


@pytest.mark.parametrize("text", AWKWARD)
async def test_owners_and_names_may_be_any_text(store: Store, text: str) -> None:
    value = Value(text, text, b"sealed", 1.0)
    await store.put(value)
    assert await store.put(value, instead_of=b"sealed")
    assert await store.get(text, text) == value
    assert await store.values(text) == [value]
    assert [each async for each in store.all_values()] == [value]
    assert await store.remove(text, text)


async def test_all_values_are_listed_once_even_during_reencryption(store: Store) -> None:
    kept = {(f"owner-{n % 7}", f"name-{n}"): Value(f"owner-{n % 7}", f"name-{n}", b"old", 1.0) for n in range(520)}
    kept["", ""] = Value("", "", b"old", 1.0)
    await asyncio.gather(*(store.put(value) for value in kept.values()))
    seen: list[Value] = []
    async for value in store.all_values():
        seen.append(value)
        if len(seen) % 5 == 0:
            assert await store.put(replace(value, sealed=b"new"), instead_of=value.sealed)
    assert len(seen) == len(kept)
    assert {(value.owner, value.name): value for value in seen} == kept
    assert len([value async for value in store.all_values() if value.sealed == b"new"]) == len(kept) // 5


async def test_a_large_value_is_stored(store: Store) -> None:
    value = Value("ann", "certificate", bytes(range(256)) * 20_000, 1.0)
    await store.put(value)
    assert await store.put(replace(value, updated=2.0), instead_of=value.sealed)
    assert await store.get("ann", "certificate") == replace(value, updated=2.0)


async def test_a_store_reveals_only_its_location(store: Store) -> None:
    assert "postgres@" not in repr(store)
    assert repr(store).strip("<").startswith(("Memory", "SQLite", "PostgreSQL", "Redis"))


# --- trying it out -----------------------------------------------------------------------------


async def test_a_health_check_leaves_the_store_unchanged(store: Store) -> None:
    await store.create(PENDING)
    await store.put(Value("ann", "token", b"x", 1.0))
    for _ in range(2):
        await try_out(store)
        assert await store.read("check") is None
    assert await store.read(PENDING.id) == PENDING
    assert [value.name async for value in store.all_values()] == ["token"]
