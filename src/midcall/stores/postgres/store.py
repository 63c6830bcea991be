"""A store in PostgreSQL: for many machines.

Each operation is one statement, so it works behind a pooler in transaction mode, and nothing is prepared
that another server connection would not know. A change of a record notifies in the same statement.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Protocol

from midcall.stores.address import Address
from midcall.stores.background.lifecycle import Life
from midcall.stores.background.wakeup import Waking
from midcall.stores.base import Completion, Record, StoreError, Value, verdict
from midcall.stores.postgres.failures import OPTIONS, driver, explained, is_lost
from midcall.stores.postgres.listener import CHANNEL, PostgresEar
from midcall.stores.postgres.schema import STEPS, VERSION_TABLE, make_schema, schema_sql, set_version, within
from midcall.stores.sql.rows import RECORD, VALUE, before_consuming, change_of, record_of, row_of, value_of
from midcall.stores.sql.versions import Found, missing_steps
from midcall.stores.texts import check_name, check_record, given, kept
from midcall.wording import stores as words

__all__ = ["PostgreSQL"]

_LOCK = 0x6D696463616C6C  # "midcall": held while the tables are made
_AT_ONCE = 500
_RACES = 5
_RELEASE = 1.0  # seconds for a connection that did not answer to be given up

_NOTIFY = f"pg_notify('{CHANNEL}', id)"
_CREATE = f"""
    WITH made AS (
        INSERT INTO @midcall_records AS old ({RECORD}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        ON CONFLICT (id) DO UPDATE SET
            kind = excluded.kind, owner = excluded.owner, data = excluded.data, created = excluded.created,
            expires = excluded.expires, outcome = excluded.outcome, consumed = excluded.consumed,
            version = excluded.version
        WHERE old.expires <= excluded.created
        RETURNING id
    )
    SELECT {_NOTIFY} FROM made
"""
_CHANGE = f"""
    WITH changed AS (
        UPDATE @midcall_records
        SET version = version + 1, kind = $3, owner = $4, data = $5, expires = $6, outcome = $7, consumed = $8
        WHERE id = $1 AND version = $2
        RETURNING id, created
    )
    SELECT created, {_NOTIFY} FROM changed
"""
_READ = f"SELECT {RECORD} FROM @midcall_records WHERE id = $1"
_LOOK = f"SELECT {RECORD} FROM @midcall_records WHERE id = ANY($1::text[])"
_VERSIONS = "SELECT id, version FROM @midcall_records WHERE id = ANY($1::text[])"
_COMPLETE = f"""
    WITH done AS (
        UPDATE @midcall_records SET outcome = $2, version = version + 1
        WHERE id = $1 AND outcome IS NULL AND ($3::text IS NULL OR owner = $3) AND expires > $4
        RETURNING id
    )
    SELECT {_NOTIFY} FROM done
"""
_CONSUME = f"""
    WITH used AS (
        UPDATE @midcall_records SET consumed = true, version = version + 1
        WHERE id = $1 AND NOT consumed AND ($2::text IS NULL OR owner = $2) AND expires > $3
        RETURNING {RECORD}
    )
    SELECT {_NOTIFY}, {RECORD} FROM used
"""
_SWEEP = "WITH gone AS (DELETE FROM @midcall_records WHERE expires <= $1 RETURNING 1) SELECT count(*) FROM gone"
_PUT = f"""
    INSERT INTO @midcall_values ({VALUE}) VALUES ($1, $2, $3, $4)
    ON CONFLICT (owner, name) DO UPDATE SET sealed = excluded.sealed, updated = excluded.updated
    RETURNING true
"""
_SWAP = """
    UPDATE @midcall_values SET sealed = $3, updated = $4 WHERE owner = $1 AND name = $2 AND sealed = $5 RETURNING true
"""
_GET = f"SELECT {VALUE} FROM @midcall_values WHERE owner = $1 AND name = $2"
_VALUES = f"SELECT {VALUE} FROM @midcall_values WHERE owner = $1"
_REMOVE = "DELETE FROM @midcall_values WHERE owner = $1 AND name = $2 RETURNING true"
_FIRST_PAGE = f"SELECT {VALUE} FROM @midcall_values ORDER BY owner, name LIMIT {_AT_ONCE}"
_NEXT_PAGE = f"""
    SELECT {VALUE} FROM @midcall_values WHERE (owner, name) > ($1, $2) ORDER BY owner, name LIMIT {_AT_ONCE}
"""


class _Connection(Protocol):
    """What we use of a connection, and of a pool of them."""

    async def fetch(self, query: str, *args: Any, timeout: float | None = None) -> list[Any]: ...
    async def execute(self, query: str, *args: Any, timeout: float | None = None) -> str: ...


@dataclass(slots=True)
class _Open:
    pool: Any
    waking: Waking


class PostgreSQL:
    """Records and values in a PostgreSQL database.

    Args:
        url: Where it is: postgresql://user:password@host:port/database. What is left out comes from PGHOST,
            PGUSER and so on. The other arguments can be options of the URL: `?create=false&pool=4`.
        create: Make and migrate the tables. False where that is somebody else's job.
        schema: The schema the tables are in; without it, the first of the search path.
        listen: Hear of changes by LISTEN. Where that does not work it is noticed; False does not try.
        pool: How many connections at most, and one that listens.
        timeout: Seconds until a database that does not answer is an error.
    """

    def __init__(
        self,
        url: str = "postgresql://",
        *,
        create: bool = True,
        schema: str | None = None,
        listen: bool = True,
        pool: int = 10,
        timeout: float = 10.0,
    ) -> None:
        self._pg = driver()
        address = Address.parse(url, "postgresql", "postgres")
        self._url, options = address.without(*OPTIONS)
        self._create = options.flag("create", create)
        self._schema = options.text("schema", schema)
        self._listen = options.flag("listen", listen)
        self._size = options.count("pool", pool)
        self._timeout = options.seconds("timeout", timeout)
        self._what = f"PostgreSQL{address.where}"
        self._life = Life(self._start, self._stop)

    def __repr__(self) -> str:
        return f"<{self._what}>"

    async def open(self) -> None:
        await self._life.open()

    async def close(self) -> None:
        await self._life.close()

    async def create(self, record: Record) -> tuple[Record, bool]:
        check_record(record)
        new = replace(record, version=1)
        for _ in range(_RACES):
            if await self._change(_CREATE, *row_of(new)):
                return self._rung(new), True
            if (found := await self.read(record.id)) is not None:
                return found, False
        raise self._too_many_changes()

    async def change(self, record: Record, version: int) -> tuple[Record | None, bool]:
        check_record(record)
        for _ in range(_RACES):
            if rows := await self._change(_CHANGE, *change_of(record, version)):
                return self._rung(replace(record, created=rows[0][0], version=version + 1)), True
            found = await self.read(record.id)
            if found is None or found.version != version:
                return found, False
        raise self._too_many_changes()

    async def read(self, id: str) -> Record | None:
        rows = await self._query(_READ, kept(id))
        return record_of(rows[0]) if rows else None

    async def look(self, ids: Sequence[str]) -> dict[str, Record]:
        rows = await self._query(_LOOK, [kept(id) for id in ids])
        return {record.id: record for record in map(record_of, rows)}

    async def complete(self, id: str, outcome: str, *, owner: str | None, now: float) -> Completion:
        arguments = (kept(id), kept(outcome), None if owner is None else kept(owner), now)
        for _ in range(_RACES):
            if await self._change(_COMPLETE, *arguments):
                self._ring(id)
                return "done"
            if (became := verdict(await self.read(id), owner=owner, now=now)) != "done":
                return became
        raise self._too_many_changes()

    async def consume(self, id: str, *, owner: str | None, now: float) -> Record | None:
        rows = await self._change(_CONSUME, kept(id), None if owner is None else kept(owner), now)
        return before_consuming(self._rung(record_of(rows[0][1:]))) if rows else None

    async def wait(self, id: str, seconds: float, *, version: int | None = None) -> Record | None:
        return await (await self._life.get()).waking.wait(id, seconds, self.read, version=version)

    async def sweep(self, now: float) -> int:
        gone = (await self._change(_SWEEP, now))[0][0]
        (await self._life.get()).waking.look_soon()
        return gone

    async def put(self, value: Value, *, instead_of: bytes | None = None) -> bool:
        check_name("owner", value.owner)
        check_name("name", value.name)
        row = (kept(value.owner), kept(value.name), value.sealed, value.updated)
        if instead_of is None:
            return bool(await self._change(_PUT, *row))
        return bool(await self._change(_SWAP, *row, instead_of))

    async def get(self, owner: str, name: str) -> Value | None:
        rows = await self._query(_GET, kept(owner), kept(name))
        return value_of(rows[0]) if rows else None

    async def values(self, owner: str) -> list[Value]:
        return sorted(map(value_of, await self._query(_VALUES, kept(owner))), key=lambda value: value.name)

    async def remove(self, owner: str, name: str) -> bool:
        return bool(await self._change(_REMOVE, kept(owner), kept(name)))

    async def all_values(self) -> AsyncIterator[Value]:
        rows = await self._query(_FIRST_PAGE)
        while rows:
            for row in rows:
                yield value_of(row)
            rows = await self._query(_NEXT_PAGE, rows[-1][0], rows[-1][1])

    # --- connections ---------------------------------------------------------------------------

    async def _start(self) -> _Open:
        pool = self._pg.create_pool(min_size=0, max_size=self._size, reset=_nothing, **self._how())
        await pool
        try:
            async with self._borrowed(pool) as connection:
                await self._prepare(connection)
        except BaseException:
            pool.terminate()
            raise
        ear = PostgresEar(self._what, self._connect, self._say) if self._listen else None
        return _Open(pool, Waking(self._versions, ear))

    async def _stop(self, it: _Open) -> None:
        await it.waking.close()
        try:
            async with asyncio.timeout(self._timeout):
                await it.pool.close()
        except TimeoutError:
            it.pool.terminate()

    def _how(self) -> dict[str, Any]:
        # A statement that was prepared on one server connection of a pooler is not there on the next.
        return {
            "dsn": self._url,
            "statement_cache_size": 0,
            "timeout": self._timeout,
            "command_timeout": self._timeout,
        }

    async def _connect(self) -> Any:
        try:
            return await self._pg.connect(**self._how())
        except Exception as error:
            raise explained(error, self._what, connecting=True) from error

    @asynccontextmanager
    async def _borrowed(self, pool: Any) -> AsyncGenerator[_Connection]:
        """A connection of the pool, and every failure in words."""
        try:
            connection = await pool.acquire(timeout=self._timeout)
        except Exception as error:
            raise explained(error, self._what, connecting=True) from error
        try:
            yield connection
        except Exception as error:
            raise explained(error, self._what) from error
        finally:
            with suppress(Exception):  # of one that died on the way: the pool has let go of it, and makes another
                await pool.release(connection, timeout=_RELEASE)

    # --- statements ----------------------------------------------------------------------------

    async def _change(self, sql: str, *arguments: Any) -> list[Any]:
        async with self._borrowed((await self._life.get()).pool) as connection:
            return await connection.fetch(within(sql, self._schema), *arguments)

    async def _query(self, sql: str, *arguments: Any) -> list[Any]:
        """What only reads may be tried again, on another connection."""
        try:
            return await self._change(sql, *arguments)
        except StoreError as error:
            if not is_lost(error.__cause__):
                raise
        return await self._change(sql, *arguments)

    async def _say(self, message: str) -> object:
        return await self._change(f"SELECT pg_notify('{CHANNEL}', $1)", message)

    async def _versions(self, ids: Sequence[str]) -> dict[str, int]:
        rows = await self._query(_VERSIONS, [kept(id) for id in ids])
        return {given(id): version for id, version in rows}

    def _ring(self, id: str) -> None:
        """Wake those who wait for it here: they need not wait for the notification."""
        if (it := self._life.here()) is not None:
            it.waking.ring(id)

    def _rung(self, record: Record) -> Record:
        self._ring(record.id)
        return record

    def _too_many_changes(self) -> StoreError:
        return StoreError(words.server_failed(self._what, "too many changes of one record"), advice=words.try_again())

    # --- tables --------------------------------------------------------------------------------

    async def _prepare(self, connection: _Connection) -> None:
        """Make the tables, or bring them to where they must be. Of several that start at once, one does it."""
        if not missing_steps(await self._found(connection), STEPS):
            return
        if not self._create:
            raise self._tables_missing(f"{self._what}: the tables of the store are missing or of an older version")
        try:
            await self._migrate(connection)
        except self._pg.InsufficientPrivilegeError as error:
            raise self._tables_missing(f"{self._what}: this user may not create the tables of the store") from error

    async def _found(self, connection: _Connection) -> Found | None:
        try:
            rows = await connection.fetch(within("SELECT version, usable_from FROM @midcall_schema", self._schema))
        except self._pg.UndefinedTableError:
            return None
        return Found(rows[0][0], rows[0][1]) if rows else None

    async def _migrate(self, connection: Any) -> None:
        async with connection.transaction():
            await connection.execute(f"SELECT pg_advisory_xact_lock({_LOCK})")
            await connection.execute(make_schema(self._schema) + within(VERSION_TABLE, self._schema))
            for version, step in missing_steps(await self._found(connection), STEPS):
                await connection.execute(within(step + set_version(version), self._schema))

    def _tables_missing(self, text: str) -> StoreError:
        return StoreError(
            text, advice=f"Let somebody who may create tables run this, once:\n\n{schema_sql(self._schema)}"
        )


async def _nothing(_connection: object) -> None:
    """Nothing of ours is left on a connection, so nothing has to be reset."""
