"""The tests' databases: those that run here, or otherwise started for the tests."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
from redis import AuthenticationError, Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.serving import end, free_port
from tests.skips import without

STARTS_WITHIN = 30.0


def postgres() -> str:
    """The URL of a PostgreSQL in which a test may create its own schema."""
    return _found_postgres() or without("PostgreSQL")


@cache
def _found_postgres() -> str | None:
    url = os.environ.get("MIDCALL_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/test")
    return url if _answers(url) else _start_postgres()


@cache
def redis() -> str:
    """The URL of a Redis in which a test may use its own prefix."""
    url = os.environ.get("MIDCALL_TEST_REDIS", "redis://127.0.0.1:6379/0")
    return url if _answers(url) else start_redis()[0]


def start_redis(*options: str) -> tuple[str, subprocess.Popen[bytes]]:
    """A separate Redis for a test, which ends with the tests or earlier."""
    binary = shutil.which("redis-server") or without("Redis")
    port = free_port()
    return f"redis://127.0.0.1:{port}/0", run_redis(binary, port, *options)


def run_redis(binary: str, port: int, *options: str) -> subprocess.Popen[bytes]:
    command = [binary, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=tempfile.gettempdir())
    atexit.register(end, process)
    _wait_for(f"redis://127.0.0.1:{port}/0", process)
    return process


def _start_postgres() -> str | None:
    found = [shutil.which("initdb"), *sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin/initdb")), reverse=True)]
    initdb = next((path for path in found if path), None)
    if initdb is None or getattr(os, "geteuid", lambda: 1)() == 0:
        return None  # PostgreSQL refuses to run as root
    data, port = tempfile.mkdtemp(prefix="midcall-postgres-"), free_port()
    atexit.register(shutil.rmtree, data, ignore_errors=True)
    quiet = {"stdout": subprocess.DEVNULL, "check": True}
    subprocess.run([initdb, "-D", data, "-U", "postgres", "--auth=trust", "--encoding=UTF8"], **quiet)
    command = [str(Path(initdb).with_name("postgres")), "-D", data, "-p", str(port), "-k", data, "-h", "127.0.0.1"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    atexit.register(end, process)
    url = f"postgresql://postgres@127.0.0.1:{port}/postgres"
    _wait_for(url, process)
    return url


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + STARTS_WITHIN
    while not _answers(url):
        assert process.poll() is None, "it exited early"
        assert time.monotonic() < until, "it did not start"
        time.sleep(0.05)


def _answers(url: str) -> bool:
    """Whether a working server is there."""
    parts = urlsplit(url)
    return _redis_answers(parts.port or 6379) if parts.scheme == "redis" else _postgres_answers(url)


def _redis_answers(port: int) -> bool:
    with Redis(port=port, socket_timeout=2, retry=Retry(NoBackoff(), 0)) as client:
        try:
            return bool(client.ping())
        except AuthenticationError:
            return True
        except RedisError:
            return False


def _postgres_answers(url: str) -> bool:
    """In a separate process, because an event loop may be running here."""
    code = "import asyncio, asyncpg, sys; asyncio.run(asyncpg.connect(sys.argv[1], timeout=5))"
    command = [sys.executable, "-W", "ignore", "-c", code, url]
    return subprocess.run(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode == 0


async def run_sql(*statements: str) -> list[tuple[Any, ...]]:
    """Run these statements as the database's owner. Returns the rows of the last one."""
    connection = await asyncpg.connect(postgres(), timeout=5)
    try:
        rows = [await connection.fetch(statement) for statement in statements][-1]
        return [tuple(row) for row in rows]
    finally:
        await connection.close()


def forget(prefix: str) -> None:
    """Delete all keys with this prefix."""
    with Redis.from_url(redis()) as client:
        for key in client.scan_iter(f"{{{prefix}}}:*", count=1000):
            client.delete(key)
