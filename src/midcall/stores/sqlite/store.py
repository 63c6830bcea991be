"""A store in one file: for one machine, with as many processes as you like.

`sqlite3` blocks, so all of it happens on one thread of the store's own. Processes on one machine hear of
each other through the file: SQLite counts its changes, and looking at the counter costs next to nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from midcall.stores.background.lifecycle import Life
from midcall.stores.background.wakeup import Waking
from midcall.stores.base import Completion, Record, Value, verdict
from midcall.stores.sql.rows import RECORD, VALUE, before_consuming, change_of, record_of, row_of, value_of
from midcall.stores.sqlite.places import default_file, make_default_file, make_file
from midcall.stores.sqlite.thread import Thread, transaction
from midcall.stores.texts import check_name, check_record, given, kept

__all__ = ["SQLite"]

T = TypeVar("T")

_OFTEN = 0.05
_LOOK_ANYWAY = 100
"""Every so many looks, whatever the counter says."""
_AT_ONCE = 500

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
_FIRST_PAGE = f"SELECT {VALUE} FROM midcall_values ORDER BY owner, name LIMIT {_AT_ONCE}"
_NEXT_PAGE = f"SELECT {VALUE} FROM midcall_values WHERE (owner, name) > (?, ?) ORDER BY owner, name LIMIT {_AT_ONCE}"


@dataclass(slots=True)
class _Open:
    thread: Thread
    waking: Waking


class SQLite:
    """Records and values in one file.

    Args:
        path: The file. Its directory must be there; the process may go elsewhere afterwards. Without it,
            `midcall.db` under the user's data directory.
        busy: For how many seconds to wait for another process that writes.
    """

    def __init__(self, path: str | Path | None = None, *, busy: float = 5.0) -> None:
        self._path = None if path is None else Path(path).expanduser().absolute()
        self._busy = busy
        self._life = Life(self._start, self._stop, lambda it: it.thread.leave())
        self._changes = 0
        self._looks = 0

    def __repr__(self) -> str:
        return f"SQLite({str(self.path)!r})"

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._path or default_file()

    async def open(self) -> None:
        await self._life.open()

    async def close(self) -> None:
        await self._life.close()

    async def create(self, record: Record) -> tuple[Record, bool]:
        check_record(record)
        new = replace(record, version=1)

        def work(connection: sqlite3.Connection) -> tuple[Record, bool]:
            with transaction(connection):
                if connection.execute(_CREATE, row_of(new)).rowcount:
                    return new, True
                return record_of(connection.execute(_READ, (kept(record.id),)).fetchone()), False

        return await self._change(record.id, work)

    async def change(self, record: Record, version: int) -> tuple[Record | None, bool]:
        check_record(record)
        id, _, *changed = change_of(record, version)

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
        return {record.id: record for record in map(record_of, rows)}

    async def complete(self, id: str, outcome: str, *, owner: str | None, now: float) -> Completion:
        def work(connection: sqlite3.Connection) -> Completion:
            with transaction(connection):
                became = verdict(_read(connection, id), owner=owner, now=now)
                if became == "done":
                    connection.execute(_COMPLETE, (kept(outcome), kept(id)))
                return became

        return await self._change(id, work)

    async def consume(self, id: str, *, owner: str | None, now: float) -> Record | None:
        given_in = {"id": kept(id), "owner": None if owner is None else kept(owner), "now": now}
        rows = await self._change(id, lambda connection: connection.execute(_CONSUME, given_in).fetchall())
        return before_consuming(record_of(rows[0])) if rows else None

    async def wait(self, id: str, seconds: float, *, version: int | None = None) -> Record | None:
        return await (await self._life.get()).waking.wait(id, seconds, self.read, version=version)

    async def sweep(self, now: float) -> int:
        delete = "DELETE FROM midcall_records WHERE expires <= ?"
        gone = await self._run(lambda connection: connection.execute(delete, (now,)).rowcount)
        self._changes = 0  # SQLite does not count what this connection changes
        return gone

    async def put(self, value: Value, *, instead_of: bytes | None = None) -> bool:
        check_name("owner", value.owner)
        check_name("name", value.name)
        owner, name = kept(value.owner), kept(value.name)
        if instead_of is None:
            row = (owner, name, value.sealed, value.updated)
            return await self._run(lambda connection: connection.execute(_PUT, row).rowcount == 1)
        swap = (value.sealed, value.updated, owner, name, instead_of)
        return await self._run(lambda connection: connection.execute(_SWAP, swap).rowcount == 1)

    async def get(self, owner: str, name: str) -> Value | None:
        query, key = f"{_VALUES} AND name = ?", (kept(owner), kept(name))
        row = await self._run(lambda connection: connection.execute(query, key).fetchone())
        return None if row is None else value_of(row)

    async def values(self, owner: str) -> list[Value]:
        rows = await self._run(lambda connection: connection.execute(_VALUES, (kept(owner),)).fetchall())
        return sorted(map(value_of, rows), key=lambda value: value.name)

    async def remove(self, owner: str, name: str) -> bool:
        delete, key = "DELETE FROM midcall_values WHERE owner = ? AND name = ?", (kept(owner), kept(name))
        return await self._run(lambda connection: connection.execute(delete, key).rowcount == 1)

    async def all_values(self) -> AsyncIterator[Value]:
        rows = await self._run(lambda connection: connection.execute(_FIRST_PAGE).fetchall())
        while rows:
            for row in rows:
                yield value_of(row)
            after = rows[-1][:2]
            rows = await self._run(lambda connection, after=after: connection.execute(_NEXT_PAGE, after).fetchall())

    async def _start(self) -> _Open:
        thread = Thread(make_default_file() if self._path is None else make_file(self._path), self._busy)
        try:
            await thread.run(lambda _: None)
        except BaseException:
            await thread.close()
            raise
        return _Open(thread, Waking(self._versions, often=_OFTEN, seldom=_OFTEN))

    async def _stop(self, it: _Open) -> None:
        await it.waking.close()
        await it.thread.close()

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await (await self._life.get()).thread.run(work)

    async def _change(self, id: str, work: Callable[[sqlite3.Connection], T]) -> T:
        it = await self._life.get()
        try:
            return await it.thread.run(work)
        finally:
            it.waking.ring(id)  # even if cancelled: the thread may still commit, and reads queue up behind it

    async def _versions(self, ids: Sequence[str]) -> dict[str, int] | None:
        return await self._run(lambda connection: self._changed(connection, ids))

    def _changed(self, connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, int] | None:
        changes = connection.execute("PRAGMA data_version").fetchone()[0]
        self._looks += 1
        if changes == self._changes and self._looks % _LOOK_ANYWAY:
            return None
        versions = {given(id): version for id, version in _select(connection, "id, version", ids)}
        self._changes = changes
        return versions


def _read(connection: sqlite3.Connection, id: str) -> Record | None:
    row = connection.execute(_READ, (kept(id),)).fetchone()
    return None if row is None else record_of(row)


def _select(connection: sqlite3.Connection, columns: str, ids: Sequence[str]) -> list[Any]:
    """These columns of these records, in several queries: SQLite limits the parameters of one."""
    rows: list[Any] = []
    for begun in range(0, len(ids), _AT_ONCE):
        some = [kept(id) for id in ids[begun : begun + _AT_ONCE]]
        marks = ", ".join("?" * len(some))
        rows += connection.execute(f"SELECT {columns} FROM midcall_records WHERE id IN ({marks})", some)
    return rows
