"""`midcall store`: look after the place where calls, pages and secrets are kept."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

from midcall.cli.console import Console, print_out
from midcall.cli.exits import DONE, NOT_CONNECTED, TOOL_FAILED, USAGE, Ends
from midcall.core.text import plain
from midcall.errors import InstallError, MidcallError, StoreError, VaultLocked
from midcall.stores import Store, Sweeper, open_store
from midcall.stores.address import scheme_of
from midcall.stores.health import try_out
from midcall.wording import cli as wording
from midcall.wording import stores as words

__all__ = ["carry_out", "check", "schema", "sweep", "with_store"]

T = TypeVar("T")


def check(url: str | None) -> int:
    """Connect, bring the tables to where they must be, and write and read something."""

    async def work(store: Store) -> str:
        await try_out(store)
        return f"{store!r} works."

    return _told(with_store(url, work))


def sweep(url: str | None, keep: float) -> int:
    """Remove what has been over for so many seconds."""

    async def work(store: Store) -> str:
        return words.swept(await Sweeper(store, keep=keep).sweep())

    return _told(with_store(url, work))


def schema(url: str | None, name: str | None) -> int:
    """Print the SQL that makes the tables, for whoever may run it: in the schema that is named, or that a URL names."""
    from midcall.stores.postgres.schema import schema_sql

    if url is not None and not _is_postgresql(url):
        raise Ends(
            USAGE,
            wording.usage(
                "midcall store schema",
                "only PostgreSQL needs its tables made beforehand; SQLite and Redis need nothing",
            ),
        )
    meant = url or os.environ.get("MIDCALL_STORE", "")
    named = parse_qs(urlsplit(meant).query).get("schema", [None])[-1] if _is_postgresql(meant) else None
    print_out(schema_sql(name or named))
    return DONE


def _is_postgresql(url: str) -> bool:
    return scheme_of(url) in ("postgresql", "postgres")


async def with_store(url: str | None, work: Callable[[Store], Awaitable[T]]) -> T:
    """Do this with the store, open. A URL that cannot be right is wrong usage; a store that is away is not."""
    try:
        store = open_store(url)
    except StoreError as error:
        raise _failed(USAGE, error) from None
    try:
        await store.open()
        return await work(store)
    finally:
        await store.close()


def carry_out(work: Coroutine[Any, Any, T]) -> T:
    """Run this to its end. What goes wrong ends the command with a sentence that says what to do."""
    try:
        return asyncio.run(work)
    except StoreError as error:
        raise _failed(NOT_CONNECTED, error) from None
    except VaultLocked as error:
        raise _failed(TOOL_FAILED, error) from None
    except InstallError as error:  # a key that is too short or missing
        raise _failed(USAGE, error) from None


def _told(work: Coroutine[Any, Any, str]) -> int:
    print_out(f"{plain(carry_out(work))}\n")
    return DONE


def _failed(code: int, error: MidcallError) -> Ends:
    return Ends(code, f"{Console().ink.bad('✗')} {plain(str(error))}")
