"""No wake-up is lost between reading and listening."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from midcall.stores import Record, StoreError
from midcall.stores.backend.wakeup import Wakeups

PENDING = Record("an-id", "form", "ann", "{}", 1000.0, 2000.0)
DONE = replace(PENDING, outcome="{}", version=2)
NEVER = 3600.0


class Elsewhere:
    """What other processes do, and when we hear of it, is up to the test."""

    def __init__(self) -> None:
        self.record: Record | None = PENDING
        self.reads = 0
        self.was_read = asyncio.Event()
        self.may_hear = asyncio.Event()
        self.breaks = asyncio.Event()
        self.listened = 0
        self.looked = 0

    async def read(self, id: str) -> Record | None:
        found = self.record
        self.reads += 1
        self.was_read.set()
        return found

    async def look(self, ids: Sequence[str]) -> dict[str, int]:
        self.looked += 1
        return {} if self.record is None else dict.fromkeys(ids, self.record.version)

    async def ear(self, ring: Callable[[str], None], hears: Callable[[], None]) -> float:
        self.listened += 1
        await self.may_hear.wait()
        hears()
        await self.breaks.wait()
        self.breaks.clear()
        raise StoreError("It broke off")


@pytest.fixture
def elsewhere() -> Elsewhere:
    return Elsewhere()


async def test_what_happens_while_it_is_read_is_not_lost() -> None:
    waking, reads = Wakeups(), iter([PENDING, DONE])

    async def read(id: str) -> Record:
        found = next(reads)
        waking.ring(id)  # after it was read, and before anybody has seen what was read
        return found

    async with asyncio.timeout(5):
        assert await waking.wait("an-id", NEVER, read) == DONE


async def test_what_happens_before_the_ear_can_hear_is_found_as_soon_as_it_can(elsewhere: Elsewhere) -> None:
    waking = Wakeups(elsewhere.look, elsewhere.ear, often=NEVER, seldom=NEVER)
    async with asyncio.timeout(5):
        waiting = asyncio.create_task(waking.wait("an-id", NEVER, elsewhere.read))
        await elsewhere.was_read.wait()
        elsewhere.record = DONE
        elsewhere.may_hear.set()
        assert await waiting == DONE
    await waking.close()


async def test_what_happens_while_the_ear_is_broken_is_found_by_looking(
    elsewhere: Elsewhere, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "midcall.store")
    waking = Wakeups(elsewhere.look, elsewhere.ear, often=0.01, seldom=NEVER)
    elsewhere.may_hear.set()
    async with asyncio.timeout(5):
        waiting = asyncio.create_task(waking.wait("an-id", NEVER, elsewhere.read))
        await elsewhere.was_read.wait()
        while not elsewhere.listened:
            await asyncio.sleep(0)
        elsewhere.may_hear.clear()
        elsewhere.breaks.set()
        while elsewhere.listened < 2:  # it listens again, and hears nothing yet
            await asyncio.sleep(0.01)
        elsewhere.record = DONE
        assert await waiting == DONE
    assert [record.getMessage() for record in caplog.records] == ["It broke off."]
    await waking.close()


async def test_while_notifications_arrive_it_polls_seldom_and_never_without_waiters(elsewhere: Elsewhere) -> None:
    waking = Wakeups(elsewhere.look, elsewhere.ear, often=0.01, seldom=NEVER)
    elsewhere.may_hear.set()
    async with asyncio.timeout(5):
        assert await waking.wait("an-id", 0.2, elsewhere.read) == PENDING
        assert elsewhere.looked <= 2
        waking.poll_soon()
        while "midcall store: look" in {task.get_name() for task in asyncio.all_tasks()}:
            await asyncio.sleep(0.01)
    await waking.close()


async def test_an_error_that_nobody_expected_does_not_end_the_watching(
    elsewhere: Elsewhere, caplog: pytest.LogCaptureFixture
) -> None:
    async def look(ids: Sequence[str]) -> dict[str, int]:
        if not elsewhere.looked:
            elsewhere.looked += 1
            raise ZeroDivisionError("an-id")
        return await elsewhere.look(ids)

    waking = Wakeups(look, often=0.01)
    async with asyncio.timeout(5):
        waiting = asyncio.create_task(waking.wait("an-id", NEVER, elsewhere.read))
        await elsewhere.was_read.wait()
        elsewhere.record = DONE
        assert await waiting == DONE
    assert "ZeroDivisionError" in caplog.text
    assert "an-id" not in caplog.text
    await waking.close()


async def looks(elsewhere: Elsewhere, times: int) -> None:
    """Until it has looked so many times more."""
    until = elsewhere.looked + times
    while elsewhere.looked < until:
        await asyncio.sleep(0.005)


async def test_a_notification_that_was_lost_is_made_up_for_by_the_next_look(elsewhere: Elsewhere) -> None:
    waking = Wakeups(elsewhere.look, elsewhere.ear, often=NEVER, seldom=0.01)
    elsewhere.may_hear.set()
    async with asyncio.timeout(5):
        waiting = asyncio.create_task(waking.wait("an-id", NEVER, elsewhere.read, version=1))
        await looks(elsewhere, 3)
        assert not waiting.done()
        elsewhere.record = replace(PENDING, version=2)
        assert await waiting == elsewhere.record
    await waking.close()


async def test_a_record_that_is_created_or_removed_unheard_is_found_by_looking(elsewhere: Elsewhere) -> None:
    waking = Wakeups(elsewhere.look, often=0.01)
    elsewhere.record = None
    async with asyncio.timeout(5):
        waiting = asyncio.create_task(waking.wait("an-id", NEVER, elsewhere.read, version=0))
        await looks(elsewhere, 3)
        assert not waiting.done()
        elsewhere.record = PENDING
        assert await waiting == PENDING
        waiting = asyncio.create_task(waking.wait("an-id", NEVER, elsewhere.read, version=1))
        await looks(elsewhere, 3)
        elsewhere.record = None
        assert await waiting is None
    await waking.close()


async def test_a_change_is_read_once_by_waiters_and_not_at_every_poll(elsewhere: Elsewhere) -> None:
    waking = Wakeups(elsewhere.look, often=0.01)
    async with asyncio.timeout(5):
        waiting = asyncio.create_task(waking.wait("an-id", NEVER, elsewhere.read))
        await looks(elsewhere, 3)
        before = elsewhere.reads
        elsewhere.record = replace(PENDING, version=2)
        await looks(elsewhere, 5)
        assert elsewhere.reads == before + 1
        elsewhere.record = replace(DONE, version=3)
        assert await waiting == elsewhere.record
    await waking.close()


async def test_a_look_that_says_nothing_has_changed_wakes_nobody(elsewhere: Elsewhere) -> None:
    async def look(ids: Sequence[str]) -> None:
        elsewhere.looked += 1

    waking = Wakeups(look, often=0.01)
    async with asyncio.timeout(5):
        waiting = asyncio.create_task(waking.wait("an-id", NEVER, elsewhere.read))
        await looks(elsewhere, 3)
        assert elsewhere.reads == 1
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    await waking.close()


async def test_what_a_look_finds_while_the_record_is_still_being_read_is_not_lost(elsewhere: Elsewhere) -> None:
    waking = Wakeups(elsewhere.look, elsewhere.ear, often=NEVER, seldom=NEVER)
    may_return = asyncio.Event()

    async def read(id: str) -> Record | None:
        found = await elsewhere.read(id)
        await may_return.wait()
        return found

    async with asyncio.timeout(5):
        waiting = asyncio.create_task(waking.wait("an-id", NEVER, read, version=1))
        await elsewhere.was_read.wait()
        elsewhere.record = replace(PENDING, version=2)
        elsewhere.may_hear.set()  # the only look there is
        await looks(elsewhere, 1)
        may_return.set()
        assert await waiting == elsewhere.record
    await waking.close()
