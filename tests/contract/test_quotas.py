"""How much one caller, and all, may have in a store: on every store, and to within the stated tolerance."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from mcp.server.request_state import AESGCMRequestStateCodec

from midcall import StoreFull
from midcall.settings.stores import QUOTA_BATCH, RECORD_BYTES
from midcall.stores import Record, Store
from midcall.stores.quotas import Limits, Quotas, Usage, caller
from midcall.stores.seal import SealedStore

CODEC = AESGCMRequestStateCodec(["a key of the tests: 0123456789abcdef"])
MUCH = Usage(10**9, 10**15)
NOW = 1_000_000.0


class Clock:
    now = NOW

    def __call__(self) -> float:
        return self.now


def limited(store: Store, *, one: Usage = MUCH, all: Usage = MUCH, clock: Any = None) -> SealedStore:
    sealed = SealedStore(store, CODEC, "server", Limits(one, all))
    sealed.quotas = Quotas(sealed, Limits(one, all), clock or Clock())
    return sealed


def record(id: object, owner: str = "ada", *, data: str = "{}", now: float = NOW, lasts: float = 3600.0) -> Record:
    return Record(f"record {id}", "form", owner, data, now, now + lasts)


async def fill(records: SealedStore, name: object, owner: str = "ada", most: int = 1000, **more: Any) -> int:
    """How many records can be created until the store is full."""
    for number in range(most):
        try:
            await records.create(record(f"{name} {number}", owner, **more))
        except StoreFull:
            return number
    return most


async def test_one_caller_cannot_fill_the_store_and_others_continue(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    records = limited(store, one=Usage(40, 10**9))
    assert await fill(records, "a") == 40
    assert await fill(records, "b", "bob", 5) == 5
    with pytest.raises(StoreFull, match=r"One caller has 40 records .* at most 40 .*MIDCALL_MAX_CALLER_RECORDS"):
        await records.create(record("again"))
    assert caplog.text.count("Refused a record") == 1, "not a line for each attempt"
    assert "ada" not in caplog.text


async def test_all_callers_together_have_a_limit(store: Store) -> None:
    records = limited(store, all=Usage(50, 10**9))
    made = [await fill(records, number, f"caller {number}", 10) for number in range(8)]
    assert sum(made) == 50
    with pytest.raises(StoreFull, match=r"All callers together have 50 records .*MIDCALL_MAX_STORE_RECORDS"):
        await records.create(record("more"))


async def test_bytes_count_and_so_do_outcomes(store: Store) -> None:
    records = limited(store, one=Usage(1000, 200_000))
    assert await fill(records, "large", data="x" * (20_000 - RECORD_BYTES)) == 10
    records = limited(store, one=Usage(1000, 100_000))
    await records.create(record("answered", "bob"))
    assert await records.complete("record answered", "x" * 150_000, owner="bob", now=NOW) == "done"
    with pytest.raises(StoreFull):
        await records.create(record("next", "bob"))


async def test_a_record_counts_with_its_length_however_often_it_is_rewritten(store: Store) -> None:
    records = limited(store)
    page, _ = await records.create(record("page"))
    quotas = records.quotas
    assert quotas is not None
    for length in (100_000, 100_000, 100_005, 40):
        changed, done = await records.change(replace(page, outcome="x" * length), page.version)
        assert changed is not None
        assert done
        assert await quotas.count() == Usage(1, RECORD_BYTES + 2 + length)
        page = await records.read("record page") or changed


async def test_data_that_grows_counts_too(store: Store) -> None:
    records = limited(store, one=Usage(1000, 100_000))
    page, _ = await records.create(record("page"))
    assert (await records.change(replace(page, data="x" * 150_000), 1))[1]
    with pytest.raises(StoreFull):
        await records.create(record("next"))


async def test_a_change_that_comes_too_late_counts_nothing(store: Store) -> None:
    records = limited(store)
    page, _ = await records.create(record("page"))
    for done in (True, False):
        assert (await records.change(replace(page, outcome="x" * 1_000), 1))[1] is done
    assert records.quotas is not None
    assert await records.quotas.count() == Usage(1, RECORD_BYTES + 2 + 1_000)


async def test_expired_records_do_not_count(store: Store) -> None:
    clock = Clock()
    records = limited(store, one=Usage(20, 10**9), clock=clock)
    assert await fill(records, "first") == 20
    clock.now += 3600 + 300 + 1
    assert await fill(records, "second", now=clock.now) == 20


async def test_a_record_that_exists_counts_once(store: Store) -> None:
    records = limited(store, one=Usage(5, 10**9))
    for _ in range(50):
        await records.create(record("the same"))
    assert await fill(records, "others") == 4


@pytest.mark.parametrize("kind", ["use", "session"])
async def test_what_follows_from_an_answer_or_a_sign_in_is_never_refused(store: Store, kind: str) -> None:
    records = limited(store, one=Usage(1, 10**9))
    await records.create(record("page"))
    _, mine = await records.create(Record(kind, kind, "ada", "{}", NOW, NOW + 10))
    assert mine
    assert await records.complete("record page", "{}", owner="ada", now=NOW) == "done"


async def test_callers_without_a_user_are_distinguished_by_their_request(store: Store) -> None:
    records = limited(store, one=Usage(10, 10**9))
    for address in ("address 192.0.2.1", "address 192.0.2.2"):
        token = caller.set(lambda address=address: address)
        assert await fill(records, address, "") == 10
        caller.reset(token)


async def test_replicas_count_together_to_within_the_tolerance(store: Store) -> None:
    """Each replica may be off by what it hasn't written down, and by what it is writing at the moment."""
    limit, replicas, at_once = 500, 3, 8
    servers = [limited(store, one=Usage(limit, 10**9), all=Usage(10**6, 10**12)) for _ in range(replicas)]
    made: Counter[bool] = Counter()

    async def write(server: SealedStore, name: str) -> None:
        for number in range(40):
            try:
                await server.create(record(f"{name} {number}"))
                made[True] += 1
            except StoreFull:
                made[False] += 1

    async with asyncio.timeout(60):
        await asyncio.gather(
            *(write(server, f"{place} {task}") for place, server in enumerate(servers) for task in range(at_once))
        )
    assert made.total() == replicas * at_once * 40
    off = replicas * 2 * (QUOTA_BATCH + at_once)
    assert limit - off <= made[True] <= limit + off
    used = Counter({True: made[True]})
    for server in servers:
        assert server.quotas is not None
        await server.quotas.count()
    fresh = limited(store).quotas
    assert fresh is not None
    assert (await fresh.count()).records == used[True], "all is written down in the end"


async def test_counting_is_cheap(store: Store) -> None:
    """A few operations for many records, however full the store is."""
    calls: Counter[str] = Counter()

    class Watched:
        def __getattr__(self, name: str) -> Any:
            calls[name] += 1
            return getattr(store, name)

    records = SealedStore(Watched(), CODEC, "server", Limits(MUCH, MUCH))  # pyright: ignore[reportArgumentType]
    assert await fill(records, "a", most=QUOTA_BATCH * 10) == QUOTA_BATCH * 10
    extra = calls.total() - QUOTA_BATCH * 10
    assert extra <= 10 * 4, calls


async def test_servers_that_share_a_store_have_their_own_quotas(store: Store) -> None:
    records = limited(store, all=Usage(10, 10**9))
    assert await fill(records, "a") == 10
    other = SealedStore(store, CODEC, "another server", Limits(MUCH, Usage(10, 10**9)))
    await other.create(record("of the other"))
