"""What every store can do, and how it must behave.

A store keeps *records*: something that is to happen once, such as an interaction on a page, an effect
that was begun, a code to go on with. It lives somewhere that all replicas see. And it keeps *values*:
what the vault has encrypted, per owner and name.

    create      if absent; of many that try, one made it, and all see the same record
    change      only if its version is still the one that was read; of many that try, one wins
    complete    only by the owner, only once, only in time
    consume     only once, of many that try
    wait        until a record is no longer pending, or has another version, on any replica
    look        at many records at once

Each of the first four wakes everyone who waits for the record, in this process and in others.
`tests/contract` runs one suite over all stores.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from midcall.errors import StoreError

__all__ = ["Completion", "Record", "Store", "StoreError", "Value", "verdict"]

Completion: TypeAlias = Literal["done", "already", "foreign", "expired", "unknown"]
"""What became of an attempt to complete: it worked; somebody was first; it belongs to somebody else; it
came too late; there is no such record."""


@dataclass(frozen=True, slots=True)
class Record:
    """Something that is to happen once."""

    id: str
    """Names the record. Whoever knows what it was made from may act on it, so it is a digest of that:
    a store that leaks opens no page."""
    kind: str
    owner: str
    """Whose it is; empty where nobody is known."""
    data: str
    """What it is about, as JSON. Never a secret."""
    created: float
    expires: float
    outcome: str | None = None
    """What came of it, as JSON; None while it is pending."""
    consumed: bool = False
    version: int = 1
    """Counts its changes. The store sets it: 1 when created, one more with each change."""

    @property
    def pending(self) -> bool:
        return self.outcome is None


@dataclass(frozen=True, slots=True)
class Value:
    """What the vault keeps: encrypted, and opaque to the store."""

    owner: str
    name: str
    sealed: bytes
    updated: float


def verdict(record: Record | None, *, owner: str | None, now: float) -> Completion:
    """What becomes of an attempt to complete this record, as it is now."""
    if record is None:
        return "unknown"
    if owner is not None and record.owner != owner:
        return "foreign"
    if not record.pending:
        return "already"
    return "expired" if record.expires <= now else "done"


class Store(Protocol):
    """Where records and values live. Times are seconds since the epoch, and come in as arguments.

    The time of a record is over as soon as `expires` is reached. Ids, owners and names have at most 1,024
    bytes; data and outcomes may be large. Any text is kept as it is.
    """

    async def open(self) -> None:
        """Connect, and bring the schema to where it must be. Doing it twice does nothing.

        What is used before it was opened opens itself, so this is for those who want to know early.

        Raises:
            StoreError: The store cannot be reached or used; the message says what to do.
        """
        ...

    async def close(self) -> None:
        """Let go of everything. Who still waits gets a `StoreError`. It can be opened again."""
        ...

    async def create(self, record: Record) -> tuple[Record, bool]:
        """The record that is there now, and whether it is this one.

        One whose time was over when the new one was created gives way to it, and the new one starts again
        at version 1. So a version only names a state of a record that hasn't expired.
        """
        ...

    async def change(self, record: Record, version: int) -> tuple[Record | None, bool]:
        """Replace the record with this id if it has exactly this version: compare and set.

        It takes everything from `record` except `created`, which stays, and `version`, which becomes one
        more. An expired record can be changed until it is purged.

        Returns:
            The new record and True. Otherwise False and what is there: another version, or None.
        """
        ...

    async def read(self, id: str) -> Record | None:
        """The record, also if its time is over but it was not swept yet."""
        ...

    async def look(self, ids: Sequence[str]) -> dict[str, Record]:
        """Those of these records that exist, by id: one round trip for hundreds of them."""
        ...

    async def complete(self, id: str, outcome: str, *, owner: str | None, now: float) -> Completion:
        """Write down what came of it. `owner=None` is for those who act for every owner, such as the server.

        Of several reasons why it cannot be done, the first of these is told: it is unknown, foreign,
        completed already, expired.
        """
        ...

    async def consume(self, id: str, *, owner: str | None, now: float) -> Record | None:
        """The record as it was before, if this is the first to consume it, it is theirs, and in time; else None.

        It does not matter whether it is pending: a code is consumed without ever being completed.
        """
        ...

    async def wait(self, id: str, seconds: float, *, version: int | None = None) -> Record | None:
        """The record, as soon as it is no longer pending; after these seconds, as it is then.

        None as soon as there is no such record: nothing will come of it.

        With `version`, as soon as its version is another one. A record that doesn't exist has version 0:
        `version=0` waits until it is created, and any other returns None as soon as it is gone.
        """
        ...

    async def sweep(self, now: float) -> int:
        """Remove records whose time is over. How many there were."""
        ...

    async def put(self, value: Value, *, instead_of: bytes | None = None) -> bool:
        """Keep a value. With `instead_of`, only where that is what is kept now; False if it was not."""
        ...

    async def get(self, owner: str, name: str) -> Value | None: ...

    async def values(self, owner: str) -> list[Value]:
        """All values of this owner, by name."""
        ...

    async def remove(self, owner: str, name: str) -> bool:
        """Whether there was one."""
        ...

    def all_values(self) -> AsyncIterator[Value]:
        """Every value there is: for a change of keys. Values that change meanwhile come as they were or as they are."""
        ...
