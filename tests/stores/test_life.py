"""A store on several event loops, one after the other, and across a fork."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import sys
import threading
import warnings
from pathlib import Path

import pytest

from midcall.stores import Record, Store, StoreError, open_store
from tests.contract.conftest import clean_up, url_of

PENDING = Record("an-id", "approve", "ann", "{}", created=1000.0, expires=1900.0)


@pytest.fixture(params=["memory", "sqlite", "postgres", "redis"])
def place(request: pytest.FixtureRequest, tmp_path: Path):
    name = f"midcall_test_life_{os.getpid()}"
    yield url_of(request.param, tmp_path, name)
    asyncio.run(clean_up(request.param, name))


def test_a_store_that_was_closed_is_used_on_another_event_loop(place: str) -> None:
    store = open_store(place)

    async def use() -> Record | None:
        await store.open()
        await store.create(PENDING)
        found = await store.wait("an-id", 0.05)
        await store.close()
        return found

    assert asyncio.run(use()) == PENDING
    assert asyncio.run(use()) == PENDING


def test_a_store_that_was_not_closed_is_used_on_another_event_loop_too(place: str) -> None:
    store = open_store(place)

    async def use() -> Record | None:
        await store.create(PENDING)
        return await store.wait("an-id", 0.05)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # what was left open is told to those who ask for it
        assert asyncio.run(use()) == PENDING
        assert asyncio.run(use()) == PENDING
        asyncio.run(store.close())
        gc.collect()


def test_a_store_in_use_on_another_event_loop_raises_an_explanation(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store.db")
    opened, over = threading.Event(), threading.Event()

    async def keep() -> None:
        await store.open()
        opened.set()
        await asyncio.to_thread(over.wait, 10)
        await store.close()

    thread = threading.Thread(target=asyncio.run, args=(keep(),))
    thread.start()
    opened.wait(10)
    try:
        with pytest.raises(StoreError, match=r"in use on another event loop.*one store for each"):
            asyncio.run(store.read("an-id"))
    finally:
        over.set()
        thread.join()


async def test_a_closed_store_raises_until_it_is_opened(store: Store) -> None:
    await store.create(PENDING)
    await store.close()
    if not repr(store).startswith("Memory"):
        with pytest.raises(StoreError, match=r"store is closed. Call open\(\)"):
            await store.read("an-id")
    await store.open()
    assert await store.read("an-id") == PENDING


async def test_closing_waits_for_what_is_being_opened(url: str) -> None:
    store = open_store(url)
    opening = asyncio.create_task(store.open())
    await asyncio.sleep(0)
    await store.close()
    await opening
    await store.close()


async def test_many_that_need_it_at_once_open_it_once(url: str) -> None:
    store = open_store(url)
    assert await asyncio.gather(*(store.read("an-id") for _ in range(20))) == [None] * 20
    await store.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_after_a_fork_the_child_has_its_own_connections(place: str) -> None:
    if place == "memory://":
        return  # the child has separate memory
    store = open_store(place)

    async def parent() -> Record | None:
        await store.create(PENDING)
        context = multiprocessing.get_context("fork")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # 3.12 warns of forking with threads: this is it
            child = context.Process(target=_complete, args=(store,))
            child.start()
        await asyncio.to_thread(child.join, 20)
        assert child.exitcode == 0
        found = await store.read("an-id")
        await store.close()
        return found

    found = asyncio.run(parent())
    assert found is not None
    assert found.outcome == '"by the child"'


def _complete(store: Store) -> None:
    asyncio._set_running_loop(None)  # the loop that runs is the parent's

    async def complete() -> str:
        became = await store.complete("an-id", '"by the child"', owner="ann", now=1001.0)
        await store.close()
        return became

    os._exit(0 if asyncio.run(complete()) == "done" else 1)
