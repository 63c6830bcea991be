"""A store in PostgreSQL: for many machines.

Each operation is one unprepared statement, so it works behind a pooler in transaction mode. A change of a record
notifies in the same statement.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Final

from midcall.errors import StoreError
from midcall.settings.stores import (
    POSTGRES_CLOSE_SECONDS,
    POSTGRES_LISTEN_AGAIN_SECONDS,
    POSTGRES_LISTEN_SECONDS,
    POSTGRES_PING_SECONDS,
    POSTGRES_PONG_SECONDS,
    POSTGRES_RELEASE_SECONDS,
    STORE_POOL,
    STORE_TIMEOUT_SECONDS,
)
from midcall.stores.address import StoreUrl
from midcall.stores.backend.failures import fail, import_driver, refuse_option, refuse_url
from midcall.stores.backend.rows import OLDEST, escape, missing_steps, unescape
from midcall.stores.backend.sql import SqlStore
from midcall.stores.backend.wakeup import Wakeups

__all__ = ["SCHEMA", "PostgreSQL", "schema_sql"]

log = logging.getLogger("midcall.store")

_OPTIONS: Final = ("create", "schema", "listen", "pool", "timeout")
"""The options of a URL that are ours and not the driver's."""
_CHANNEL: Final = "midcall"
_LOCK: Final = 0x6D696463616C6C  # "midcall": held while tables are created
_VERSION_TABLE: Final = """\
CREATE TABLE IF NOT EXISTS @midcall_schema (
    version integer NOT NULL,
    usable_from integer NOT NULL
);
"""
# The collation "C" compares bytes: the same order on every server, and cheap.
_STEPS: Final = (
    """\
CREATE TABLE IF NOT EXISTS @midcall_records (
    id text COLLATE "C" PRIMARY KEY,
    kind text NOT NULL,
    owner text NOT NULL,
    data text NOT NULL,
    created double precision NOT NULL,
    expires double precision NOT NULL,
    outcome text,
    consumed boolean NOT NULL DEFAULT false
);
CREATE INDEX IF NOT EXISTS midcall_records_expires ON @midcall_records (expires);
CREATE TABLE IF NOT EXISTS @midcall_values (
    owner text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    sealed bytea NOT NULL,
    updated double precision NOT NULL,
    PRIMARY KEY (owner, name)
);
""",
    """\
ALTER TABLE @midcall_records ADD COLUMN IF NOT EXISTS version integer NOT NULL DEFAULT 1;
""",
)
_SWEEP: Final = "WITH gone AS (DELETE FROM @midcall_records WHERE expires <= ? RETURNING 1) SELECT count(*) FROM gone"


@dataclass(slots=True)
class _Open:
    pool: Any
    wakeups: Wakeups


class PostgreSQL(SqlStore[_Open]):
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

    _notify: ClassVar[str] = f"WITH changed AS ({{}}) SELECT changed.*, pg_notify('{_CHANNEL}', id) FROM changed"

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
        self._pg = _load_driver()
        address = StoreUrl.parse(url, "postgresql", "postgres")
        super().__init__(f"PostgreSQL{address.where}")
        self._url, options = address.without(*_OPTIONS)
        self._create = options.flag("create", create)
        self._schema = options.text("schema", schema)
        self._listen = options.flag("listen", listen)
        self._size = options.count("pool", pool)
        self._timeout = options.seconds("timeout", timeout)

    async def sweep(self, now: float) -> int:
        gone = (await self._run(_SWEEP, now))[0][0]
        (await self._get()).wakeups.poll_soon()
        return gone

    # --- connections and statements ------------------------------------------------------------

    async def _start(self) -> _Open:
        pool = self._pg.create_pool(min_size=0, max_size=self._size, reset=_reset, **self._connection_options())
        await pool
        try:
            async with self._borrow(pool) as connection:
                await self._prepare(connection)
        except BaseException:
            pool.terminate()
            raise
        self._warned = False
        return _Open(pool, Wakeups(self._read_versions, self._hear if self._listen else None))

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

    @asynccontextmanager
    async def _borrow(self, pool: Any) -> AsyncGenerator[Any]:
        """A connection of the pool. Failures become store errors."""
        try:
            connection = await pool.acquire(timeout=self._timeout)
        except Exception as error:
            raise _explain(error, self._what, connecting=True) from error
        try:
            yield connection
        except Exception as error:
            raise _explain(error, self._what) from error
        finally:
            with suppress(Exception):  # if it died, the pool replaces it
                await pool.release(connection, timeout=POSTGRES_RELEASE_SECONDS)

    async def _run(self, sql: str, *arguments: Any) -> list[Any]:
        async with self._borrow((await self._get()).pool) as connection:
            return await connection.fetch(_translate(sql, self._schema), *arguments)

    async def _query(self, sql: str, *arguments: Any) -> list[Any]:
        """Retry it on another connection if this one was lost."""
        try:
            return await self._run(sql, *arguments)
        except StoreError as error:
            if not _is_lost(error.__cause__):
                raise
        return await self._run(sql, *arguments)

    async def _select(self, columns: str, ids: Sequence[str]) -> list[Any]:
        sql = f"SELECT {columns} FROM @midcall_records WHERE id = ANY(CAST(? AS text[]))"
        return await self._query(sql, [escape(id) for id in ids])

    # --- tables --------------------------------------------------------------------------------

    async def _prepare(self, connection: Any) -> None:
        """Create or migrate the tables. If several processes start at once, one does it."""
        if not await self._missing_steps(connection):
            return
        if not self._create:
            raise self._tables_missing("the tables of the store are missing or too old")
        try:
            async with connection.transaction():
                await connection.execute(f"SELECT pg_advisory_xact_lock({_LOCK})")
                await connection.execute(_make_schema(self._schema) + _qualify(_VERSION_TABLE, self._schema))
                for version, step in await self._missing_steps(connection):
                    await connection.execute(_qualify(step + _set_version(version), self._schema))
        except self._pg.InsufficientPrivilegeError as error:
            raise self._tables_missing("this user may not create the tables of the store") from error

    async def _missing_steps(self, connection: Any) -> list[tuple[int, str]]:
        rows: list[Any] = []
        with suppress(self._pg.UndefinedTableError):
            rows = await connection.fetch(_qualify("SELECT version, usable_from FROM @midcall_schema", self._schema))
        return missing_steps(_STEPS, *(rows[0] if rows else ()))

    def _tables_missing(self, why: str) -> StoreError:
        advice = f"Let someone who may create tables run this once:\n\n{schema_sql(self._schema)}"
        return StoreError(f"{self._what}: {why}", advice=advice)

    # --- notifications -------------------------------------------------------------------------

    async def _hear(self, ring: Callable[[str], None], ready: Callable[[], None]) -> float:
        """LISTEN on a dedicated connection."""
        try:
            connection = await self._pg.connect(**self._connection_options())
        except Exception as error:
            raise _explain(error, self._what, connecting=True) from error
        try:
            return await self._hear_on(connection, ring, ready)
        finally:
            try:
                await connection.close(timeout=POSTGRES_CLOSE_SECONDS)
            except Exception:
                connection.terminate()

    async def _hear_on(self, connection: Any, ring: Callable[[str], None], ready: Callable[[], None]) -> float:
        """Listen until the connection is lost.

        A pooler in transaction mode accepts LISTEN and never delivers anything. So this notifies itself first, over
        another connection, and gives up if it doesn't hear that.
        """
        lost, heard = asyncio.Event(), asyncio.Event()
        hello = f"hello {secrets.token_hex(8)}"

        def on_message(_connection: object, _process: int, _channel: str, message: str) -> None:
            heard.set() if message == hello else ring(unescape(message))

        def on_end(_connection: object) -> None:
            lost.set()

        connection.add_termination_listener(on_end)
        await connection.add_listener(_CHANNEL, on_message)
        await self._run(f"SELECT pg_notify('{_CHANNEL}', ?)", hello)
        if not await _is_set(heard, POSTGRES_LISTEN_SECONDS):
            self._warn_of_silence()
            return POSTGRES_LISTEN_AGAIN_SECONDS
        ready()
        while not await _is_set(lost, POSTGRES_PING_SECONDS):
            await connection.execute("SELECT 1", timeout=POSTGRES_PONG_SECONDS)  # a connection can die silently
        raise StoreError(
            f"The connection to {self._what} was lost",
            advice="midcall reconnects, and polls for changes meanwhile.",
        )

    def _warn_of_silence(self) -> None:
        if not self._warned:
            log.warning(
                "%s does not deliver notifications, as behind PgBouncer in transaction mode. midcall polls for changes "
                "in other processes instead, ten times a second.",
                self._what,
            )
        self._warned = True


async def _is_set(event: asyncio.Event, seconds: float) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()


async def _reset(_connection: object) -> None:
    """We leave nothing on a connection, so there's nothing to reset."""


# --- SQL -------------------------------------------------------------------------------------
def schema_sql(schema: str | None = None) -> str:
    """The SQL to run if midcall may not create tables. Running it again is harmless."""
    tables = _qualify("".join((_VERSION_TABLE, *_STEPS, _set_version(len(_STEPS)))), schema)
    return f"BEGIN;\n{_make_schema(schema)}{tables}COMMIT;\n"


def _make_schema(schema: str | None) -> str:
    return "" if schema is None else f"CREATE SCHEMA IF NOT EXISTS {_quote(schema)};\n"


def _set_version(version: int) -> str:
    return f"DELETE FROM @midcall_schema;\nINSERT INTO @midcall_schema VALUES ({version}, {OLDEST});\n"


def _qualify(sql: str, schema: str | None) -> str:
    """The statement for tables in this schema, or in the search path."""
    return sql.replace("@", "" if schema is None else f"{_quote(schema)}.")


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@lru_cache
def _translate(sql: str, schema: str | None) -> str:
    """The statement with PostgreSQL's own marks for its arguments."""
    first, *rest = sql.split("?")
    return _qualify(first + "".join(f"${number}{piece}" for number, piece in enumerate(rest, 1)), schema)


SCHEMA: Final = schema_sql()


# --- the driver ------------------------------------------------------------------------------
def _load_driver() -> Any:
    return import_driver("asyncpg", "PostgreSQL", "asyncpg", "postgres")


def _is_lost(error: BaseException | None) -> bool:
    """Whether the connection is gone, so that another one may work."""
    pg = _load_driver()
    gone = (pg.PostgresConnectionError, pg.AdminShutdownError, pg.CrashShutdownError, pg.InterfaceError)
    return isinstance(error, (OSError, *gone)) and not isinstance(error, TimeoutError)


def _explain(error: Exception, what: str, *, connecting: bool = False) -> StoreError:
    """This error as a `StoreError`. `what` names the database, without its user and password."""
    pg = _load_driver()
    match error:
        case StoreError():
            return error
        case pg.ClientConfigurationError() | ValueError():
            return refuse_url("postgresql")
        case _ if connecting and (_is_lost(error) or isinstance(error, TimeoutError)):
            return fail(what, "unreachable")
        case TimeoutError():
            return fail(what, "timed out")
        case pg.InvalidPasswordError() | pg.InvalidAuthorizationSpecificationError():
            return fail(what, "login rejected")
        case pg.InvalidCatalogNameError():
            return fail(what, "no database")
        case pg.UndefinedObjectError() if connecting:  # the server takes an unknown option for one of its settings
            return refuse_option(what, _OPTIONS)
        case pg.TooManyConnectionsError():
            return StoreError(
                f"{what} accepts no more connections",
                advice="Make the pool smaller with ?pool=2 in the URL, or raise the limit of the database.",
            )
        case pg.CannotConnectNowError():
            return fail(what, "unreachable")
        case pg.InsufficientPrivilegeError():
            return StoreError(
                f"{what}: this user may not do that",
                advice=(
                    "Grant SELECT, INSERT, UPDATE and DELETE on midcall_records and midcall_values, SELECT on "
                    "midcall_schema, and USAGE on the schema that they are in."
                ),
            )
        case pg.ReadOnlySQLTransactionError():
            return fail(what, "read-only")
        case pg.DiskFullError():
            return fail(what, "full")
        case _ if _is_lost(error):
            return fail(what, "connection lost")
        case _:
            return StoreError(f"{what} failed with {type(error).__name__}")
