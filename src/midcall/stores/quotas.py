"""How much a server may keep in its store, for one caller and in all: one stranger can't fill it.

Usage is counted in records of the store itself, one for each caller and one for all, so every store can do it.
A process counts on its own, and writes its count down after a few records. So counts are approximate: each replica may
be off by twice `QUOTA_BATCH` records, and twice those that it is writing at the moment. What has expired stops counting
within five minutes, or a tenth of its lifetime.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import time
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from midcall.core.remembered import Remembered
from midcall.errors import StoreError, StoreFull
from midcall.settings.stores import (
    LONGEST_COUNT_SECONDS,
    MAX_COUNTED_CALLERS,
    QUOTA_BATCH,
    QUOTA_BATCH_BYTES,
    QUOTA_FRESH_SECONDS,
    QUOTA_LOG_SECONDS,
    QUOTA_PERIOD_SECONDS,
    QUOTA_PERIODS,
    QUOTA_RACES,
    RECORD_BYTES,
)
from midcall.stores.base import Record

if TYPE_CHECKING:
    from midcall.stores.base import Store

logger = logging.getLogger("midcall.store")

caller: ContextVar[Callable[[], str] | None] = ContextVar("midcall_caller", default=None)
"""Names who makes the current request; None on a page, where the owner of a record does."""

ALL: Final = "all"
UNCOUNTED: Final = frozenset({"usage", "replica"})
"""Kinds of records that no caller can multiply."""
NEVER_REFUSED: Final = frozenset({"use", "session"})
"""What follows from an answer to a page that is there already, or from a sign-in."""
_MEGABYTE: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Usage:
    """Records, and how many bytes they have."""

    records: int = 0
    size: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.records + other.records, self.size + other.size)

    def exceeds(self, most: Usage) -> bool:
        return self.records > most.records or self.size > most.size

    def __str__(self) -> str:
        return f"{self.records:,} {'record' if self.records == 1 else 'records'} ({self.size / _MEGABYTE:,.1f} MB)"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one caller may have in the store, and all together."""

    caller: Usage
    all: Usage


class Quotas:
    """Counts what one server keeps.

    Args:
        store: Where the counts are.
        limits: What is allowed.
        clock: Seconds since the epoch; for tests.
    """

    def __init__(
        self,
        store: Store,
        limits: Limits,
        clock: Callable[[], float] = time.time,
        note: Callable[[str, str], object] = lambda kind, why: None,
    ) -> None:
        self.limits = limits
        self._note = note
        self._store = store
        self._clock = clock
        self._owed: dict[str, dict[float, Usage]] = {}
        """What isn't written down yet, by name and when it stops counting."""
        self._known: Remembered[tuple[float, Usage]] = Remembered(MAX_COUNTED_CALLERS)
        """What each name used when it was read, and what this process has added since."""
        self._logged = -math.inf
        self._writing: tuple[asyncio.AbstractEventLoop | None, asyncio.Lock] = (None, asyncio.Lock())

    async def admit(self, record: Record) -> None:
        """Count this record, which is about to be created.

        Raises:
            StoreFull: Its caller, or all, have too much in the store.
        """
        if record.kind in UNCOUNTED:
            return
        names, added = self._names(record), Usage(1, _size_of(record))
        if record.kind not in NEVER_REFUSED:
            for name in names:
                await self._check(name, added)
        self._add(names, record.expires, added)
        owed = sum((each for each in self._owed.get(ALL, {}).values()), Usage())
        if owed.exceeds(Usage(QUOTA_BATCH - 1, QUOTA_BATCH_BYTES)):
            await self._write_down()

    def return_(self, record: Record) -> None:
        """It was there already."""
        if record.kind not in UNCOUNTED:
            self._add(self._names(record), record.expires, Usage(-1, -_size_of(record)))

    def add_change(self, record: Record) -> None:
        """Count what this change adds. It is never refused: somebody has answered, or something has happened."""
        if record.kind not in UNCOUNTED and (grown := length_of(record) - record.counted):
            self._add(self._names(record), record.expires, Usage(0, grown))

    async def count(self) -> Usage:
        """What all callers use now."""
        await self._write_down(ALL)
        return self._find_known(ALL)

    def _names(self, record: Record) -> tuple[str, str]:
        current = caller.get()
        return f"caller {current() if current is not None else name_user(record.owner)}", ALL

    async def _check(self, name: str, added: Usage) -> None:
        most = self.limits.all if name == ALL else self.limits.caller
        if not (self._find_known(name) + added).exceeds(most):
            return
        if self._clock() - self._known.get(name, (-math.inf, Usage()))[0] >= QUOTA_FRESH_SECONDS:
            await self._write_down(name)
            if not (self._find_known(name) + added).exceeds(most):
                return
        raise self._refuse(name, most)

    def _refuse(self, name: str, most: Usage) -> StoreFull:
        whose, what = ("All callers together have", "store") if name == ALL else ("One caller has", "caller")
        of_all = "MIDCALL_MAX_STORE_RECORDS and MIDCALL_MAX_STORE_MB"
        variables = of_all if name == ALL else "MIDCALL_MAX_CALLER_RECORDS and MIDCALL_MAX_CALLER_MB"
        error = StoreFull(
            f"{whose} {self._find_known(name)} in the store, of at most {most}",
            advice=(
                f"They expire with their calls. If these are too few for your users, set {variables}, or "
                f"install(max_{what}_records=, max_{what}_mb=). If it is one stranger, let callers sign in, or limit "
                "them in your proxy."
            ),
        )
        self._note(name.partition(" ")[0], "full")
        if self._clock() - self._logged >= QUOTA_LOG_SECONDS:
            self._logged = self._clock()
            logger.warning("Refused a record: %s", error)
        return error

    # --- counting -----------------------------------------------------------------------------

    def _find_known(self, name: str) -> Usage:
        return self._known.get(name, (0.0, Usage()))[1]

    def _add(self, names: Iterable[str], expires: float, added: Usage) -> None:
        until = _period(expires, self._clock())
        for name in names:
            owed = self._owed.setdefault(name, {})
            owed[until] = owed.get(until, Usage()) + added
            if owed[until] == Usage():  # what was returned
                del owed[until]
            if not owed:
                del self._owed[name]
            read, known = self._known.get(name, (-math.inf, Usage()))
            self._known[name] = (read, known + added)

    async def _write_down(self, *names: str) -> None:
        """Add what this process has counted to what the store says, for these names and those that are owed.

        One at a time: later writers wait, so that not too much is uncounted.
        """
        loop = asyncio.get_running_loop()
        if self._writing[0] is not loop:
            self._writing = (loop, asyncio.Lock())
        async with self._writing[1]:
            await self._write_all(names)

    async def _write_all(self, names: Iterable[str]) -> None:
        owed, self._owed = self._owed, {}
        for name in {*owed, *names}:
            try:
                written = await self._write(name, owed.get(name, {}))
            except StoreError:
                written = None
            if written is None:  # next time
                for until, added in owed.get(name, {}).items():
                    mine = self._owed.setdefault(name, {})
                    mine[until] = mine.get(until, Usage()) + added
                continue
            since = sum(self._owed.get(name, {}).values(), Usage())
            self._known[name] = (self._clock(), written + since)

    async def _write(self, name: str, owed: dict[float, Usage]) -> Usage | None:
        """What this name uses, with this added; None if others were always faster."""
        id = f"usage {name}"
        for _ in range(QUOTA_RACES):
            now, record = self._clock(), await self._store.read(id)
            held = {} if record is None else {float(until): Usage(*used) for until, used in json.loads(record.data)}
            for until, added in owed.items():
                held[until] = held.get(until, Usage()) + added
            held = {until: used for until, used in held.items() if until > now}
            total = sum(held.values(), Usage())
            total = Usage(max(0, total.records), max(0, total.size))
            if not owed:
                return total
            data = json.dumps([[until, [used.records, used.size]] for until, used in held.items()])
            new = Record(id, "usage", "", data, now, max(held, default=now))
            if record is None:
                _, done = await self._store.create(new)
            else:
                _, done = await self._store.change(replace(new, created=record.created), record.version)
            if done:
                return total
        return None


def name_user(owner: str) -> str:
    """The name of a caller whose user is known."""
    return f"user {owner}" if owner else ""


def length_of(record: Record) -> int:
    return len(record.data) + len(record.outcome or "")


def _size_of(record: Record) -> int:
    return RECORD_BYTES + length_of(record)


def _period(expires: float, now: float) -> float:
    """When a record stops counting: soon after it expires, at one of few moments."""
    expires = min(expires, now + LONGEST_COUNT_SECONDS)
    step = QUOTA_PERIOD_SECONDS
    while step * QUOTA_PERIODS < expires - now:
        step *= 2
    return math.ceil(expires / step) * step
