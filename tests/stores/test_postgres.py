"""What is particular to PostgreSQL: rights, schemas, poolers."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest

from midcall.stores import Record, Store, StoreError, Value, open_store
from midcall.stores import postgres as postgres_module
from midcall.stores.base import try_out
from midcall.stores.postgres import SCHEMA, PostgreSQL, schema_sql
from tests.contract import servers
from tests.contract.conftest import place
from tests.stores import pgbouncer

STEPS: tuple[str, ...] = vars(postgres_module)["_STEPS"]
explain = vars(postgres_module)["_explain"]
PENDING = Record("an-id", "approve", "ann", "{}", created=1000.0, expires=1900.0)


@pytest.fixture
async def url(tmp_path: Path) -> AsyncIterator[str]:
    async with place("postgres", tmp_path) as url:
        yield url


def name_in(url: str) -> str:
    return url.partition("?schema=")[2]


# --- without the right to make tables -------------------------------------------------------------


async def test_without_create_missing_tables_are_an_error_with_the_sql_to_run(url: str) -> None:
    store = open_store(f"{url}&create=false")
    with pytest.raises(StoreError, match="tables of the store are missing") as caught:
        await store.open()
    assert schema_sql(name_in(url)).strip() in str(caught.value)
    connection = await asyncpg.connect(servers.postgres())
    await connection.execute(schema_sql(name_in(url)))
    await connection.execute(schema_sql(name_in(url)))  # again does no harm
    await connection.close()
    assert await store.create(PENDING) == (PENDING, True)
    await store.close()


async def test_a_user_who_may_not_create_tables_gets_the_sql_to_run_and_then_needs_no_more_rights(url: str) -> None:
    role, name = f"midcall_test_{secrets.token_hex(4)}", name_in(url)
    await servers.run_sql(
        f"CREATE ROLE {role} LOGIN", f"CREATE SCHEMA {name}", f"GRANT USAGE ON SCHEMA {name} TO {role}"
    )
    parts = urlsplit(servers.postgres())
    limited = PostgreSQL(f"postgresql://{role}@127.0.0.1:{parts.port}{parts.path}", schema=name)
    try:
        with pytest.raises(StoreError, match=r"may not create the tables.*run this") as caught:
            await limited.open()
        assert "CREATE TABLE" in str(caught.value)
        connection = await asyncpg.connect(servers.postgres())
        await connection.execute(schema_sql(name))
        await connection.close()
        with pytest.raises(StoreError, match=r"may not do that.*Grant SELECT"):
            await limited.open()
        await servers.run_sql(
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON {name}.midcall_records, {name}.midcall_values TO {role}",
            f"GRANT SELECT ON {name}.midcall_schema TO {role}",
        )
        assert await limited.create(PENDING) == (PENDING, True)
        assert await limited.complete("an-id", "{}", owner="ann", now=1001.0) == "done"
        assert await limited.put(Value("ann", "token", b"x", 1.0))
        assert await limited.sweep(2000.0) == 1
    finally:
        await limited.close()
        await servers.run_sql(f"DROP OWNED BY {role}", f"DROP ROLE {role}")


def test_the_sql_can_be_printed_and_names_no_schema_of_its_own() -> None:
    assert "CREATE TABLE IF NOT EXISTS midcall_records" in SCHEMA
    assert "@" not in SCHEMA
    assert '"a""b".midcall_values' in schema_sql('a"b')


# --- who may not come in -----------------------------------------------------------------------


async def test_an_unknown_database_and_an_unknown_user_have_different_errors() -> None:
    port = urlsplit(servers.postgres()).port
    with pytest.raises(StoreError, match=r"no such database.*Create the database"):
        await PostgreSQL(f"postgresql://postgres@127.0.0.1:{port}/nowhere").open()
    with pytest.raises(StoreError, match="rejects this user or this password") as caught:
        await PostgreSQL(f"postgresql://midcall_nobody:hunter2@127.0.0.1:{port}/test").open()
    assert "hunter2" not in str(caught.value)
    assert "midcall_nobody" not in str(caught.value)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (asyncpg.InvalidPasswordError('password authentication failed for user "zoe"'), "rejects this user"),
        (asyncpg.TooManyConnectionsError("sorry"), "no more connections.*pool=2"),
        (asyncpg.DiskFullError("could not extend file"), "no space left. Nothing was changed"),
        (asyncpg.ReadOnlySQLTransactionError("cannot execute"), "read-only.*primary"),
        (asyncpg.CannotConnectNowError("starting up"), "cannot be reached"),
        (asyncpg.ConnectionDoesNotExistError("closed"), "unknown whether the change was made"),
        (TimeoutError(), "did not answer in time"),
        (asyncpg.InsufficientPrivilegeError("permission denied for zoe"), "USAGE on the schema"),
        (asyncpg.DeadlockDetectedError("zoe"), "failed with DeadlockDetectedError"),
    ],
)
def test_failures_are_explained_without_naming_the_user(error: Exception, said: str) -> None:
    text = str(explain(error, "PostgreSQL at db:5432/app"))
    assert re.search(said, text)
    assert "zoe" not in text


async def test_an_unknown_option_is_reported_with_the_known_ones(url: str) -> None:
    store = open_store(f"{url}&creat=false")
    with pytest.raises(StoreError, match=r"Check the spelling.*create, schema, listen, pool, timeout") as caught:
        await store.open()
    assert "creat=" not in str(caught.value)


@pytest.mark.parametrize("missing", ["UPDATE ON {}.midcall_records", "DELETE ON {}.midcall_values"])
async def test_trying_a_store_out_finds_a_right_that_is_missing(url: str, missing: str) -> None:
    role, name = f"midcall_test_{secrets.token_hex(4)}", name_in(url)
    parts = urlsplit(servers.postgres())
    owner = open_store(url)
    await try_out(owner)
    await owner.close()
    await servers.run_sql(
        f"CREATE ROLE {role} LOGIN",
        f"GRANT USAGE ON SCHEMA {name} TO {role}",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {name} TO {role}",
        f"REVOKE {missing.format(name)} FROM {role}",
    )
    limited = PostgreSQL(f"postgresql://{role}@127.0.0.1:{parts.port}{parts.path}", schema=name, create=False)
    try:
        assert await limited.read("an-id") is None
        with pytest.raises(StoreError, match="this user may not do that"):
            await try_out(limited)
    finally:
        await limited.close()
        await servers.run_sql(f"DROP OWNED BY {role}", f"DROP ROLE {role}")


# --- versions -----------------------------------------------------------------------------------


async def test_two_versions_use_one_schema_side_by_side(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    old = open_store(url)
    await old.create(PENDING)
    steps = (*STEPS, "ALTER TABLE @midcall_records ADD COLUMN IF NOT EXISTS note text NOT NULL DEFAULT '';")
    monkeypatch.setattr(postgres_module, "_STEPS", steps)
    new = open_store(url)
    assert await new.complete("an-id", "{}", owner="ann", now=1001.0) == "done"
    monkeypatch.undo()
    assert await old.create(replace(PENDING, id="another")) == (replace(PENDING, id="another"), True)
    later = open_store(url)  # an old one that starts after the new one
    assert await later.read("an-id") == replace(PENDING, outcome="{}", version=2)
    rows = await servers.run_sql(f"SELECT version, usable_from FROM {name_in(url)}.midcall_schema")
    assert rows == [(3, 2)]
    for store in (old, new, later):
        await store.close()


async def test_records_of_a_schema_that_knew_no_versions_have_version_1(url: str) -> None:
    name = name_in(url)
    await servers.run_sql(
        f"CREATE SCHEMA {name}",
        f"CREATE TABLE {name}.midcall_schema (version integer NOT NULL, usable_from integer NOT NULL)",
        *filter(str.strip, STEPS[0].replace("@", f"{name}.").split(";")),
        f"INSERT INTO {name}.midcall_schema VALUES (1, 1)",
        f"INSERT INTO {name}.midcall_records VALUES ('an-id', 'approve', 'ann', '{{}}', 1000, 1900)",
    )
    store = open_store(url)
    assert await store.read("an-id") == PENDING
    assert await store.change(PENDING, 1) == (replace(PENDING, version=2), True)
    await store.close()


async def test_a_schema_for_newer_versions_only_is_rejected(url: str) -> None:
    store = open_store(url)
    await store.open()
    await store.close()
    await servers.run_sql(f"UPDATE {name_in(url)}.midcall_schema SET version = 9, usable_from = 8")
    with pytest.raises(
        StoreError, match=r"newer midcall set up this store: its schema has version 9, and this midcall knows 2.*Update"
    ):
        await store.open()


# --- hearing ------------------------------------------------------------------------------------


async def test_connections_that_the_server_ends_are_replaced(url: str) -> None:
    mine = f"midcall-test-{secrets.token_hex(4)}"
    store = open_store(f"{url}&application_name={mine}")
    await store.create(PENDING)
    async with asyncio.timeout(30):
        waiting = asyncio.create_task(store.wait("an-id", 60))
        assert await store.wait("an-id", 0.3) == PENDING
        end = f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = '{mine}'"
        assert set(await servers.run_sql(end)) == {(True,)}
        assert await store.complete("an-id", "{}", owner="ann", now=1001.0) == "done"
        assert await waiting == replace(PENDING, outcome="{}", version=2)
    await store.close()


async def test_without_listening_completions_are_found_by_looking(url: str) -> None:
    store, other = open_store(f"{url}&listen=false"), open_store(url)
    await store.create(PENDING)
    async with asyncio.timeout(10):
        waiting = asyncio.create_task(store.wait("an-id", 60))
        assert await store.wait("an-id", 0.3) == PENDING
        await other.complete("an-id", "{}", owner="ann", now=1001.0)
        async with asyncio.timeout(2):
            assert await waiting == replace(PENDING, outcome="{}", version=2)
    await store.close()
    await other.close()


async def test_a_store_that_waits_has_one_connection_more_and_none_when_it_is_closed(url: str) -> None:
    mine = f"midcall-test-{secrets.token_hex(4)}"
    count = f"SELECT count(*) FROM pg_stat_activity WHERE application_name = '{mine}'"
    store = open_store(f"{url}&application_name={mine}&pool=1")
    await store.create(PENDING)
    waiting = [asyncio.create_task(store.wait("an-id", 60)) for _ in range(100)]
    async with asyncio.timeout(20):
        while await servers.run_sql(count) != [(2,)]:
            await asyncio.sleep(0.02)
    assert await store.wait("an-id", 0.3) == PENDING
    assert await servers.run_sql(count) == [(2,)]
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    await store.close()
    async with asyncio.timeout(5):
        while await servers.run_sql(count) != [(0,)]:
            await asyncio.sleep(0.02)


# --- behind PgBouncer ---------------------------------------------------------------------------


async def use(store: Store, n: int) -> None:
    id = f"id-{n}"
    assert (await store.create(replace(PENDING, id=id)))[1]
    assert (await store.change(replace(PENDING, id=id), 1))[1]
    assert await store.complete(id, "{}", owner="ann", now=1001.0) == "done"
    assert await store.complete(id, "{}", owner="ann", now=1001.0) == "already"
    assert list(await store.look([id])) == [id]
    assert await store.consume(id, owner="ann", now=1001.0) is not None
    assert await store.put(Value("ann", id, b"x", 1.0))
    assert await store.get("ann", id) == Value("ann", id, b"x", 1.0)


async def test_everything_works_behind_a_pooler_in_transaction_mode_and_the_lack_of_notifications_is_logged(
    url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "midcall.store")
    with pgbouncer.running(servers.postgres(), tmp_path) as port:
        pooled = url.replace(f":{urlsplit(url).port}/", f":{port}/")
        store, other = open_store(pooled), open_store(pooled)
        await asyncio.gather(*(use(each, n) for n, each in enumerate([store, other] * 10)))
        await store.create(PENDING)
        async with asyncio.timeout(20):
            waiting = asyncio.create_task(store.wait("an-id", 60))
            while not caplog.records:
                await asyncio.sleep(0.01)
            assert "does not deliver notifications" in caplog.text
            assert await other.complete("an-id", "{}", owner="ann", now=1001.0) == "done"
            async with asyncio.timeout(2):
                assert await waiting == replace(PENDING, outcome="{}", version=2)
        await store.close()
        await other.close()
