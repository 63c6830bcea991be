"""A store in memory: for tests, and for a process that may lose it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from midcall.stores.backend.rows import check_names
from midcall.stores.backend.wakeup import Wakeups
from midcall.stores.base import Completion, Record, Value, verdict


class Memory:
    """Records and values in this process, gone when it ends."""

    def __init__(self) -> None:
        self._records: dict[str, Record] = {}
        self._values: dict[tuple[str, str], Value] = {}
        self._wakeups = Wakeups()

    def __repr__(self) -> str:
        return "Memory()"

    async def open(self) -> None:
        """Nothing to do."""

    async def close(self) -> None:
        """Records stay, as they would in a database."""
        wakeups, self._wakeups = self._wakeups, Wakeups()
        await wakeups.close()

    async def create(self, record: Record) -> tuple[Record, bool]:
        check_names(record)
        old = self._records.get(record.id)
        if old is not None and old.expires > record.created:
            return old, False
        return self._put(replace(record, version=1)), True

    async def change(self, record: Record, version: int) -> tuple[Record | None, bool]:
        check_names(record)
        old = self._records.get(record.id)
        if old is None or old.version != version:
            return old, False
        return self._put(replace(record, created=old.created, version=version + 1)), True

    async def read(self, id: str) -> Record | None:
        return self._records.get(id)

    async def look(self, ids: Sequence[str]) -> dict[str, Record]:
        return {id: self._records[id] for id in ids if id in self._records}

    async def complete(self, id: str, outcome: str, *, owner: str | None, now: float) -> Completion:
        record = self._records.get(id)
        completion = verdict(record, owner=owner, now=now)
        if record is not None and completion == "done":
            self._put(replace(record, outcome=outcome, version=record.version + 1))
        return completion

    async def consume(self, id: str, *, owner: str | None, now: float) -> Record | None:
        record = self._records.get(id)
        if record is None or record.consumed or record.expires <= now or owner not in (None, record.owner):
            return None
        self._put(replace(record, consumed=True, version=record.version + 1))
        return record

    async def wait(self, id: str, seconds: float, *, version: int | None = None) -> Record | None:
        return await self._wakeups.wait(id, seconds, self.read, version=version)

    async def sweep(self, now: float) -> int:
        expired = [id for id, record in self._records.items() if record.expires <= now]
        for id in expired:
            del self._records[id]
            self._wakeups.ring(id)
        return len(expired)

    async def put(self, value: Value, *, instead_of: bytes | None = None) -> bool:
        check_names(value)
        key = (value.owner, value.name)
        if instead_of is not None and (key not in self._values or self._values[key].sealed != instead_of):
            return False
        self._values[key] = value
        return True

    async def get(self, owner: str, name: str) -> Value | None:
        return self._values.get((owner, name))

    async def values(self, owner: str) -> list[Value]:
        return sorted((value for value in self._values.values() if value.owner == owner), key=lambda value: value.name)

    async def remove(self, owner: str, name: str) -> bool:
        return self._values.pop((owner, name), None) is not None

    async def all_values(self) -> AsyncIterator[Value]:
        for value in list(self._values.values()):
            yield value

    def _put(self, record: Record) -> Record:
        self._records[record.id] = record
        self._wakeups.ring(record.id)
        return record
