"""A database that is away, goes away, and comes back: a clear error, and then it works again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from midcall.stores import Record, Store, StoreError, Value, open_store
from tests.contract import servers
from tests.contract.conftest import place
from tests.serving import free_port
from tests.stores.cable import Cable

PENDING = Record("an-id", "approve", "ann", "{}", created=1000.0, expires=1900.0)
SERVERS = ("postgres", "redis")


@pytest.fixture(params=SERVERS)
async def direct(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[str]:
    async with place(request.param, tmp_path) as url:
        yield url


@pytest.fixture
async def cable(direct: str) -> AsyncIterator[Cable]:
    async with Cable(urlsplit(direct).port or 0) as cable:
        yield cable


@pytest.fixture
async def cabled(direct: str, cable: Cable) -> AsyncIterator[Store]:
    """A store at the other end of the cable."""
    store = open_store(f"{through(direct, cable.port)}&timeout=5")
    yield store
    await store.close()


def through(url: str, port: int) -> str:
    return url.replace(f":{urlsplit(url).port}/", f":{port}/")


@pytest.mark.parametrize("kind", SERVERS)
async def test_a_server_that_is_away_at_the_start_is_a_clear_error(kind: str, tmp_path: Path) -> None:
    scheme = "postgresql" if kind == "postgres" else "redis"
    port = free_port()
    store = open_store(f"{scheme}://ann:hunter2@127.0.0.1:{port}/0")
    for attempt in (store.open(), store.read("an-id"), store.create(PENDING), store.wait("an-id", 1)):
        with pytest.raises(StoreError, match=r"cannot be reached.*Check that it is running") as caught:
            await attempt
        assert f"127.0.0.1:{port}" in str(caught.value)
        assert "hunter2" not in f"{caught.value!s} {caught.value!r} {store!r}"
        assert "ann" not in repr(store)
    await store.close()


async def test_a_server_that_comes_later_is_used_then(direct: str) -> None:
    cable = Cable(urlsplit(direct).port or 0)
    store = open_store(through(direct, cable.port))
    with pytest.raises(StoreError, match="cannot be reached"):
        await store.open()
    async with cable:
        assert await store.create(PENDING) == (PENDING, True)
        await store.close()


async def test_a_server_that_does_not_answer_is_a_clear_error_in_time_and_later_it_works_again(
    direct: str, cable: Cable
) -> None:
    store = open_store(f"{through(direct, cable.port)}&timeout=0.5")
    await store.create(PENDING)
    cable.go_silent()
    for attempt in (store.read("an-id"), store.complete("an-id", "yes", owner="ann", now=1001.0), store.sweep(1.0)):
        with pytest.raises(StoreError):
            async with asyncio.timeout(5):
                await attempt
    await cable.mend()
    async with asyncio.timeout(10):
        assert (await store.read("an-id")) is not None
        await store.close()


async def test_a_server_that_goes_away_is_a_clear_error_and_later_it_works_again(cabled: Store, cable: Cable) -> None:
    await cabled.create(PENDING)
    await cable.cut()
    for attempt in (
        cabled.read("an-id"),
        cabled.complete("an-id", "{}", owner="ann", now=1001.0),
        cabled.put(Value("ann", "token", b"x", 1.0)),
        cabled.sweep(1.0),
    ):
        with pytest.raises(StoreError, match=r"cannot be reached|was lost"):
            await attempt
    await cable.mend()
    assert await cabled.read("an-id") == PENDING
    assert await cabled.complete("an-id", "{}", owner="ann", now=1001.0) == "done"
    assert await cabled.consume("an-id", owner="ann", now=1001.0) == replace(PENDING, outcome="{}", version=2)


async def test_connections_that_died_in_between_are_noticed_before_they_are_used(cabled: Store, cable: Cable) -> None:
    await asyncio.gather(*(cabled.create(replace(PENDING, id=f"id-{n}")) for n in range(5)))
    await cable.cut()
    await cable.mend()
    assert await cabled.read("id-0") is not None  # what reads may try twice
    for n in range(5):
        assert await cabled.complete(f"id-{n}", "{}", owner="ann", now=1001.0) == "done"


async def test_waiters_keep_waiting_while_the_server_is_down_and_learn_what_happened_meanwhile(
    cabled: Store, cable: Cable, direct: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "midcall.store")
    other = open_store(direct)
    await cabled.create(PENDING)
    async with asyncio.timeout(30):
        waiting = asyncio.create_task(cabled.wait("an-id", 60))
        assert await cabled.wait("an-id", 0.3) == PENDING
        await cable.cut()
        assert await other.complete("an-id", "{}", owner="ann", now=1001.0) == "done"
        while not caplog.records:  # it has noticed
            await asyncio.sleep(0.01)
        assert not waiting.done()
        await cable.mend()
        assert await waiting == replace(PENDING, outcome="{}", version=2)
    await other.close()


async def test_after_the_server_was_away_it_is_heard_again(cabled: Store, cable: Cable, direct: str) -> None:
    other = open_store(direct)
    await cabled.create(PENDING)
    async with asyncio.timeout(30):
        waiting = asyncio.create_task(cabled.wait("an-id", 60))
        assert await cabled.wait("an-id", 0.3) == PENDING
        await cable.cut()
        await cable.mend()
        before = cable.connections
        while cable.connections == before:
            await asyncio.sleep(0.01)
        await cabled.read("an-id")
        assert await other.complete("an-id", "{}", owner="ann", now=1001.0) == "done"
        assert await waiting == replace(PENDING, outcome="{}", version=2)
    await other.close()


async def test_a_redis_that_is_restarted_is_used_again(tmp_path: Path) -> None:
    url, process = servers.start_redis()
    store = open_store(url)
    await store.create(PENDING)
    servers.end(process)
    with pytest.raises(StoreError):
        await store.complete("an-id", "{}", owner="ann", now=1001.0)
    again = servers.run_redis(process.args[0], urlsplit(url).port or 0)  # pyright: ignore
    assert await store.create(PENDING) == (PENDING, True)
    assert await store.complete("an-id", "{}", owner="ann", now=1001.0) == "done"
    await store.close()
    servers.end(again)
