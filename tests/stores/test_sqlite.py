"""What is particular to SQLite: the file, who may read it, and what can be wrong with it."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sqlite3
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from midcall.stores import Record, StoreError, Value, open_store
from midcall.stores import sqlite as sqlite_module
from midcall.stores.backend import sql
from midcall.stores.sqlite import SQLite, default_file

STEPS: tuple[str, ...] = vars(sqlite_module)["_STEPS"]
PENDING = Record("an-id", "approve", "ann", "{}", created=1000.0, expires=1900.0)
posix = pytest.mark.skipif(os.name != "posix", reason="Windows has no file modes")


def mode(path: Path) -> str:
    return oct(stat.S_IMODE(path.stat().st_mode))


# --- the file -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {}, "~/.local/share/midcall/midcall.db"),
        ("linux", {"XDG_DATA_HOME": "/data"}, "/data/midcall/midcall.db"),
        ("linux", {"XDG_DATA_HOME": "relative"}, "~/.local/share/midcall/midcall.db"),
        ("darwin", {"XDG_DATA_HOME": "/data"}, "~/Library/Application Support/midcall/midcall.db"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/midcall/midcall.db"),
        ("win32", {}, "~/AppData/Local/midcall/midcall.db"),
    ],
)
def test_the_file_is_where_this_system_keeps_the_users_data(
    platform: str, environment: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert default_file() == Path(expected).expanduser()


async def test_a_file_stays_the_same_when_the_process_goes_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    store = SQLite("kept.db")
    monkeypatch.chdir("elsewhere")
    await store.create(PENDING)
    await store.close()
    assert (tmp_path / "kept.db").exists()


@posix
async def test_only_the_user_can_read_the_file_and_its_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "a" / "b"))
    monkeypatch.setattr(sys, "platform", "linux")
    store = SQLite()
    await store.create(PENDING)
    assert mode(store.path.parent) == "0o700"
    assert {mode(each) for each in store.path.parent.iterdir()} == {"0o600"}
    assert len(list(store.path.parent.iterdir())) == 3  # the log and its index, too
    await store.close()


async def test_the_file_has_a_write_ahead_log_and_what_is_removed_is_not_left_in_it(tmp_path: Path) -> None:
    store = SQLite(tmp_path / "store.db")
    await store.put(Value("ann", "token", b"sealed-and-removed" * 50, 1.0))
    await store.remove("ann", "token")
    await store.close()
    with closing(sqlite3.connect(store.path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert b"sealed-and-removed" not in store.path.read_bytes()


def inode(path: str) -> int:
    return os.stat(path).st_ino


OTHER_PROCESS = """
import asyncio, sys
from midcall.stores.sqlite import SQLite

async def main():
    store = SQLite(sys.argv[1])
    print([await store.read(id) is not None for id in ("first", "second")])
    await store.close()

asyncio.run(main())
"""


async def look_elsewhere(path: Path) -> str:
    """Whether another process finds the two records. It closes the file, as the only one or not."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", OTHER_PROCESS, str(path), stdout=pipe)
    out, _ = await process.communicate()
    return out.decode().strip()


@posix
async def test_a_second_store_of_one_process_takes_no_lock_of_the_first_away(tmp_path: Path) -> None:
    """A process that closes any descriptor of a file loses its locks on it: another one would remove its log."""
    path = tmp_path / "store.db"
    first, second = SQLite(path), SQLite(path)
    try:
        await first.create(replace(PENDING, id="first"))
        await second.open()
        log = inode(f"{path}-wal")
        assert await look_elsewhere(path) == "[True, False]"
        assert inode(f"{path}-wal") == log
        await first.create(replace(PENDING, id="second"))
        assert await look_elsewhere(path) == "[True, True]"
        assert await second.read("second") is not None
    finally:
        await first.close()
        await second.close()


async def test_a_missing_directory_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"no directory .*nowhere.*Create the directory"):
        await SQLite(tmp_path / "nowhere" / "store.db").open()
    assert not (tmp_path / "nowhere").exists()


async def test_a_directory_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"cannot open .*must be a file"):
        await SQLite(tmp_path).open()


async def test_another_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "letter.db"
    path.write_text("Dear Ann, this isn't a database, and it is longer than a header.\n" * 20)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"is not a SQLite database. Nothing was changed. Choose another file"):
        await SQLite(path).open()
    assert path.read_bytes() == before


# --- what can go wrong --------------------------------------------------------------------------


@contextmanager
def readable_only(directory: Path) -> Iterator[None]:
    """Nobody may write here. Root may always, so it is somebody else for a while."""
    root = os.geteuid() == 0
    for path in (*directory.iterdir(), directory):
        path.chmod(0o555 if path.is_dir() else 0o444)
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        for path in (directory, *directory.iterdir()):
            path.chmod(0o755 if path.is_dir() else 0o644)


@posix
async def test_a_read_only_file_is_reported_and_works_once_it_is_writable() -> None:
    directory = Path(tempfile.mkdtemp())
    try:
        store = SQLite(directory / "store.db")
        await store.create(PENDING)
        await store.close()
        with readable_only(directory):
            with pytest.raises(StoreError, match=r"cannot (open|be written|be opened).*this user"):
                await store.open()
        await store.open()
        assert await store.complete("an-id", "{}", owner="ann", now=1001.0) == "done"
        await store.close()
    finally:
        shutil.rmtree(directory)


async def test_a_full_disk_is_reported_and_nothing_is_lost_and_it_continues_when_there_is_space(tmp_path: Path) -> None:
    store = SQLite(tmp_path / "store.db")
    await store.create(PENDING)
    await limit_pages(store, 20)
    large = replace(PENDING, id="large", data="x" * 1_000_000)
    with pytest.raises(
        StoreError, match=r"no space left for .*store.db. Nothing was changed. Free some space on the disk"
    ):
        await store.create(large)
    with pytest.raises(StoreError, match="no space left"):
        await store.complete("an-id", "x" * 1_000_000, owner="ann", now=1001.0)
    assert await store.read("an-id") == PENDING
    assert await store.read("large") is None
    await limit_pages(store, 1_000_000)
    assert await store.create(large) == (large, True)
    await store.close()


async def limit_pages(store: SQLite, pages: int) -> None:
    """SQLite then says the same as for a disk that is full."""
    await store._run(f"PRAGMA max_page_count = {pages}")


async def test_a_locked_file_is_reported_after_a_while(tmp_path: Path) -> None:
    store = open_store(f"sqlite://{tmp_path / 'store.db'}?busy=0.2")
    await store.create(PENDING)
    with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"Another process keeps .* locked. Nothing was changed. Try again"):
            await store.complete("an-id", "{}", owner="ann", now=1001.0)
        assert await store.read("an-id") == PENDING  # reading still works
        other.execute("ROLLBACK")
    assert await store.complete("an-id", "{}", owner="ann", now=1001.0) == "done"
    await store.close()


async def test_who_is_locked_out_for_less_than_that_only_waits(tmp_path: Path) -> None:
    store = SQLite(tmp_path / "store.db")
    await store.create(PENDING)
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        completing = asyncio.create_task(store.complete("an-id", "{}", owner="ann", now=1001.0))
        reading = asyncio.create_task(store.read("an-id"))
        await asyncio.wait([completing, reading], timeout=0.2)
        assert not completing.done()
        other.execute("ROLLBACK")
        assert await completing == "done"
        await reading
    await store.close()


async def test_a_change_made_after_its_caller_was_cancelled_wakes_waiters(tmp_path: Path) -> None:
    store = SQLite(tmp_path / "store.db")
    await store.create(PENDING)
    waiting = asyncio.create_task(store.wait("an-id", 60, version=1))
    await store.wait("an-id", 0.15)
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        changing = asyncio.create_task(store.change(PENDING, 1))
        await asyncio.wait([changing], timeout=0.1)  # its thread waits for the lock
        changing.cancel()
        await asyncio.gather(changing, return_exceptions=True)
        other.execute("ROLLBACK")
    async with asyncio.timeout(3):
        assert await waiting == replace(PENDING, version=2)
    await store.close()


async def test_a_damaged_file_is_reported(tmp_path: Path) -> None:
    store = SQLite(tmp_path / "store.db")
    await store.create(PENDING)
    await store.close()
    content = bytearray(store.path.read_bytes())
    content[1024:] = b"\xff" * len(content[1024:])
    store.path.write_bytes(content)
    with pytest.raises(StoreError, match=r"is damaged.*Restore it from a backup"):
        await store.open()
    await store.close()


def test_a_sqlite_that_is_too_old_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 31, 1))
    monkeypatch.setattr(sqlite3, "sqlite_version", "3.31.1")
    with pytest.raises(StoreError, match=r"has SQLite 3.31.1, and the store needs 3.35"):
        asyncio.run(SQLite(tmp_path / "store.db").open())


# --- versions -----------------------------------------------------------------------------------


async def test_two_versions_use_one_file_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = SQLite(tmp_path / "store.db")
    await old.create(PENDING)
    steps = (*STEPS, "ALTER TABLE midcall_records ADD COLUMN note TEXT NOT NULL DEFAULT ''")
    monkeypatch.setattr(sqlite_module, "_STEPS", steps)
    new = SQLite(tmp_path / "store.db")
    assert await new.complete("an-id", "{}", owner="ann", now=1001.0) == "done"
    monkeypatch.undo()
    assert (await old.create(replace(PENDING, id="another")))[1]
    later = SQLite(tmp_path / "store.db")  # an old one that starts after the new one
    assert await later.read("an-id") == replace(PENDING, outcome="{}", version=2)
    for store in (old, new, later):
        await store.close()


async def test_records_of_a_file_that_knew_no_versions_have_version_1(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as connection:
        connection.executescript(STEPS[0])
        connection.execute("INSERT INTO midcall_records VALUES ('an-id', 'approve', 'ann', '{}', 1000, 1900, NULL, 0)")
        connection.execute("CREATE TABLE midcall_schema (version INTEGER NOT NULL, usable_from INTEGER NOT NULL)")
        connection.execute("INSERT INTO midcall_schema VALUES (1, 1)")
    store = SQLite(tmp_path / "store.db")
    assert await store.read("an-id") == PENDING
    assert await store.change(PENDING, 1) == (replace(PENDING, version=2), True)
    await store.close()


async def test_a_file_for_newer_versions_only_is_rejected(tmp_path: Path) -> None:
    store = SQLite(tmp_path / "store.db")
    await store.open()
    await store.close()
    with closing(sqlite3.connect(store.path, isolation_level=None)) as connection:
        connection.execute("UPDATE midcall_schema SET version = 9, usable_from = 8")
    with pytest.raises(StoreError, match=r"schema has version 9, and this midcall knows 2.*Update"):
        await store.open()


def test_no_statement_numbers_its_parameters() -> None:
    """Python 3.12 warns of such parameters if they are given as a sequence, and 3.14 refuses them."""
    statements = [value for value in vars(sql).values() if isinstance(value, str) and "@midcall_" in value]
    assert len(statements) > 5
    assert not [each for each in statements if re.search(r"\?\d", each)]
