"""`midcall vault`: what is kept for users, for whoever runs the server. No command shows a value."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime
from shlex import quote

from midcall.cli.call.results import as_json as json_text
from midcall.cli.console import print_out
from midcall.cli.exits import DONE, TOOL_FAILED
from midcall.cli.store import carry_out, with_store
from midcall.client.lines.colors import Ink
from midcall.core.text import plain_line
from midcall.portal.vault import Kept, forget_value, kept_values, rotate_keys
from midcall.stores import Store
from midcall.stores.keys import find_keys

__all__ = ["forget", "list_kept", "rotate"]


def rotate(url: str | None) -> int:
    """Seal everything anew with the first key."""

    async def work(store: Store) -> int:
        return await rotate_keys(store, find_keys(shared=_is_shared(store)))

    print_out(f"{_sealed_anew(carry_out(with_store(url, work)))}\n")
    return DONE


def _is_shared(store: Store) -> bool:
    """Whether other machines use it: then the keys of this one would not do."""
    from midcall.stores.memory import Memory
    from midcall.stores.sqlite import SQLite

    return not isinstance(store, (Memory, SQLite))


def list_kept(url: str | None, owner: str | None, *, as_json: bool) -> int:
    """Print what is kept, by owner and name."""

    async def work(store: Store) -> list[Kept]:
        return await kept_values(store, owner)

    kept = carry_out(with_store(url, work))
    if as_json:
        listed = [{"owner": each.owner, "name": each.name, "since": _moment(each).isoformat()} for each in kept]
        print_out(json_text(listed, ascii=sys.stdout.isatty()))
    else:
        print_out(_table(kept) if kept else f"{_nothing_kept(owner)}\n")
    return DONE


def _table(kept: Sequence[Kept]) -> str:
    """Owners and names as `forget` takes them: in quotes, where a shell would take them apart."""
    ink = Ink.on_stream(sys.stdout)
    rows = [(*(quote(plain_line(text)) for text in (each.owner, each.name)), f"{_moment(each):%F %R}") for each in kept]
    rows.insert(0, _kept_columns())
    wide = [max(len(row[column]) for row in rows) for column in range(2)]
    lines = [f"{owner:{wide[0]}}  {name:{wide[1]}}  {since}" for owner, name, since in rows]
    return "\n".join((ink.dim(lines[0]), *lines[1:], ""))


def _moment(kept: Kept) -> datetime:
    return datetime.fromtimestamp(kept.updated).astimezone()


def forget(url: str | None, owner: str, name: str) -> int:
    """Delete one value. That there was none is told, and is an exit code of its own."""

    async def work(store: Store) -> bool:
        return await forget_value(store, owner, name)

    was_there = carry_out(with_store(url, work))
    print_out(f"{_forgotten(plain_line(name)) if was_there else _not_kept()}\n")
    if was_there and name.startswith("oauth:"):
        print(
            (
                f"{plain_line(name.removeprefix('oauth:'))} was not told, so the access still exists there: the "
                "user can end it in their account."
            ),
            file=sys.stderr,
        )
    return DONE if was_there else TOOL_FAILED


def _sealed_anew(count: int) -> str:
    match count:
        case 0:
            return "Everything is sealed with the first key already."
        case 1:
            return "Sealed 1 value anew. Everything is sealed with the first key now."
        case _:
            return f"Sealed {count:,} values anew. Everything is sealed with the first key now."


def _kept_columns() -> tuple[str, str, str]:
    return "OWNER", "NAME", "SINCE"


def _nothing_kept(owner: str | None) -> str:
    return "Nothing is kept." if owner is None else "Nothing is kept for this owner."


def _forgotten(name: str) -> str:
    return f"Deleted {name}."


def _not_kept() -> str:
    return "There is nothing under this owner and name. `midcall vault list` shows what there is."
