"""Which keys an installation seals with: those it was given, else those of this machine, else none."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from midcall.errors import InstallError
from midcall.stores.memory import Memory
from midcall.stores.sqlite import SQLite
from midcall.wording import installing as wording

if TYPE_CHECKING:
    from midcall.server.portal import Portal
    from midcall.stores.base import Store

__all__ = ["Key", "given_keys", "machine_keys", "portal_keys"]

Key: TypeAlias = str | bytes | bytearray


def given_keys(keys: Sequence[Key] | Key | None) -> list[Key]:
    """The author's keys, else those of `MIDCALL_KEYS`; none where neither is there.

    Raises:
        InstallError: What was given is no key.
    """
    if keys is None:
        keys = [key.strip() for key in os.environ.get("MIDCALL_KEYS", "").split(",") if key.strip()]
    elif isinstance(keys, (str, bytes, bytearray)):
        keys = [keys]
    elif not isinstance(keys, Sequence) or not keys:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InstallError(wording.bad_keys("there are none."), advice=wording.bad_keys_advice())
    if keys:
        from midcall.stores.keys import check_keys

        check_keys(keys)
    return list(keys)


def machine_keys(store: Store | None, portal: Portal | None) -> list[Key]:
    """The keys of this user on this machine, where all that they seal stays on it; none elsewhere.

    With them, a server that is started again goes on with what it had kept.

    Raises:
        InstallError: A portal needs them, and they cannot be had.
    """
    if portal is not None and store is not None:
        return list(portal_keys([], store))
    try:
        return list(portal_keys([], store)) if isinstance(store, SQLite) else []
    except InstallError:  # no place for a key, or a keyring that is locked: then a call does not outlive the process
        return []


def portal_keys(keys: Sequence[Key], store: Store) -> list[str | bytes]:
    """What the vault and the pages are sealed with: the author's keys, else those of this machine.

    Raises:
        InstallError: There are none, and other machines use the store, too.
    """
    from midcall.stores.keys import find_keys
    from midcall.stores.sqlite.places import default_file

    given = [bytes(key) if isinstance(key, bytearray) else key for key in keys]
    return find_keys(given, directory=default_file().parent, shared=not isinstance(store, (Memory, SQLite)))
