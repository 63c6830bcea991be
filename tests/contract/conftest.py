"""Each contract test runs on every store."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from midcall.stores import Store, open_store
from tests.contract import servers
from tests.contract.racing import Racer

ALL = ("memory", "sqlite", "postgres", "redis")
SHARED = ("sqlite", "postgres", "redis")


def url_of(kind: str, tmp_path: Path, name: str) -> str:
    match kind:
        case "memory":
            return "memory://"
        case "sqlite":
            return f"sqlite://{tmp_path / 'store.db'}"
        case "postgres":
            return f"{servers.postgres()}?schema={name}"
        case _:
            return f"{servers.redis()}?prefix={name}"


async def clean_up(kind: str, name: str) -> None:
    if kind == "postgres":
        await servers.run_sql(f'DROP SCHEMA IF EXISTS "{name}" CASCADE')
    elif kind == "redis":
        servers.forget(name)


@asynccontextmanager
async def place(kind: str, tmp_path: Path) -> AsyncIterator[str]:
    """The URL of an empty store of this kind."""
    name = f"midcall_test_{secrets.token_hex(6)}"
    url = url_of(kind, tmp_path, name)
    try:
        yield url
    finally:
        await clean_up(kind, name)


@pytest.fixture(params=ALL)
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[str]:
    """An empty store of each kind."""
    async with place(request.param, tmp_path) as url:
        yield url


@pytest.fixture(params=SHARED)
async def shared_url(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[str]:
    """The same, for stores that several processes can share."""
    async with place(request.param, tmp_path) as url:
        yield url


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    store = open_store(url)
    await store.open()
    yield store
    await store.close()


@pytest.fixture
async def shared(shared_url: str) -> AsyncIterator[Store]:
    store = open_store(shared_url)
    await store.open()
    yield store
    await store.close()


@pytest.fixture(scope="session")
def eight() -> Iterator[list[Racer]]:
    """Eight other processes."""
    racers = [Racer() for _ in range(8)]
    yield racers
    for each in racers:
        each.end()
