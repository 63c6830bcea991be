"""`midcall vault`: manage users' stored values. No command shows a value."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime
from shlex import quote

from rich.text import Text

from midcall.cli.call.results import as_json as json_text
from midcall.cli.exits import DONE, TOOL_FAILED
from midcall.cli.output.console import print_out
from midcall.cli.output.tables import columns, print_parts
from midcall.cli.store import run_work, with_store
from midcall.core.text import plain_line
from midcall.portal.vault import Kept, forget_value, rotate_keys
from midcall.portal.vault import list_values as read_values
from midcall.stores import Store
from midcall.stores.keys import find_keys


def rotate(url: str | None) -> int:
    """Encrypt everything again with the first key."""

    async def work(store: Store) -> int:
        return await rotate_keys(store, find_keys(shared=_is_shared(store)))

    count = run_work(with_store(url, work))
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

    async def work(store: Store) -> list[Kept]:
        return await read_values(store, owner)

    values = run_work(with_store(url, work))
    if as_json:
        listed = [{"owner": each.owner, "name": each.name, "since": _since(each).isoformat()} for each in values]
        print_out(json_text(listed, ascii=sys.stdout.isatty()))
    elif values:
        _print_table(values)
    else:
        print_out(f"Nothing is stored{'' if owner is None else ' for this owner'}.\n")
    return DONE


def _print_table(values: Sequence[Kept]) -> None:
    """Owners and names as `forget` takes them, quoted for the shell."""
    rows = [
        (*(Text(quote(plain_line(text))) for text in (each.owner, each.name)), Text(f"{_since(each):%F %R}"))
        for each in values
    ]
    print_parts(columns(rows, ("OWNER", "NAME", "SINCE"), wraps=False), wide=True)


def _since(value: Kept) -> datetime:
    return datetime.fromtimestamp(value.updated).astimezone()


def forget(url: str | None, owner: str, name: str) -> int:
    """Delete one value. Fails if it doesn't exist."""

    async def work(store: Store) -> bool:
        return await forget_value(store, owner, name)

    if not run_work(with_store(url, work)):
        print_out("This owner has no value with this name. `midcall vault list` shows all values.\n")
        return TOOL_FAILED
    print_out(f"Deleted {plain_line(name)}.\n")
    if name.startswith("oauth:"):
        print(
            f"{plain_line(name.removeprefix('oauth:'))} was not notified, so the access still exists there: the user "
            "can revoke it in their account.",
            file=sys.stderr,
        )
    return DONE
