"""The thread on which SQLite runs, and its one connection."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from midcall.errors import StoreError
from midcall.settings import SQLITE_RETRY_SECONDS
from midcall.stores.backend.migrations import OLDEST, SchemaVersion, missing_steps

T = TypeVar("T")

STEPS = (
    """
    CREATE TABLE midcall_records (
        id TEXT PRIMARY KEY,
        kind TEXT NOT NULL,
        owner TEXT NOT NULL,
        data TEXT NOT NULL,
        created REAL NOT NULL,
        expires REAL NOT NULL,
        outcome TEXT,
        consumed INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX midcall_records_expires ON midcall_records (expires);
    CREATE TABLE midcall_values (
        owner TEXT NOT NULL,
        name TEXT NOT NULL,
        sealed BLOB NOT NULL,
        updated REAL NOT NULL,
        PRIMARY KEY (owner, name)
    );
    """,
    "ALTER TABLE midcall_records ADD COLUMN version INTEGER NOT NULL DEFAULT 1",
)
_SCHEMA = "CREATE TABLE IF NOT EXISTS midcall_schema (version INTEGER NOT NULL, usable_from INTEGER NOT NULL)"
_NEEDED = (3, 35)
_BROKEN = ("SQLITE_IOERR", "SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_CANTOPEN", "SQLITE_READONLY")


class Thread:
    """Runs one function at a time, with a connection to the file."""

    def __init__(self, path: Path, busy: float) -> None:
        self._path = path
        self._busy = busy
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="midcall-sqlite")
        self._connection: sqlite3.Connection | None = None

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Return the result of this function. If it fails, nothing was changed."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, self._run, work)

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._executor, self._disconnect)
        self._executor.shutdown(wait=False)

    def abandon(self) -> None:
        """Close it without an event loop."""
        self._executor.submit(self._disconnect).result()
        self._executor.shutdown(wait=False)

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            if self._connection is None:
                self._connection = _connect(self._path, self._busy)
            return work(self._connection)
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", None) or ""
            if name.startswith(_BROKEN):
                self._disconnect()  # the next call reconnects
            raise _explain(name, self._path) from error

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()


@contextmanager
def transaction(connection: sqlite3.Connection) -> Generator[None]:
    """All or nothing, and nobody else writes in between."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _connect(path: Path, busy: float) -> sqlite3.Connection:
    if sqlite3.sqlite_version_info < _NEEDED:
        raise StoreError(
            f"This Python has SQLite {sqlite3.sqlite_version}, and the store needs 3.35 or newer",
            advice="Use another build of Python, or PostgreSQL or Redis.",
        )
    connection = sqlite3.connect(path, timeout=busy, isolation_level=None)
    try:
        _use_wal(connection, busy)
        connection.execute("PRAGMA secure_delete = ON")  # leave no deleted data in the file
        with transaction(connection):
            _migrate(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _use_wal(connection: sqlite3.Connection, busy: float) -> None:
    """Readers and the writer don't block each other in WAL mode. Switching to it needs retries: SQLite doesn't wait."""
    until = time.monotonic() + busy
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > until:
                raise
            time.sleep(SQLITE_RETRY_SECONDS)
        else:
            return


def _migrate(connection: sqlite3.Connection) -> None:
    connection.execute(_SCHEMA)
    row = connection.execute("SELECT version, usable_from FROM midcall_schema").fetchone()
    steps = missing_steps(SchemaVersion(*row) if row else None, STEPS)
    for _, step in steps:
        for statement in _statements(step):
            connection.execute(statement)
    if steps:
        connection.execute("DELETE FROM midcall_schema")
        connection.execute("INSERT INTO midcall_schema VALUES (?, ?)", (steps[-1][0], OLDEST))


def _statements(step: str) -> Sequence[str]:
    """One at a time: `executescript` would end the transaction."""
    return [statement for each in step.split(";") if (statement := each.strip())]


_LOCKED = ("Another process keeps {path} locked", "Try again. If it persists, check which process has the file open.")
_FAILURES = {
    "SQLITE_BUSY": _LOCKED,
    "SQLITE_LOCKED": _LOCKED,
    "SQLITE_FULL": (
        "There is no space left for {path}",
        "Free some space on the disk; the store then continues automatically.",
    ),
    "SQLITE_READONLY": ("{path} cannot be written", "This user must be able to write the file and its directory."),
    "SQLITE_CANTOPEN": (
        "{path} cannot be opened",
        "This user must be able to read and write the file and its directory.",
    ),
    "SQLITE_NOTADB": ("{path} is not a SQLite database", "Choose another file for the store."),
    "SQLITE_CORRUPT": ("{path} is damaged", "Restore it from a backup, or move it away to start over."),
    "SQLITE_IOERR": (
        "{path} could not be read or written",
        "Check that the disk is connected and healthy. SQLite does not work on a network drive.",
    ),
}


def _explain(error: str, path: Path) -> StoreError:
    unknown = (f"SQLite failed with {error or 'an error'} on {{path}}", "")
    text, advice = next((texts for start, texts in _FAILURES.items() if error.startswith(start)), unknown)
    return StoreError(f"{text.format(path=path)}. Nothing was changed", advice=advice)
