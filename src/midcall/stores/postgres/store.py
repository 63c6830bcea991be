"""A store in PostgreSQL: for many machines.

Each operation is one unprepared statement, so it works behind a pooler in transaction mode. A change of a record
notifies in the same statement.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Protocol

from midcall.errors import StoreError
from midcall.settings import POSTGRES_RELEASE_SECONDS, STORE_BATCH, STORE_POOL, STORE_TIMEOUT_SECONDS
from midcall.stores.address import Address
from midcall.stores.backend import failures
from midcall.stores.backend.lifecycle import Connected
from midcall.stores.backend.migrations import SchemaVersion, missing_steps
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
from midcall.stores.postgres.driver import OPTIONS, explain, is_lost, load_driver
from midcall.stores.postgres.listener import CHANNEL, PostgresListener
from midcall.stores.postgres.schema import STEPS, VERSION_TABLE, make_schema, qualify, schema_sql, set_version

_LOCK = 0x6D696463616C6C  # "midcall": held while tables are created
_RACES = 5

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
_FIRST_PAGE = f"SELECT {VALUE} FROM @midcall_values ORDER BY owner, name LIMIT {STORE_BATCH}"
_NEXT_PAGE = f"""
    SELECT {VALUE} FROM @midcall_values WHERE (owner, name) > ($1, $2) ORDER BY owner, name LIMIT {STORE_BATCH}
"""


class _Connection(Protocol):
    """What we use of a connection."""

    async def fetch(self, query: str, *args: Any, timeout: float | None = None) -> list[Any]: ...
    async def execute(self, query: str, *args: Any, timeout: float | None = None) -> str: ...


@dataclass(slots=True)
class _Open:
    pool: Any
    wakeups: Wakeups


class PostgreSQL(Connected[_Open]):
    """Records and values in a PostgreSQL database.

    Args:
        url: postgresql://user:password@host:port/database. Missing parts come from PGHOST, PGUSER and so on. The other
            arguments can be options of the URL: `?create=false&pool=4`.
        create: Create and migrate the tables. False if somebody else does.
        schema: The schema of the tables. Default: the first one of the search path.
        listen: Use LISTEN to hear of changes. If it doesn't work, midcall notices and polls; False doesn't even try.
        pool: The maximum number of connections, not counting the one that listens.
        timeout: Seconds to wait for an answer of the database.
    """

    def __init__(
        self,
        url: str = "postgresql://",
        *,
        create: bool = True,
        schema: str | None = None,
        listen: bool = True,
        pool: int = STORE_POOL,
        timeout: float = STORE_TIMEOUT_SECONDS,
    ) -> None:
        super().__init__()
        self._pg = load_driver()
        address = Address.parse(url, "postgresql", "postgres")
        self._url, options = address.without(*OPTIONS)
        self._create = options.flag("create", create)
        self._schema = options.text("schema", schema)
        self._listen = options.flag("listen", listen)
        self._size = options.count("pool", pool)
        self._timeout = options.seconds("timeout", timeout)
        self._what = f"PostgreSQL{address.where}"

    def __repr__(self) -> str:
        return f"<{self._what}>"

    async def create(self, record: Record) -> tuple[Record, bool]:
        check_record(record)
        new = replace(record, version=1)
        for _ in range(_RACES):
            if await self._change(_CREATE, *to_row(new)):
                self._ring(record.id)
                return new, True
            if (found := await self.read(record.id)) is not None:
                return found, False
        raise self._too_many_changes()

    async def change(self, record: Record, version: int) -> tuple[Record | None, bool]:
        check_record(record)
        for _ in range(_RACES):
            if rows := await self._change(_CHANGE, *to_change(record, version)):
                self._ring(record.id)
                return replace(record, created=rows[0][0], version=version + 1), True
            found = await self.read(record.id)
            if found is None or found.version != version:
                return found, False
        raise self._too_many_changes()

    async def read(self, id: str) -> Record | None:
        rows = await self._query(_READ, escape(id))
        return to_record(rows[0]) if rows else None

    async def look(self, ids: Sequence[str]) -> dict[str, Record]:
        rows = await self._query(_LOOK, [escape(id) for id in ids])
        return {record.id: record for record in map(to_record, rows)}

    async def complete(self, id: str, outcome: str, *, owner: str | None, now: float) -> Completion:
        arguments = (escape(id), escape(outcome), None if owner is None else escape(owner), now)
        for _ in range(_RACES):
            if await self._change(_COMPLETE, *arguments):
                self._ring(id)
                return "done"
            if (completion := verdict(await self.read(id), owner=owner, now=now)) != "done":
                return completion
        raise self._too_many_changes()

    async def consume(self, id: str, *, owner: str | None, now: float) -> Record | None:
        rows = await self._change(_CONSUME, escape(id), None if owner is None else escape(owner), now)
        if not rows:
            return None
        self._ring(id)
        return before_consuming(to_record(rows[0][1:]))

    async def sweep(self, now: float) -> int:
        gone = (await self._change(_SWEEP, now))[0][0]
        (await self._get()).wakeups.poll_soon()
        return gone

    async def put(self, value: Value, *, instead_of: bytes | None = None) -> bool:
        check_value(value)
        row = (escape(value.owner), escape(value.name), value.sealed, value.updated)
        if instead_of is None:
            return bool(await self._change(_PUT, *row))
        return bool(await self._change(_SWAP, *row, instead_of))

    async def get(self, owner: str, name: str) -> Value | None:
        rows = await self._query(_GET, escape(owner), escape(name))
        return to_value(rows[0]) if rows else None

    async def values(self, owner: str) -> list[Value]:
        return sorted(map(to_value, await self._query(_VALUES, escape(owner))), key=lambda value: value.name)

    async def remove(self, owner: str, name: str) -> bool:
        return bool(await self._change(_REMOVE, escape(owner), escape(name)))

    async def all_values(self) -> AsyncIterator[Value]:
        rows = await self._query(_FIRST_PAGE)
        while rows:
            for row in rows:
                yield to_value(row)
            rows = await self._query(_NEXT_PAGE, rows[-1][0], rows[-1][1])

    # --- connections ---------------------------------------------------------------------------

    async def _start(self) -> _Open:
        pool = self._pg.create_pool(min_size=0, max_size=self._size, reset=_reset, **self._connection_options())
        await pool
        try:
            async with self._borrow(pool) as connection:
                await self._prepare(connection)
        except BaseException:
            pool.terminate()
            raise
        ear = PostgresListener(self._what, self._connect, self._say) if self._listen else None
        return _Open(pool, Wakeups(self._versions, ear))

    async def _stop(self, it: _Open) -> None:
        await it.wakeups.close()
        try:
            async with asyncio.timeout(self._timeout):
                await it.pool.close()
        except TimeoutError:
            it.pool.terminate()

    def _connection_options(self) -> dict[str, Any]:
        # Behind a pooler, the next server connection doesn't have our prepared statements.
        return {
            "dsn": self._url,
            "statement_cache_size": 0,
            "timeout": self._timeout,
            "command_timeout": self._timeout,
        }

    async def _connect(self) -> Any:
        try:
            return await self._pg.connect(**self._connection_options())
        except Exception as error:
            raise explain(error, self._what, connecting=True) from error

    @asynccontextmanager
    async def _borrow(self, pool: Any) -> AsyncGenerator[_Connection]:
        """A connection of the pool. Failures become store errors."""
        try:
            connection = await pool.acquire(timeout=self._timeout)
        except Exception as error:
            raise explain(error, self._what, connecting=True) from error
        try:
            yield connection
        except Exception as error:
            raise explain(error, self._what) from error
        finally:
            with suppress(Exception):  # if it died, the pool replaces it
                await pool.release(connection, timeout=POSTGRES_RELEASE_SECONDS)

    # --- statements ----------------------------------------------------------------------------

    async def _change(self, sql: str, *arguments: Any) -> list[Any]:
        async with self._borrow((await self._get()).pool) as connection:
            return await connection.fetch(qualify(sql, self._schema), *arguments)

    async def _query(self, sql: str, *arguments: Any) -> list[Any]:
        """Run a statement that only reads: it may be retried on another connection."""
        try:
            return await self._change(sql, *arguments)
        except StoreError as error:
            if not is_lost(error.__cause__):
                raise
        return await self._change(sql, *arguments)

    async def _say(self, message: str) -> object:
        return await self._change(f"SELECT pg_notify('{CHANNEL}', $1)", message)

    async def _versions(self, ids: Sequence[str]) -> dict[str, int]:
        rows = await self._query(_VERSIONS, [escape(id) for id in ids])
        return {unescape(id): version for id, version in rows}

    def _too_many_changes(self) -> StoreError:
        return failures.failed(self._what, "too many changes of one record", again=True)

    # --- tables --------------------------------------------------------------------------------

    async def _prepare(self, connection: _Connection) -> None:
        """Create or migrate the tables. If several processes start at once, one does it."""
        if not missing_steps(await self._read_version(connection), STEPS):
            return
        if not self._create:
            raise self._tables_missing(f"{self._what}: the tables of the store are missing or too old")
        try:
            await self._migrate(connection)
        except self._pg.InsufficientPrivilegeError as error:
            raise self._tables_missing(f"{self._what}: this user may not create the tables of the store") from error

    async def _read_version(self, connection: _Connection) -> SchemaVersion | None:
        try:
            rows = await connection.fetch(qualify("SELECT version, usable_from FROM @midcall_schema", self._schema))
        except self._pg.UndefinedTableError:
            return None
        return SchemaVersion(rows[0][0], rows[0][1]) if rows else None

    async def _migrate(self, connection: Any) -> None:
        async with connection.transaction():
            await connection.execute(f"SELECT pg_advisory_xact_lock({_LOCK})")
            await connection.execute(make_schema(self._schema) + qualify(VERSION_TABLE, self._schema))
            for version, step in missing_steps(await self._read_version(connection), STEPS):
                await connection.execute(qualify(step + set_version(version), self._schema))

    def _tables_missing(self, text: str) -> StoreError:
        return StoreError(
            text, advice=f"Let someone who may create tables run this once:\n\n{schema_sql(self._schema)}"
        )


async def _reset(_connection: object) -> None:
    """We leave nothing on a connection, so there's nothing to reset."""
