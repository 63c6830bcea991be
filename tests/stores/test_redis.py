"""Only in Redis: a full memory, records that Redis removes, passwords."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from redis import Redis as Client

from midcall.stores import Record, Store, StoreError, Value, open_store
from midcall.stores.redis import Redis
from tests.contract import servers
from tests.contract.conftest import place

PENDING = Record("an-id", "approve", "ann", "{}", created=1000.0, expires=1900.0)
DAY = 24 * 60 * 60


@pytest.fixture
async def url(tmp_path: Path) -> AsyncIterator[str]:
    async with place("redis", tmp_path) as url:
        yield url


def prefix_in(url: str) -> str:
    return url.partition("?prefix=")[2]


async def test_redis_removes_a_record_a_day_after_it_expired(url: str) -> None:
    store = open_store(url)
    await store.create(PENDING)
    await store.create(replace(PENDING, id="for ever", expires=float("inf")))
    await store.complete("an-id", "{}", owner="ann", now=1001.0)
    with Client.from_url(servers.redis()) as client:
        assert DAY + 890 < client.ttl(f"{{{prefix_in(url)}}}:r:an-id") <= DAY + 900
        assert client.ttl(f"{{{prefix_in(url)}}}:r:for ever") == -1
    await store.close()


async def test_a_change_of_its_time_changes_when_a_record_goes(url: str) -> None:
    store, key = open_store(url), f"{{{prefix_in(url)}}}:r:an-id"
    await store.create(PENDING)
    with Client.from_url(servers.redis()) as client:
        client.pexpire(key, 500_000)  # as if most of its time had passed
        for expires, left in ((2000.0, 600), (1900.0, 500), (float("inf"), -1), (1100.0, DAY + 100), (-DAY * 2.0, -2)):
            await store.change(replace(PENDING, expires=expires), await version_of(store))
            async with asyncio.timeout(5):
                while not left - 10 < client.ttl(key) <= left:
                    await asyncio.sleep(0.01)
    await store.close()


async def version_of(store: Store) -> int:
    found = await store.read("an-id")
    return 0 if found is None else found.version


async def test_a_redis_that_may_evict_is_warned_about_once(caplog: pytest.LogCaptureFixture) -> None:
    url, process = servers.start_redis("--maxmemory", "50mb", "--maxmemory-policy", "allkeys-lru")
    caplog.set_level(logging.WARNING, "midcall.store")
    store = Redis(url)
    for _ in range(2):
        await store.open()
        await store.close()
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "maxmemory-policy allkeys-lru" in caplog.text
    assert "noeviction" in caplog.text
    servers.end(process)


async def test_a_redis_that_keeps_everything_is_not_warned_about(url: str, caplog: pytest.LogCaptureFixture) -> None:
    store = open_store(url)
    await store.open()
    await store.close()
    assert not caplog.records


async def test_a_full_redis_is_reported_and_nothing_is_lost() -> None:
    url, process = servers.start_redis("--maxmemory-policy", "noeviction")
    store = Redis(url)
    await store.create(PENDING)
    await store.create(replace(PENDING, id="old", expires=1500.0))
    new = replace(PENDING, id="old", created=1500.0)
    with Client.from_url(url) as client:
        client.config_set("maxmemory", 1)
        for attempt in (
            store.create(replace(PENDING, id="another")),
            store.create(new),
            store.change(replace(PENDING, data="[]"), 1),
            store.complete("an-id", "{}", owner="ann", now=1001.0),
            store.consume("an-id", owner="ann", now=1001.0),
            store.put(Value("ann", "token", b"x", 1.0)),
        ):
            with pytest.raises(StoreError, match=r"no space left. Nothing was changed. Free some space"):
                await attempt
        assert await store.read("an-id") == PENDING
        assert await store.read("another") is None
        assert await store.read("old") == replace(PENDING, id="old", expires=1500.0)
        assert await store.sweep(1500.0) == 1  # what removes still works
        client.config_set("maxmemory", 0)
    assert await store.create(new) == (new, True)
    await store.close()
    servers.end(process)


async def test_a_wrong_password_is_reported_and_not_quoted() -> None:
    url, process = servers.start_redis("--requirepass", "hunter2")
    where = url.removeprefix("redis://")
    for login in ("ann:hunter3@", ":hunter3@", ""):
        with pytest.raises(StoreError, match=r"rejects this user or this password. Correct") as caught:
            await Redis(f"redis://{login}{where}").open()
        assert "hunter" not in f"{caught.value} {caught.value.__cause__}"
    store = Redis(f"redis://:hunter2@{where}")
    assert (await store.create(PENDING))[1]
    await store.close()
    servers.end(process)


async def test_a_missing_database_is_reported() -> None:
    with pytest.raises(StoreError, match="there is no such database"):
        await Redis(servers.redis().replace("/0", "/9999")).open()


async def test_a_schema_for_newer_versions_only_is_rejected(url: str) -> None:
    store = open_store(url)
    await store.open()
    await store.close()
    with Client.from_url(servers.redis()) as client:
        client.hset(f"{{{prefix_in(url)}}}:schema", mapping={"version": 9, "usable_from": 1})
        await store.open()
        await store.close()
        client.hset(f"{{{prefix_in(url)}}}:schema", "usable_from", "8")
    with pytest.raises(StoreError, match=r"schema has version 9, and this midcall knows 2"):
        await store.open()


async def test_scripts_that_the_server_has_forgotten_are_sent_again(url: str) -> None:
    store = open_store(url)
    await store.create(PENDING)
    with Client.from_url(servers.redis()) as client:
        client.script_flush()
    assert await store.complete("an-id", "{}", owner="ann", now=1001.0) == "done"
    await store.close()


async def test_a_user_with_the_rights_that_the_docs_name_needs_no_more() -> None:
    page = (Path(__file__).parents[2] / "docs" / "stores.md").read_text()
    named = re.search(r"The user needs (.+?) on those\s+keys", page, re.DOTALL)
    assert named is not None
    commands = [f"+{command.lower()}" for command in re.findall(r"`([A-Z|]+)`", named[1])]
    url, process = servers.start_redis()
    with Client.from_url(url) as client:
        rules = ["on", ">hunter2", "~{midcall}:*", "&{midcall}:*", "-@all", *commands]
        client.execute_command("ACL", "SETUSER", "shop", *rules)
    store = Redis(url.replace("redis://", "redis://shop:hunter2@"))
    async with asyncio.timeout(10):
        await store.create(PENDING)
        assert (await store.change(PENDING, 1))[1]
        assert list(await store.look(["an-id"])) == ["an-id"]
        waiting = asyncio.create_task(store.wait("an-id", 60))
        assert await store.wait("an-id", 0.3) == replace(PENDING, version=2)
        assert await store.complete("an-id", "{}", owner="ann", now=1001.0) == "done"
        assert await waiting == replace(PENDING, outcome="{}", version=3)
        assert await store.consume("an-id", owner="ann", now=1001.0) is not None
        assert await store.put(Value("ann", "token", b"x", 1.0))
        assert await store.put(Value("ann", "token", b"y", 1.0), instead_of=b"x")
        assert [value.sealed async for value in store.all_values()] == [b"y"]
        assert await store.get("ann", "token") is not None
        assert await store.remove("ann", "token")
        assert await store.sweep(5000.0) == 1
    await store.close()
    with Client.from_url(url) as client:
        client.execute_command("ACL", "SETUSER", "shop", "-evalsha")
    await store.open()
    with pytest.raises(StoreError, match=r"this user may not do that. Let this user run scripts"):
        await store.create(PENDING)
    await store.close()
    servers.end(process)


async def test_an_unknown_option_is_reported_with_the_known_ones(url: str) -> None:
    with pytest.raises(StoreError, match=r"Check the spelling.*prefix, pool, timeout"):
        await open_store(f"{url}&pol=3").open()
