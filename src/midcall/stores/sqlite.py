"""A store in one file: for one machine, with as many processes as you like.

`sqlite3` blocks, so everything runs on a dedicated thread. Processes notice each other's changes through the file:
SQLite counts them, and reading the counter is cheap.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Final, TypeVar

from midcall.errors import StoreError
from midcall.settings.stores import SQLITE_BUSY_SECONDS, SQLITE_POLL_SECONDS, SQLITE_RETRY_SECONDS, STORE_BATCH
from midcall.stores.backend.rows import OLDEST, escape, missing_steps
from midcall.stores.backend.sql import SqlStore
from midcall.stores.backend.wakeup import Wakeups

__all__ = ["SQLite", "default_file"]

T = TypeVar("T")

_STEPS: Final = (
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
_SCHEMA: Final = "CREATE TABLE IF NOT EXISTS midcall_schema (version INTEGER NOT NULL, usable_from INTEGER NOT NULL)"
_NEEDED: Final = (3, 35)
_MAKING: Final = Lock()
_POLL_ANYWAY: Final = 100
"""Every so many polls, regardless of the counter."""


@dataclass(slots=True)
class _Open:
    thread: _Thread
    wakeups: Wakeups


class SQLite(SqlStore[_Open]):
    """Records and values in one file.

    Args:
        path: The file. Its directory must exist. Default: `midcall.db` in the user's data directory.
        busy: Seconds to wait for another process that writes.
    """

    def __init__(self, path: str | Path | None = None, *, busy: float = SQLITE_BUSY_SECONDS) -> None:
        super().__init__("SQLite")
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

    async def sweep(self, now: float) -> int:
        delete = "DELETE FROM midcall_records WHERE expires <= ?"
        gone = await (await self._get()).thread.run(lambda connection: connection.execute(delete, (now,)).rowcount)
        self._changes = 0  # SQLite doesn't count changes of the same connection
        return gone

    async def _start(self) -> _Open:
        thread = _Thread(_make_default_file() if self._path is None else _make_file(self._path), self._busy)
        try:
            await thread.run(lambda _: None)
        except BaseException:
            await thread.close()
            raise
        return _Open(thread, Wakeups(self._find_changes, often=SQLITE_POLL_SECONDS, seldom=SQLITE_POLL_SECONDS))

    async def _stop(self, it: _Open) -> None:
        await it.wakeups.close()
        await it.thread.close()

    def _abandon(self, it: _Open) -> None:
        it.thread.abandon()

    async def _run(self, sql: str, *arguments: Any) -> list[Any]:
        sql = sql.replace("@", "")
        return await (await self._get()).thread.run(lambda connection: connection.execute(sql, arguments).fetchall())

    async def _select(self, columns: str, ids: Sequence[str]) -> list[Any]:
        """In several queries: SQLite limits the parameters of one."""
        rows: list[Any] = []
        for begun in range(0, len(ids), STORE_BATCH):
            some = [escape(id) for id in ids[begun : begun + STORE_BATCH]]
            marks = ", ".join("?" * len(some))
            rows += await self._run(f"SELECT {columns} FROM midcall_records WHERE id IN ({marks})", *some)
        return rows

    async def _find_changes(self, ids: Sequence[str]) -> dict[str, int] | None:
        changes = (await self._run("PRAGMA data_version"))[0][0]
        self._polls += 1
        if changes == self._changes and self._polls % _POLL_ANYWAY:
            return None
        versions = await self._read_versions(ids)
        self._changes = changes
        return versions


# --- the file --------------------------------------------------------------------------------
def default_file() -> Path:
    """One file in the user's data directory."""
    return _data_directory() / "midcall" / "midcall.db"


def _data_directory() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    chosen = Path(os.environ.get("XDG_DATA_HOME") or "")
    return chosen if chosen.is_absolute() else Path.home() / ".local" / "share"


def _make_default_file() -> Path:
    """Create the file and its directory, both private to this user."""
    path = default_file()
    try:
        path.parent.parent.mkdir(parents=True, exist_ok=True)
        path.parent.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"There is no directory {path.parent} for the store",
            advice="Name a file in MIDCALL_STORE, as in sqlite:///var/lib/app/midcall.db.",
        ) from error
    return _make_file(path)


def _make_file(path: Path) -> Path:
    """Create the file if it doesn't exist, private to this user."""
    if not path.parent.is_dir():
        raise StoreError(
            f"There is no directory {path.parent} for the store", advice="Create the directory, or correct the path."
        )
    advice = "It must be a file that this user can read and write."
    try:
        # A file that exists is never opened here. To close any descriptor of it would end all locks that this process
        # has on it by another store: another process would take itself for the last one, and remove its log.
        with _MAKING:
            os.close(os.open(os.path.realpath(path), os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        effective = os.access in os.supports_effective_ids
        if not path.is_file() or not os.access(path, os.R_OK | os.W_OK, effective_ids=effective):
            raise StoreError(f"The store cannot open {path!s}", advice=advice) from None
    except OSError as error:
        raise StoreError(f"The store cannot open {path!s}", advice=advice) from error
    return path


# --- its thread and connection ---------------------------------------------------------------
class _Thread:
    """Runs one function at a time, with the one connection to the file."""

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
        with _transaction(connection):
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


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Generator[None]:
    """All or nothing, and nobody else writes in between."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _migrate(connection: sqlite3.Connection) -> None:
    connection.execute(_SCHEMA)
    found = connection.execute("SELECT version, usable_from FROM midcall_schema").fetchone()
    steps = missing_steps(_STEPS, *(found or ()))
    for _, step in steps:
        for statement in step.split(";"):  # one at a time: `executescript` would end the transaction
            connection.execute(statement)
    if steps:
        connection.execute("DELETE FROM midcall_schema")
        connection.execute("INSERT INTO midcall_schema VALUES (?, ?)", (steps[-1][0], OLDEST))


_BROKEN: Final = ("SQLITE_IOERR", "SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_CANTOPEN", "SQLITE_READONLY")
_LOCKED: Final = (
    "Another process keeps {} locked",
    "Try again. If it persists, check which process has the file open.",
)
_FAILURES: Final = {
    "SQLITE_BUSY": _LOCKED,
    "SQLITE_LOCKED": _LOCKED,
    "SQLITE_FULL": (
        "There is no space left for {}",
        "Free some space on the disk; the store then continues automatically.",
    ),
    "SQLITE_READONLY": ("{} cannot be written", "This user must be able to write the file and its directory."),
    "SQLITE_CANTOPEN": ("{} cannot be opened", "This user must be able to read and write the file and its directory."),
    "SQLITE_NOTADB": ("{} is not a SQLite database", "Choose another file for the store."),
    "SQLITE_CORRUPT": ("{} is damaged", "Restore it from a backup, or move it away to start over."),
    "SQLITE_IOERR": (
        "{} could not be read or written",
        "Check that the disk is connected and healthy. SQLite does not work on a network drive.",
    ),
}


def _explain(error: str, path: Path) -> StoreError:
    unknown = (f"SQLite failed with {error or 'an error'} on {{}}", "")
    text, advice = next((texts for start, texts in _FAILURES.items() if error.startswith(start)), unknown)
    return StoreError(f"{text.format(path)}. Nothing was changed", advice=advice)
