"""The stores: how fast a waiter in another process wakes up, what 100,000 pending records cost, and their size.

`python -m bench.stores URL` is the other process: it waits for the records whose ids it reads.
"""

import asyncio
import json
import os
import random
import secrets
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from dataclasses import asdict, dataclass
from typing import Any, Final

from bench.clients import Wrong
from bench.report import Target, milliseconds, row
from midcall.stores import Record, Store, StoreError, open_store
from midcall.stores.backend.sql import to_row
from midcall.stores.interactions import Interaction, digest_of

_POSTGRES: Final = os.environ.get("BENCH_POSTGRES", "postgresql://postgres@127.0.0.1:5432/test")
_REDIS: Final = os.environ.get("BENCH_REDIS", "redis://127.0.0.1:6379/0")
_FEW: Final = 1_000
_MANY: Final = 100_000
_NOW: Final = 1_800_000_000.0
_WAKES_WITHIN: Final = {"SQLite": 100.0, "PostgreSQL": 10.0, "Redis": 10.0}


def record(number: int | str) -> Record:
    """The size of a payment's approval."""
    details = {"payee": "ACME Ltd", "amount": "40.00", "currency": "EUR", "reference": f"2026-11-{number}"}
    interaction = Interaction(
        kind="approve",
        owner="https://id.example.com|248289761001",
        server="payments",
        client="Example Client 2.1.0",
        message="Pay 40 EUR to ACME Ltd",
        created=_NOW,
        expires=_NOW + 900,
        about={"details": details, "digest": digest_of(f"details {number}")},
    )
    data = json.dumps(asdict(interaction))
    return Record(digest_of(str(number)), "approve", interaction.owner, data, _NOW, _NOW + 900)


@dataclass(frozen=True, slots=True)
class Place:
    """An empty store, and a way to fill it faster than `create`."""

    kind: str
    url: str
    name: str

    async def fill(self, count: int) -> None:
        records = (record(n) for n in range(count))
        match self.kind:
            case "SQLite":
                _fill_sqlite(self.url.removeprefix("sqlite://"), records)
            case "PostgreSQL":
                await _fill_postgres(self.name, records)
            case _:
                await _fill_redis(self.url, records)

    async def size(self) -> int:
        match self.kind:
            case "SQLite":
                return os.stat(self.url.removeprefix("sqlite://")).st_size
            case "PostgreSQL":
                return (await _sql(f"SELECT pg_total_relation_size('{self.name}.midcall_records')"))[0][0]
            case _:
                return await _redis_memory()


@asynccontextmanager
async def place(kind: str) -> AsyncIterator[Place]:
    name = f"midcall_bench_{secrets.token_hex(6)}"
    directory = tempfile.mkdtemp(prefix="midcall-bench-")
    urls = {
        "SQLite": f"sqlite://{directory}/store.db",
        "PostgreSQL": f"{_POSTGRES}?schema={name}",
        "Redis": f"{_REDIS}?prefix={name}",
    }
    try:
        yield Place(kind, urls[kind], name)
    finally:
        shutil.rmtree(directory)
        if kind == "PostgreSQL":
            await _sql(f"DROP SCHEMA IF EXISTS {name} CASCADE")
        elif kind == "Redis":
            await _forget(name)


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Store]:
    store = open_store(url)
    try:
        await store.open()
        yield store
    finally:
        await store.close()


async def compare(short: bool) -> list[Target]:
    targets: list[Target] = []
    for kind in ("SQLite", "PostgreSQL", "Redis"):
        try:
            async with place(kind) as empty, opened(empty.url):
                pass
        except (StoreError, OSError) as error:
            print(f"\n{kind}: skipped. {error}")
            continue
        targets += await measure(kind, short)
    return targets


async def measure(kind: str, short: bool) -> list[Target]:
    print(f"\n{kind}", flush=True)
    woken = await wake_ups(kind, 25 if short else 200)
    print(row("wake-up in another process, median ms", [milliseconds(statistics.median(woken))]))
    print(row("and nine of ten qualify", [milliseconds(statistics.quantiles(woken, n=10)[-1])]))
    many = _MANY // 10 if short else _MANY
    took, size = await completing(kind, many, 100 if short else 400)
    print(row(f"completing one, {_FEW:,} pending, median ms", [milliseconds(took[_FEW])]))
    print(row(f"completing one, {many:,} pending, median ms", [milliseconds(took[many])]))
    print(row("one pending record, bytes", [f"{size:.0f}"]), flush=True)
    return [
        Target(f"{kind}: wake-up, median", statistics.median(woken) * 1e3, _WAKES_WITHIN[kind], "ms"),
        Target(f"{kind}: completing, {many:,} / {_FEW:,} pending", took[many] / took[_FEW], 1.5),
        Target(f"{kind}: one pending record", size, 1024, "bytes"),
    ]


# --- wakeups -------------------------------------------------------------------------------------


async def wake_ups(kind: str, times: int) -> list[float]:
    """Seconds from just before a record is completed here until a waiter in another process has it."""
    async with place(kind) as there, opened(there.url) as store, _waiter(there.url) as (send, receive):
        seconds: list[float] = []
        for n in range(times + 3):
            await store.create(record(n))
            send(record(n).id)
            if await receive() != "waiting":
                raise Wrong(f"{kind}: nobody waits")
            await asyncio.sleep(random.uniform(0.02, 0.12))  # any time between two polls
            begun = time.time()
            await store.complete(record(n).id, "{}", owner=None, now=_NOW)
            seconds.append(float(await receive()) - begun)
        return seconds[3:]


@asynccontextmanager
async def _waiter(url: str) -> AsyncIterator[tuple[Any, Any]]:
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "bench.stores", url, stdin=PIPE, stdout=PIPE)
    if process.stdin is None or process.stdout is None:
        raise Wrong("the other process has no pipes")
    stdin, stdout = process.stdin, process.stdout

    def send(line: str) -> None:
        stdin.write(f"{line}\n".encode())

    async def receive() -> str:
        async with asyncio.timeout(30):
            return (await stdout.readline()).decode().strip()

    try:
        yield send, receive
    finally:
        stdin.close()
        await process.wait()


async def wait_for_each(url: str) -> None:
    async with opened(url) as store:
        while id := (await asyncio.to_thread(sys.stdin.readline)).strip():
            print("waiting", flush=True)
            found = await store.wait(id, 20)
            print(time.time() if found and not found.pending else "nothing", flush=True)


# --- many pending -------------------------------------------------------------------------------


async def completing(kind: str, many: int, times: int) -> tuple[dict[int, float], float]:
    """Median seconds to complete one of few and one of many, alternating; and the bytes per record."""
    async with place(kind) as one, place(kind) as other, opened(one.url) as few, opened(other.url) as lots:
        await one.fill(_FEW)
        before = await other.size()
        await other.fill(many)
        size = (await other.size() - before) / many
        took: dict[int, list[float]] = {_FEW: [], many: []}
        for n in random.sample(range(_FEW), times):
            for count, store in random.sample([(_FEW, few), (many, lots)], 2):
                id = record(n if count == _FEW else n * (many // _FEW)).id
                begun = time.perf_counter()
                became = await store.complete(id, '{"action": "accept"}', owner=None, now=_NOW)
                took[count].append(time.perf_counter() - begun)
                if became != "done":
                    raise Wrong(f"{kind}: {became}")
        return {count: statistics.median(seconds) for count, seconds in took.items()}, size


def _fill_sqlite(path: str, records: Iterator[Record]) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        insert = "INSERT INTO midcall_records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        connection.executemany(insert, (to_row(each) for each in records))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


async def _fill_postgres(schema: str, records: Iterator[Record]) -> None:
    import asyncpg

    connection = await asyncpg.connect(_POSTGRES)
    try:
        rows = (to_row(each) for each in records)
        await connection.copy_records_to_table("midcall_records", records=rows, schema_name=schema)
        await connection.execute(f"ANALYZE {schema}.midcall_records")
    finally:
        await connection.close()


async def _fill_redis(url: str, records: Iterator[Record]) -> None:
    async with opened(url) as store:
        waiting: set[asyncio.Task[Any]] = set()
        for each in records:
            waiting.add(asyncio.create_task(store.create(each)))
            if len(waiting) >= 200:
                _, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.gather(*waiting)


async def _sql(statement: str) -> Any:
    import asyncpg

    connection = await asyncpg.connect(_POSTGRES)
    try:
        return await connection.fetch(statement)
    finally:
        await connection.close()


async def _redis_memory() -> int:
    import redis.asyncio

    async with redis.asyncio.Redis.from_url(_REDIS) as client:
        return (await client.info("memory"))["used_memory"]


async def _forget(prefix: str) -> None:
    import redis.asyncio

    async with redis.asyncio.Redis.from_url(_REDIS) as client:
        keys = [key async for key in client.scan_iter(f"{{{prefix}}}:*", count=5000)]
        for begun in range(0, len(keys), 5000):
            await client.unlink(*keys[begun : begun + 5000])


if __name__ == "__main__":
    asyncio.run(wait_for_each(sys.argv[1]))
