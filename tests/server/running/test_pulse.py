"""When a replica counts as gone, and what a process asks the store before it does what cannot be undone."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from midcall import ask, once
from midcall.errors import StoreError
from midcall.server.once import effects
from midcall.server.running import handover
from midcall.server.running.handover import (
    Handover,
    _Pulse,  # pyright: ignore[reportPrivateUsage]
    _replica_id,  # pyright: ignore[reportPrivateUsage]
)
from midcall.settings.live_runs import BEAT_SECONDS, CLAIM_FRESH_SECONDS, LATE_BEATS, SILENT_BEATS
from midcall.stores.base import Record
from midcall.stores.memory import Memory
from midcall.testing import run
from tests.kinds import server_with

KEYS = ["k key of the tests: 0123456789abcdef"]
OTHER = "another replica"


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    @property
    def module(self) -> Any:
        return SimpleNamespace(monotonic=self.monotonic, time=time.time)


class Looking:
    """A process that reads the beats of another one."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.store = Memory()
        self.fails = False
        self.takes = 0.0
        self.pulse = _Pulse(self, OTHER)  # pyright: ignore[reportArgumentType]
        self._record = Record(_replica_id(OTHER), "replica", "", "{}", 0.0, time.time() + 600)

    async def read(self, id: str) -> Record | None:
        """The store's method, which may fail or take long."""
        self.clock.now += self.takes
        if self.fails:
            raise StoreError("The store cannot be reached.")
        return await self.store.read(id)

    async def beat(self, **changes: Any) -> None:
        known = await self.store.read(self._record.id)
        if known is None:
            await self.store.create(self._record)
        else:
            await self.store.change(replace(self._record, **changes), known.version)

    async def look(self, times: int = 1) -> list[bool]:
        """Read it this many times, a beat apart."""
        found: list[bool] = []
        for _ in range(times):
            self.clock.now += BEAT_SECONDS
            found.append(await self.pulse.is_gone())
        return found


@pytest.fixture
async def looking(monkeypatch: pytest.MonkeyPatch) -> Looking:
    clock = Clock()
    monkeypatch.setattr(handover, "time", clock.module)
    looking = Looking(clock)
    await looking.store.open()
    await looking.beat()
    return looking


def silent(beats: int) -> list[bool]:
    """What so many reads say of a replica that is silent: the last of a few says that it is gone."""
    return [number >= SILENT_BEATS for number in range(1, beats + 1)]


async def test_a_replica_is_gone_after_some_reads_without_a_new_beat(looking: Looking) -> None:
    assert await looking.look(SILENT_BEATS) == silent(SILENT_BEATS)


async def test_reads_that_follow_too_fast_do_not_count(looking: Looking) -> None:
    await looking.look()
    assert not any([await looking.pulse.is_gone() for _ in range(20)])
    assert await looking.look(SILENT_BEATS - 1) == silent(SILENT_BEATS)[1:]


async def test_a_new_beat_starts_the_count_again(looking: Looking) -> None:
    await looking.look(SILENT_BEATS - 1)
    await looking.beat()
    assert await looking.look(SILENT_BEATS) == silent(SILENT_BEATS)


@pytest.mark.parametrize("failures", [1, 3 * SILENT_BEATS])
async def test_a_read_that_fails_starts_the_count_again_and_says_nothing(failures: int, looking: Looking) -> None:
    await looking.look(SILENT_BEATS - 1)
    looking.fails = True
    assert await looking.look(failures) == [False] * failures
    looking.fails = False
    assert await looking.look(SILENT_BEATS) == silent(SILENT_BEATS)


LATE = (LATE_BEATS + 0.1) * BEAT_SECONDS


async def test_a_read_whose_reply_is_late_starts_the_count_again(looking: Looking) -> None:
    await looking.look(SILENT_BEATS - 1)
    looking.takes = LATE
    assert await looking.look() == [False]
    looking.takes = 0.0
    assert await looking.look(SILENT_BEATS - 1) == silent(SILENT_BEATS)[1:]


async def test_a_reader_that_was_stopped_itself_starts_the_count_again(looking: Looking) -> None:
    await looking.look(SILENT_BEATS - 1)
    looking.clock.now += LATE
    assert await looking.look(SILENT_BEATS) == silent(SILENT_BEATS)


async def test_a_replica_that_says_that_it_stops_is_gone_at_once(looking: Looking) -> None:
    await looking.look()
    await looking.beat(outcome="{}")
    assert await looking.look() == [True]


def test_a_process_has_another_name_after_a_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    replica = Handover(None, None, 1.0)  # pyright: ignore[reportArgumentType]
    parent, here = replica.me, os.getpid()
    assert replica.me == parent
    monkeypatch.setattr(handover.os, "getpid", lambda: here + 1)
    assert replica.me != parent
    monkeypatch.setattr(handover.os, "getpid", lambda: here)
    assert replica.me == parent


@pytest.mark.parametrize(("waits", "asked"), [([0.0], 1), ([CLAIM_FRESH_SECONDS, 0.0], 2), ([9.0, 9.0, 0.1], 3)])
async def test_an_effect_asks_again_whose_call_it_is_if_the_reply_took_long(
    waits: Iterable[float], asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, left = Clock(), iter(waits)
    replies: list[bool] = []
    monkeypatch.setattr(effects, "time", clock.module)

    async def tool() -> str:
        await ask("Pay?", str)
        return await once("pay", str, "paid")

    async def is_ours(call: Any) -> bool:
        clock.now += next(left)
        replies.append(True)
        return True

    monkeypatch.setattr("midcall.server.call.Call.is_ours", is_ours)
    done = await run(server_with(tool, store=Memory(), keys=KEYS), "tool", {}, {"Pay?": "now"}, era="2026-07-28")
    assert (done.text, len(replies)) == ("paid", asked)
