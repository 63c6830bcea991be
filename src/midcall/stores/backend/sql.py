"""A store in SQL tables: what SQLite and PostgreSQL have in common.

Each operation is one statement, so nobody can come in between. The statements are in the dialect that both understand:
`?` is an argument, and `@` marks names that may be in a schema.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

from midcall.settings.stores import SQL_RACES, STORE_BATCH
from midcall.stores.backend.connected import Connected, OpenT
from midcall.stores.backend.failures import fail
from midcall.stores.backend.rows import check_names, escape, read_version, unescape, unreadable
from midcall.stores.base import Completion, Record, Value, verdict

_RECORD: Final = "id, kind, owner, data, created, expires, outcome, consumed, version"
_VALUE: Final = "owner, name, sealed, updated"

_CREATE: Final = f"""
    INSERT INTO @midcall_records AS old ({_RECORD}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET
        kind = excluded.kind, owner = excluded.owner, data = excluded.data, created = excluded.created,
        expires = excluded.expires, outcome = excluded.outcome, consumed = excluded.consumed,
        version = excluded.version
    WHERE old.expires <= excluded.created
    RETURNING id
"""
_CHANGE: Final = """
    UPDATE @midcall_records
    SET version = version + 1, kind = ?, owner = ?, data = ?, expires = ?, outcome = ?, consumed = ?
    WHERE id = ? AND version = ?
    RETURNING id, created
"""
_COMPLETE: Final = """
    UPDATE @midcall_records SET outcome = ?, version = version + 1
    WHERE id = ? AND outcome IS NULL AND (CAST(? AS text) IS NULL OR owner = ?) AND expires > ?
    RETURNING id
"""
_CONSUME: Final = f"""
    UPDATE @midcall_records SET consumed = true, version = version + 1
    WHERE id = ? AND NOT consumed AND (CAST(? AS text) IS NULL OR owner = ?) AND expires > ?
    RETURNING {_RECORD}
"""
_PUT: Final = f"""
    INSERT INTO @midcall_values ({_VALUE}) VALUES (?, ?, ?, ?)
    ON CONFLICT (owner, name) DO UPDATE SET sealed = excluded.sealed, updated = excluded.updated
    RETURNING name
"""
_SWAP: Final = """
    UPDATE @midcall_values SET sealed = ?, updated = ? WHERE owner = ? AND name = ? AND sealed = ? RETURNING name
"""
_REMOVE: Final = "DELETE FROM @midcall_values WHERE owner = ? AND name = ? RETURNING name"
_READ: Final = f"SELECT {_RECORD} FROM @midcall_records WHERE id = ?"
_GET: Final = f"SELECT {_VALUE} FROM @midcall_values WHERE owner = ? AND name = ?"
_VALUES: Final = f"SELECT {_VALUE} FROM @midcall_values WHERE owner = ?"
_FIRST_PAGE: Final = f"SELECT {_VALUE} FROM @midcall_values ORDER BY owner, name LIMIT {STORE_BATCH}"
_NEXT_PAGE: Final = f"""
    SELECT {_VALUE} FROM @midcall_values WHERE (owner, name) > (?, ?) ORDER BY owner, name LIMIT {STORE_BATCH}
"""


class SqlStore(Connected[OpenT]):
    """Records and values in two tables."""

    _notify: ClassVar[str] = "{}"
    """What is put around a statement that changes a record, so that other processes hear of it."""

    async def create(self, record: Record) -> tuple[Record, bool]:
        check_names(record)
        new = replace(record, version=1)
        for _ in range(SQL_RACES):
            if await self._change(record.id, _CREATE, *to_row(new)):
                return new, True
            if (found := await self.read(record.id)) is not None:
                return found, False
        raise fail(self._what, "contention")

    async def change(self, record: Record, version: int) -> tuple[Record | None, bool]:
        check_names(record)
        id, kind, owner, data, _, expires, outcome, consumed, _ = to_row(record)
        changed = (kind, owner, data, expires, outcome, consumed, id, version)
        for _ in range(SQL_RACES):
            if rows := await self._change(record.id, _CHANGE, *changed):
                return replace(record, created=float(rows[0][1]), version=version + 1), True
            found = await self.read(record.id)
            if found is None or found.version != version:
                return found, False
        raise fail(self._what, "contention")

    async def read(self, id: str) -> Record | None:
        rows = await self._query(_READ, escape(id))
        return _to_record(rows[0]) if rows else None

    async def look(self, ids: Sequence[str]) -> dict[str, Record]:
        return {record.id: record for record in map(_to_record, await self._select(_RECORD, ids))}

    async def complete(self, id: str, outcome: str, *, owner: str | None, now: float) -> Completion:
        for _ in range(SQL_RACES):
            if await self._change(id, _COMPLETE, escape(outcome), escape(id), *_whose(owner), now):
                return "done"
            if (completion := verdict(await self.read(id), owner=owner, now=now)) != "done":
                return completion
        raise fail(self._what, "contention")

    async def consume(self, id: str, *, owner: str | None, now: float) -> Record | None:
        rows = await self._change(id, _CONSUME, escape(id), *_whose(owner), now)
        if not rows:
            return None
        record = _to_record(rows[0])
        return replace(record, consumed=False, version=record.version - 1)

    async def put(self, value: Value, *, instead_of: bytes | None = None) -> bool:
        check_names(value)
        key, content = (escape(value.owner), escape(value.name)), (value.sealed, value.updated)
        if instead_of is None:
            return bool(await self._run(_PUT, *key, *content))
        return bool(await self._run(_SWAP, *content, *key, instead_of))

    async def get(self, owner: str, name: str) -> Value | None:
        rows = await self._query(_GET, escape(owner), escape(name))
        return _to_value(rows[0]) if rows else None

    async def values(self, owner: str) -> list[Value]:
        return sorted(map(_to_value, await self._query(_VALUES, escape(owner))), key=lambda value: value.name)

    async def remove(self, owner: str, name: str) -> bool:
        return bool(await self._run(_REMOVE, escape(owner), escape(name)))

    async def all_values(self) -> AsyncIterator[Value]:
        rows = await self._query(_FIRST_PAGE)
        while rows:
            for row in rows:
                yield _to_value(row)
            rows = await self._query(_NEXT_PAGE, rows[-1][0], rows[-1][1])

    @abstractmethod
    async def _run(self, sql: str, *arguments: Any) -> list[Any]:
        """The rows of this statement."""

    async def _query(self, sql: str, *arguments: Any) -> list[Any]:
        """The rows of a statement that only reads: it may be retried."""
        return await self._run(sql, *arguments)

    @abstractmethod
    async def _select(self, columns: str, ids: Sequence[str]) -> list[Any]:
        """These columns of the records that exist."""

    async def _change(self, id: str, sql: str, *arguments: Any) -> list[Any]:
        """Run a statement that changes this record, and wake its waiters."""
        try:
            rows = await self._run(self._notify.format(sql), *arguments)
        except asyncio.CancelledError:
            self._ring(id)  # the database may still commit it
            raise
        if rows:
            self._ring(id)
        return rows

    async def _read_versions(self, ids: Sequence[str]) -> dict[str, int]:
        return {unescape(id): version for id, version in await self._select("id, version", ids)}


def _whose(owner: str | None) -> tuple[str | None, str | None]:
    escaped = None if owner is None else escape(owner)
    return escaped, escaped


def to_row(record: Record) -> tuple[Any, ...]:
    outcome = None if record.outcome is None else escape(record.outcome)
    texts = (escape(text) for text in (record.id, record.kind, record.owner, record.data))
    return (*texts, record.created, record.expires, outcome, record.consumed, record.version)


def _to_record(row: Sequence[Any]) -> Record:
    id, kind, owner, data, created, expires, outcome, consumed, version = row[:9]
    try:
        return Record(
            unescape(id),
            unescape(kind),
            unescape(owner),
            unescape(data),
            float(created),
            float(expires),
            None if outcome is None else unescape(outcome),
            bool(consumed),
            read_version(version),
        )
    except (TypeError, ValueError):  # SQLite keeps any type in any column
        return unreadable(unescape(id))


def _to_value(row: Sequence[Any]) -> Value:
    owner, name, sealed, updated = row
    return Value(unescape(owner), unescape(name), bytes(sealed), float(updated))
