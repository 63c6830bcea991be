"""`midcall store`: check and maintain the store."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

from midcall.cli.exits import DONE, NOT_CONNECTED, TOOL_FAILED, USAGE, Ends, usage_error
from midcall.cli.output.console import Console, print_out
from midcall.core.text import plain
from midcall.errors import InstallError, MidcallError, StoreError, VaultLocked
from midcall.stores import Store, Sweeper, open_store
from midcall.stores.address import find_scheme
from midcall.stores.base import try_out
from midcall.stores.purge import describe_removed

T = TypeVar("T")


def check(url: str | None) -> int:
    """Connect, create or migrate the tables, and try writing and reading."""

    async def work(store: Store) -> str:
        await try_out(store)
        return f"{store!r} works."

    return _print_result(with_store(url, work))


def sweep(url: str | None, keep: float) -> int:
    """Purge records that expired this many seconds ago."""

    async def work(store: Store) -> str:
        return describe_removed(await Sweeper(store, keep=keep).sweep())

    return _print_result(with_store(url, work))


def schema(url: str | None, name: str | None) -> int:
    """Print the SQL that creates the tables, in the named schema, or in that of the URL."""
    from midcall.stores.postgres import schema_sql

    if url is not None and not _is_postgresql(url):
        raise usage_error(
            "midcall store schema", "only PostgreSQL needs its tables created beforehand; SQLite and Redis need nothing"
        )
    meant = url or os.environ.get("MIDCALL_STORE", "")
    named = parse_qs(urlsplit(meant).query).get("schema", [None])[-1] if _is_postgresql(meant) else None
    print_out(schema_sql(name or named))
    return DONE


def _is_postgresql(url: str) -> bool:
    return find_scheme(url) in ("postgresql", "postgres")


async def with_store(url: str | None, work: Callable[[Store], Awaitable[T]]) -> T:
    """Open the store and do this. An invalid URL is wrong usage; an unreachable store isn't."""
    try:
        store = open_store(url)
    except StoreError as error:
        raise _end_with(USAGE, error) from None
    try:
        await store.open()
        return await work(store)
    finally:
        await store.close()


def run_work(work: Coroutine[Any, Any, T]) -> T:
    """Run this to its end. An error ends the command with a sentence that says what to do."""
    try:
        return asyncio.run(work)
    except StoreError as error:
        raise _end_with(NOT_CONNECTED, error) from None
    except VaultLocked as error:
        raise _end_with(TOOL_FAILED, error) from None
    except InstallError as error:  # a key is missing or too short
        raise _end_with(USAGE, error) from None


def _print_result(work: Coroutine[Any, Any, str]) -> int:
    print_out(f"{plain(run_work(work))}\n")
    return DONE


def _end_with(code: int, error: MidcallError) -> Ends:
    return Ends(code, f"{Console().ink.bad('✗')} {plain(str(error))}")
