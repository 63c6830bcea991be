"""The keys of an installation: those it was given, else those of this machine, else none."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from midcall.errors import InstallError
from midcall.stores.memory import Memory
from midcall.stores.sqlite import SQLite

if TYPE_CHECKING:
    from midcall.server.channels.portal import Portal
    from midcall.stores.base import Store

Key: TypeAlias = str | bytes | bytearray


def bad_keys(why: str) -> InstallError:
    return InstallError(
        f"These keys (keys=, or MIDCALL_KEYS) cannot be used: {why}",
        advice=(
            "A key is a string of at least 32 random characters; make one with "
            '`python -c "import secrets; print(secrets.token_hex(32))"`. Several keys, separated by commas in '
            "MIDCALL_KEYS, rotate: the first seals, all unseal."
        ),
    )


def given_keys(keys: Sequence[Key] | Key | None) -> list[Key]:
    """The author's keys, else those of `MIDCALL_KEYS`, else none.

    Raises:
        InstallError: One of them isn't a key.
    """
    if keys is None:
        keys = [key.strip() for key in os.environ.get("MIDCALL_KEYS", "").split(",") if key.strip()]
    elif isinstance(keys, (str, bytes, bytearray)):
        keys = [keys]
    elif not isinstance(keys, Sequence) or not keys:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise bad_keys("there are none.")
    if keys:
        from midcall.stores.keys import check_keys

        check_keys(keys)
    return list(keys)


def machine_keys(store: Store | None, portal: Portal | None) -> list[Key]:
    """The keys of this user on this machine, if everything that they seal stays on it; else none.

    With them, a server that restarts can read what it stored.

    Raises:
        InstallError: A portal needs them, and they cannot be read or created.
    """
    if portal is not None and store is not None:
        return list(portal_keys([], store))
    try:
        return list(portal_keys([], store)) if isinstance(store, SQLite) else []
    except InstallError:  # no place for a key, or a locked keyring: then calls don't outlive the process
        return []


def portal_keys(keys: Sequence[Key], store: Store) -> list[str | bytes]:
    """The keys for the vault and the pages: the author's, else those of this machine.

    Raises:
        InstallError: No keys are set, and other machines share the store.
    """
    from midcall.stores.keys import find_keys
    from midcall.stores.sqlite import default_file

    given = [bytes(key) if isinstance(key, bytearray) else key for key in keys]
    return find_keys(given, directory=default_file().parent, shared=not isinstance(store, (Memory, SQLite)))
