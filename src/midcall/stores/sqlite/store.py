"""A store in one file: for one machine, with as many processes as you like.

`sqlite3` blocks, so everything runs on a dedicated thread. Processes notice each other's changes through the file:
SQLite counts them, and reading the counter is cheap.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from midcall.settings import SQLITE_BUSY_SECONDS, SQLITE_POLL_SECONDS, STORE_BATCH
from midcall.stores.backend.lifecycle import Connected
from midcall.stores.backend.rows import (
    RECORD,
    VALUE,
    before_consuming,
    check_record,
    check_value,
    escape,
    to_change,
    to_record,
    to_row,
    to_value,
    unescape,
)
from midcall.stores.backend.wakeup import Wakeups
from midcall.stores.base import Completion, Record, Value, verdict
from midcall.stores.sqlite.file import default_file, make_default_file, make_file
from midcall.stores.sqlite.thread import Thread, transaction

T = TypeVar("T")

_POLL_ANYWAY = 100
"""Every so many polls, regardless of the counter."""

_CREATE = f"""
    INSERT INTO midcall_records ({RECORD}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET
        kind = excluded.kind, owner = excluded.owner, data = excluded.data, created = excluded.created,
        expires = excluded.expires, outcome = excluded.outcome, consumed = excluded.consumed,
        version = excluded.version
    WHERE midcall_records.expires <= excluded.created
"""
_READ = f"SELECT {RECORD} FROM midcall_records WHERE id = ?"
_CHANGE = """
    UPDATE midcall_records
    SET version = version + 1, kind = ?, owner = ?, data = ?, expires = ?, outcome = ?, consumed = ?
    WHERE id = ? AND version = ?
    RETURNING created
"""
_COMPLETE = "UPDATE midcall_records SET outcome = ?, version = version + 1 WHERE id = ?"
_CONSUME = f"""
    UPDATE midcall_records SET consumed = 1, version = version + 1
    WHERE id = :id AND NOT consumed AND expires > :now AND (:owner IS NULL OR owner = :owner)
    RETURNING {RECORD}
"""
_PUT = f"""
    INSERT INTO midcall_values ({VALUE}) VALUES (?, ?, ?, ?)
    ON CONFLICT (owner, name) DO UPDATE SET sealed = excluded.sealed, updated = excluded.updated
"""
_SWAP = "UPDATE midcall_values SET sealed = ?, updated = ? WHERE owner = ? AND name = ? AND sealed = ?"
_VALUES = f"SELECT {VALUE} FROM midcall_values WHERE owner = ?"
_FIRST_PAGE = f"SELECT {VALUE} FROM midcall_values ORDER BY owner, name LIMIT {STORE_BATCH}"
_NEXT_PAGE = f"SELECT {VALUE} FROM midcall_values WHERE (owner, name) > (?, ?) ORDER BY owner, name LIMIT {STORE_BATCH}"


@dataclass(slots=True)
class _Open:
    thread: Thread
    wakeups: Wakeups


class SQLite(Connected[_Open]):
    """Records and values in one file.

    Args:
        path: The file. Its directory must exist. Default: `midcall.db` in the user's data directory.
        busy: Seconds to wait for another process that writes.
    """

    def __init__(self, path: str | Path | None = None, *, busy: float = SQLITE_BUSY_SECONDS) -> None:
        super().__init__()
        self._path = None if path is None else Path(path).expanduser().absolute()
        self._busy = busy
        self._changes = 0
        self._polls = 0

    def __repr__(self) -> str:
        return f"SQLite({str(self.path)!r})"

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._path or default_file()

    async def create(self, record: Record) -> tuple[Record, bool]:
        check_record(record)
        new = replace(record, version=1)

        def work(connection: sqlite3.Connection) -> tuple[Record, bool]:
            with transaction(connection):
                if connection.execute(_CREATE, to_row(new)).rowcount:
                    return new, True
                return to_record(connection.execute(_READ, (escape(record.id),)).fetchone()), False

        return await self._change(record.id, work)

    async def change(self, record: Record, version: int) -> tuple[Record | None, bool]:
        check_record(record)
        id, _, *changed = to_change(record, version)

        def work(connection: sqlite3.Connection) -> tuple[Record | None, bool]:
            with transaction(connection):
                if rows := connection.execute(_CHANGE, (*changed, id, version)).fetchall():
                    return replace(record, created=float(rows[0][0]), version=version + 1), True
                return _read(connection, record.id), False

        return await self._change(record.id, work)

    async def read(self, id: str) -> Record | None:
        return await self._run(lambda connection: _read(connection, id))

    async def look(self, ids: Sequence[str]) -> dict[str, Record]:
        rows = await self._run(lambda connection: _select(connection, RECORD, ids))
        return {record.id: record for record in map(to_record, rows)}

    async def complete(self, id: str, outcome: str, *, owner: str | None, now: float) -> Completion:
        def work(connection: sqlite3.Connection) -> Completion:
            with transaction(connection):
                completion = verdict(_read(connection, id), owner=owner, now=now)
                if completion == "done":
                    connection.execute(_COMPLETE, (escape(outcome), escape(id)))
                return completion

        return await self._change(id, work)

    async def consume(self, id: str, *, owner: str | None, now: float) -> Record | None:
        arguments = {"id": escape(id), "owner": None if owner is None else escape(owner), "now": now}
        rows = await self._change(id, lambda connection: connection.execute(_CONSUME, arguments).fetchall())
        return before_consuming(to_record(rows[0])) if rows else None

    async def sweep(self, now: float) -> int:
        delete = "DELETE FROM midcall_records WHERE expires <= ?"
        gone = await self._run(lambda connection: connection.execute(delete, (now,)).rowcount)
        self._changes = 0  # SQLite doesn't count changes of the same connection
        return gone

    async def put(self, value: Value, *, instead_of: bytes | None = None) -> bool:
        check_value(value)
        owner, name = escape(value.owner), escape(value.name)
        if instead_of is None:
            row = (owner, name, value.sealed, value.updated)
            return await self._run(lambda connection: connection.execute(_PUT, row).rowcount == 1)
        swap = (value.sealed, value.updated, owner, name, instead_of)
        return await self._run(lambda connection: connection.execute(_SWAP, swap).rowcount == 1)

    async def get(self, owner: str, name: str) -> Value | None:
        query, key = f"{_VALUES} AND name = ?", (escape(owner), escape(name))
        row = await self._run(lambda connection: connection.execute(query, key).fetchone())
        return None if row is None else to_value(row)

    async def values(self, owner: str) -> list[Value]:
        rows = await self._run(lambda connection: connection.execute(_VALUES, (escape(owner),)).fetchall())
        return sorted(map(to_value, rows), key=lambda value: value.name)

    async def remove(self, owner: str, name: str) -> bool:
        delete, key = "DELETE FROM midcall_values WHERE owner = ? AND name = ?", (escape(owner), escape(name))
        return await self._run(lambda connection: connection.execute(delete, key).rowcount == 1)

    async def all_values(self) -> AsyncIterator[Value]:
        rows = await self._run(lambda connection: connection.execute(_FIRST_PAGE).fetchall())
        while rows:
            for row in rows:
                yield to_value(row)
            after = rows[-1][:2]
            rows = await self._run(lambda connection, after=after: connection.execute(_NEXT_PAGE, after).fetchall())

    async def _start(self) -> _Open:
        thread = Thread(make_default_file() if self._path is None else make_file(self._path), self._busy)
        try:
            await thread.run(lambda _: None)
        except BaseException:
            await thread.close()
            raise
        return _Open(thread, Wakeups(self._versions, often=SQLITE_POLL_SECONDS, seldom=SQLITE_POLL_SECONDS))

    async def _stop(self, it: _Open) -> None:
        await it.wakeups.close()
        await it.thread.close()

    def _abandon(self, it: _Open) -> None:
        it.thread.abandon()

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await (await self._get()).thread.run(work)

    async def _change(self, id: str, work: Callable[[sqlite3.Connection], T]) -> T:
        it = await self._get()
        try:
            return await it.thread.run(work)
        finally:
            it.wakeups.ring(id)  # even if cancelled: the thread may still commit

    async def _versions(self, ids: Sequence[str]) -> dict[str, int] | None:
        return await self._run(lambda connection: self._find_changes(connection, ids))

    def _find_changes(self, connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, int] | None:
        changes = connection.execute("PRAGMA data_version").fetchone()[0]
        self._polls += 1
        if changes == self._changes and self._polls % _POLL_ANYWAY:
            return None
        versions = {unescape(id): version for id, version in _select(connection, "id, version", ids)}
        self._changes = changes
        return versions


def _read(connection: sqlite3.Connection, id: str) -> Record | None:
    row = connection.execute(_READ, (escape(id),)).fetchone()
    return None if row is None else to_record(row)


def _select(connection: sqlite3.Connection, columns: str, ids: Sequence[str]) -> list[Any]:
    """These columns of these records, in several queries: SQLite limits the parameters of one."""
    rows: list[Any] = []
    for begun in range(0, len(ids), STORE_BATCH):
        some = [escape(id) for id in ids[begun : begun + STORE_BATCH]]
        marks = ", ".join("?" * len(some))
        rows += connection.execute(f"SELECT {columns} FROM midcall_records WHERE id IN ({marks})", some)
    return rows
