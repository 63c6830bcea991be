"""Which store a URL means."""

from __future__ import annotations

import os
import re
from pathlib import Path

from midcall.stores.address import Address, scheme_of
from midcall.stores.base import Store, StoreError
from midcall.wording import stores as words

__all__ = ["open_store"]

_FILE = re.compile(r".+\.(db|sqlite|sqlite3)")


def open_store(url_or_store: str | Path | Store | None = None) -> Store:
    """The store that is meant, not yet connected: it connects when it is first used, or by `await store.open()`.

    Args:
        url_or_store: A URL, the path of a SQLite file, or a store, which is returned as it is. Without it,
            what `MIDCALL_STORE` says, and without that, a SQLite file under the user's data directory.

    Raises:
        StoreError: It cannot be read, or its driver is not installed. The message has no part of the URL
            in which a password could be.
    """
    if url_or_store is None:
        url_or_store = os.environ.get("MIDCALL_STORE") or "sqlite://"
    if isinstance(url_or_store, Path):
        return _file(url_or_store)
    if isinstance(url_or_store, str):
        return _by_url(url_or_store.strip())
    if not hasattr(url_or_store, "complete"):
        raise StoreError("This is neither a store nor the URL of one", advice=words.accepted_urls())
    return url_or_store


def _by_url(url: str) -> Store:
    match scheme_of(url):
        case None if _FILE.fullmatch(url):
            return _file(Path(url))
        case None:
            raise StoreError(words.not_a_url(), advice=words.accepted_urls())
        case "memory":
            return _memory(url)
        case "sqlite":
            return _sqlite(url)
        case "postgresql" | "postgres":
            from midcall.stores.postgres import PostgreSQL

            return PostgreSQL(url)
        case "redis" | "rediss":
            from midcall.stores.redis import Redis

            return Redis(url)
        case scheme:
            raise StoreError(words.unknown_scheme(scheme), advice=words.accepted_urls())


def _memory(url: str) -> Store:
    from midcall.stores.memory import Memory

    if url.partition("://")[2]:
        raise StoreError("A memory:// URL has nothing behind it", advice=words.accepted_urls())
    return Memory()


def _sqlite(url: str) -> Store:
    from midcall.stores.sqlite import SQLite

    address = Address.parse(url, "sqlite")
    if address.parts.netloc:
        raise StoreError(
            "The sqlite:// URL of the store names a host, and a file has none",
            advice="Use three slashes for an absolute path, as in sqlite:///var/lib/app/midcall.db.",
        )
    path = re.sub("^/+", "/", address.path) if address.path.strip("/") else ""
    if re.match(r"/[A-Za-z]:[/\\]", path):
        path = path[1:]  # sqlite:///C:/data/midcall.db
    return SQLite(path or None, busy=address.only(["busy"]).seconds("busy", 5.0))


def _file(path: Path) -> Store:
    from midcall.stores.sqlite import SQLite

    return SQLite(path)
