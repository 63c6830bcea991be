"""`midcall store` and `midcall vault`: maintain a store, and users' values in it. No command shows a value."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from shlex import quote
from typing import TypeVar
from urllib.parse import parse_qs, urlsplit

from rich.text import Text

from midcall.audit import Name, open_audit
from midcall.cli.console import Console, columns, print_parts
from midcall.cli.exits import DONE, NOT_CONNECTED, TOOL_FAILED, USAGE, Ends, usage_error
from midcall.cli.stdout import print_json, print_out
from midcall.core.text import plain, plain_line, reveal
from midcall.errors import InstallError, MidcallError, StoreError, VaultLocked
from midcall.portal.vault import StoredValue, forget_value, rotate_keys
from midcall.portal.vault import list_values as read_values
from midcall.stores import Store, Sweeper, open_store
from midcall.stores.address import find_scheme
from midcall.stores.base import ACCOUNTS, try_out
from midcall.stores.keys import find_keys
from midcall.stores.purge import describe_removed

T = TypeVar("T")


def check(url: str | None) -> int:
    """Connect, create or migrate the tables, and try writing and reading."""

    async def work(store: Store) -> str:
        await try_out(store)
        return f"{store!r} works."

    print_out(f"{plain(_with_store(url, work))}\n")
    return DONE


def sweep(url: str | None, keep: float) -> int:
    """Purge records that expired this many seconds ago."""

    async def work(store: Store) -> str:
        return describe_removed(await Sweeper(store, keep=keep).sweep())

    print_out(f"{plain(_with_store(url, work))}\n")
    return DONE


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


def _with_store(url: str | None, work: Callable[[Store], Awaitable[T]]) -> T:
    """Open the store and do this. An error ends the command with a sentence that says what to do.

    An invalid URL is wrong usage; an unreachable store isn't.
    """
    try:
        store = open_store(url)
    except StoreError as error:
        raise _end_with(USAGE, error) from None

    async def work_with_it() -> T:
        try:
            await store.open()
            return await work(store)
        finally:
            await store.close()

    try:
        return asyncio.run(work_with_it())
    except StoreError as error:
        raise _end_with(NOT_CONNECTED, error) from None
    except VaultLocked as error:
        raise _end_with(TOOL_FAILED, error) from None
    except InstallError as error:  # a key is missing or too short
        raise _end_with(USAGE, error) from None


def _end_with(code: int, error: MidcallError) -> Ends:
    return Ends(code, f"{Console().ink.bad('✗')} {plain(str(error))}")


# --- the vault ---------------------------------------------------------------------------------


def rotate(url: str | None) -> int:
    """Encrypt everything again with the first key."""

    async def work(store: Store) -> int:
        return await rotate_keys(store, find_keys(shared=_is_shared(store)))

    count = _with_store(url, work)
    values = f"Re-encrypted {count:,} {'value' if count == 1 else 'values'}. "
    print_out(f"{values if count else ''}Everything is encrypted with the first key.\n")
    return DONE


def _is_shared(store: Store) -> bool:
    """Whether other machines use it: then this machine's keys aren't enough."""
    from midcall.stores.memory import Memory
    from midcall.stores.sqlite import SQLite

    return not isinstance(store, (Memory, SQLite))


def list_values(url: str | None, owner: str | None, *, as_json: bool) -> int:
    """Print the stored values, by owner and name."""

    async def work(store: Store) -> list[StoredValue]:
        return await read_values(store, owner)

    values = _with_store(url, work)
    if as_json:
        print_json([_as_data(each) for each in values])
    elif values:
        _print_table(values)
    else:
        print_out(f"Nothing is stored{'' if owner is None else ' for this owner'}.\n")
    return DONE


def _as_data(value: StoredValue) -> dict[str, str]:
    return {
        "owner": value.owner,
        "server": value.reader,
        "namespace": value.namespace,
        "name": value.name,
        "since": _since(value).isoformat(),
    }


def _print_table(values: Sequence[StoredValue]) -> None:
    """Owners, servers and names as `forget` takes them, quoted for the shell."""
    rows = [
        (
            *(Text(quote(reveal(text))) for text in (each.owner, each.reader, each.name)),
            Text(f"{_since(each):%F %R}"),
        )
        for each in values
    ]
    print_parts(columns(rows, ("OWNER", "SERVER", "NAME", "SINCE"), wraps=False), wide=True)


def _since(value: StoredValue) -> datetime:
    return datetime.fromtimestamp(value.updated).astimezone()


def forget(url: str | None, owner: str, name: str, server: str | None) -> int:
    """Delete one value. Fails if it doesn't exist, or if several servers have one with this name."""

    async def work(store: Store) -> list[StoredValue]:
        """The values that are meant. If there is one, it's deleted."""
        named = [each for each in await read_values(store, owner) if each.name == name]
        meant = [each for each in named if server in (None, each.reader, each.namespace)]
        if len(meant) == 1 and not await forget_value(store, meant[0]):
            return []
        return meant

    try:
        audit = open_audit(None)  # of MIDCALL_AUDIT, which the servers that use the store write to as well
    except InstallError as error:
        raise _end_with(USAGE, error) from None
    meant = _with_store(url, work)
    if not meant:
        which = "" if server is None else " for this server"
        print_out(f"This owner has no value with this name{which}. `midcall vault list` shows all values.\n")
        return TOOL_FAILED
    if len(meant) > 1:
        readers = Counter(each.reader for each in meant)
        options = (each.reader if readers[each.reader] == 1 else each.namespace for each in meant)
        choices = "\n".join(f"  --server {quote(reveal(option))}" for option in options)
        print_out(f"Several servers have a value with this name, and nothing was deleted. Add one of:\n{choices}\n")
        return TOOL_FAILED
    print_out(f"Deleted {plain_line(name)}.\n")
    if audit is not None:
        event: Name = "account.disconnected" if name.startswith(ACCOUNTS) else "secret.deleted"
        what = {"provider" if name.startswith(ACCOUNTS) else "name": name.removeprefix(ACCOUNTS)}
        audit.write(event, user=owner, server=meant[0].reader, outcome="operator", **what)
    if name.startswith(ACCOUNTS):
        print(
            f"{plain_line(name.removeprefix(ACCOUNTS))} was not notified, so the access still exists there: the user "
            "can revoke it in their account.",
            file=sys.stderr,
        )
    return DONE
