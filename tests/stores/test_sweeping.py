"""Clean-up, in the background and by a command."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import time

import pytest

from midcall.stores import Record, Store, StoreError, Sweeper, open_store
from midcall.stores.memory import Memory
from tests.cli.shell import midcall

NOW = time.time()
FRESH = Record("fresh", "form", "ann", "{}", created=NOW, expires=NOW + 100_000)
LATE = Record("late", "form", "ann", "{}", created=NOW - 2000, expires=NOW - 1000)
OLD = Record("old", "form", "ann", "{}", created=NOW - 200_000, expires=NOW - 100_000)


async def test_only_what_has_been_over_for_a_while_is_swept(store: Store) -> None:
    for record in (FRESH, LATE, OLD):
        await store.create(record)
    assert await Sweeper(store, clock=lambda: NOW).sweep() == 1
    assert await store.read("old") is None
    assert await store.read("late") == LATE
    assert await Sweeper(store, keep=0, clock=lambda: NOW).sweep() == 1
    assert await store.read("fresh") == FRESH


class Flaky(Memory):
    """Cannot be reached the first time."""

    def __init__(self) -> None:
        super().__init__()
        self.swept = asyncio.Event()
        self.failures = 1

    async def sweep(self, now: float) -> int:
        if self.failures:
            self.failures -= 1
            raise StoreError("It cannot be reached")
        self.swept.set()
        return await super().sweep(now)


async def test_it_purges_in_the_background_and_continues_after_a_failure(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "midcall.store")
    store = Flaky()
    await store.create(OLD)
    async with asyncio.timeout(10), Sweeper(store, every=0.01) as sweeper:
        sweeper.start()
        await store.swept.wait()
    assert [record.getMessage() for record in caplog.records] == ["It cannot be reached.", "Removed 1 record."]
    assert not [task for task in asyncio.all_tasks() if "sweep" in task.get_name()]
    await sweeper.stop()


# --- the command --------------------------------------------------------------------------------


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return midcall("store", *arguments, **environment)


async def test_the_command_checks_and_sweeps_the_store_of_the_environment(shared_url: str) -> None:
    store = open_store(shared_url)
    for record in (FRESH, LATE, OLD):
        await store.create(record)
    await store.close()
    checked = await asyncio.to_thread(command, "check", MIDCALL_STORE=shared_url)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert checked.stdout.endswith("works.\n")
    swept = await asyncio.to_thread(command, "sweep", MIDCALL_STORE=shared_url)
    assert (swept.stdout, swept.stderr) == ("Removed 1 record.\n", "")
    swept = await asyncio.to_thread(command, "sweep", shared_url, "--keep", "0")
    assert swept.stdout == "Removed 1 record.\n"
