"""What every store can do, and how it must behave.

A store keeps *records*: things that happen once, such as an interaction on a page, an effect that has started, or a
resume code. All replicas see them. It also keeps *values*: what the vault has encrypted, per owner and name.

    create      if absent; of many that try, one creates it, and all see the same record
    change      only if it still has the version that was read; of many that try, one wins
    complete    only by the owner, only once, only before it expires
    consume     only once, by one of many that try
    wait        until a record is no longer pending, or has another version, on any replica
    look        read many records at once

Each of the first four wakes everyone waiting for the record, in this process and in others. `tests/contract` runs one
suite over all stores.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, TypeAlias

Completion: TypeAlias = Literal["done", "already", "foreign", "expired", "unknown"]
"""The result of an attempt to complete a record. `already`: somebody was first. `foreign`: it has another owner."""


@dataclass(frozen=True, slots=True)
class Record:
    """Something that happens once."""

    id: str
    """A digest of a secret id. Anyone who knows the secret may act on the record, so a leaked store opens no page."""
    kind: str
    owner: str
    """The identity key of its user; empty if unknown."""
    data: str
    """What it's about, as JSON. Never a secret."""
    created: float
    expires: float
    outcome: str | None = None
    """Its outcome, as JSON; None while it's pending."""
    consumed: bool = False
    version: int = 1
    """Counts its changes, from 1. The store sets it."""
    counted: int = field(default=0, compare=False, repr=False)
    """Its length when it was read, which counts already: a change adds only the difference to what its caller uses."""

    @property
    def pending(self) -> bool:
        return self.outcome is None


@dataclass(frozen=True, slots=True)
class Value:
    """A value of the vault: encrypted, and opaque to the store."""

    owner: str
    name: str
    sealed: bytes
    updated: float


ACCOUNTS: Final = "oauth:"
"""What the name of a value begins with if it is the access to an account."""


def verdict(record: Record | None, *, owner: str | None, now: float) -> Completion:
    """The result of an attempt to complete this record."""
    if record is None:
        return "unknown"
    if owner is not None and record.owner != owner:
        return "foreign"
    if not record.pending:
        return "already"
    return "expired" if record.expires <= now else "done"


class Store(Protocol):
    """Keeps records and values. Times are seconds since the epoch, and always arguments.

    A record has expired as soon as `expires` is reached. Ids, owners and names have at most 1,024 bytes; data and
    outcomes may be large. Any text comes back unchanged.
    """

    async def open(self) -> None:
        """Connect and migrate. A store opens itself when it's first used; this reports problems early.

        Raises:
            StoreError: The store can't be reached or used; the message says what to do.
        """
        ...

    async def close(self) -> None:
        """Disconnect. Callers still waiting get a `StoreError`. It can be opened again."""
        ...

    async def create(self, record: Record) -> tuple[Record, bool]:
        """Create the record unless it exists. Returns the stored record, and whether it's the new one.

        It replaces a record that had expired when the new one was created, and starts again at version 1. So a version
        only identifies a state of a record that hasn't expired.
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
        """The record, even if it has expired, until it's purged."""
        ...

    async def look(self, ids: Sequence[str]) -> dict[str, Record]:
        """The records that exist, by id: hundreds in one round trip."""
        ...

    async def complete(self, id: str, outcome: str, *, owner: str | None, now: float) -> Completion:
        """Record the outcome. `owner=None` acts for every owner, as the server does.

        If it can't be done for several reasons, the result is the first of: unknown, foreign, already, expired.
        """
        ...

    async def consume(self, id: str, *, owner: str | None, now: float) -> Record | None:
        """Consume the record, pending or not. Returns it as it was before.

        Returns None if it was consumed before, has another owner, has expired, or doesn't exist.
        """
        ...

    async def wait(self, id: str, seconds: float, *, version: int | None = None) -> Record | None:
        """Wait until the record is no longer pending, at most this long. Returns its current state.

        Returns None at once if the record doesn't exist.

        With `version`, wait until it has another version. A record that doesn't exist has version 0:
        `version=0` waits until it is created, and any other returns None as soon as it is gone.
        """
        ...

    async def sweep(self, now: float) -> int:
        """Purge expired records. Returns how many."""
        ...

    async def put(self, value: Value, *, instead_of: bytes | None = None) -> bool:
        """Store a value. With `instead_of`, only if that is the current one; otherwise returns False."""
        ...

    async def get(self, owner: str, name: str) -> Value | None: ...

    async def values(self, owner: str) -> list[Value]:
        """All values of this owner, by name."""
        ...

    async def remove(self, owner: str, name: str) -> bool:
        """Remove a value. Returns whether there was one."""
        ...

    def all_values(self) -> AsyncIterator[Value]:
        """Every value, to rotate keys. Values that change meanwhile come in either state."""
        ...


async def try_out(store: Store) -> None:
    """Use a store as a server does, with a record that is removed afterwards. The vault isn't changed.

    Raises:
        StoreError: Something doesn't work, with advice.
    """
    check = "check"
    began, expires = -1.0, 0.0  # long before any other record, so that the sweep removes no other
    record, _ = await store.create(Record(check, check, "", "{}", began, expires))
    await store.change(record, record.version)
    await store.complete(check, "{}", owner=None, now=began)
    await store.consume(check, owner=None, now=began)
    await store.sweep(expires)
    await store.put(Value(check, check, b"", began), instead_of=b"nothing has these bytes")
    await store.remove(check, check)
