"""Whether the store answers, and whether what the vault keeps can be opened. No value, and no key, is ever told."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Final

from midcall.doctor.checks.portal import portal_of
from midcall.doctor.checks.report import SECONDS, Finding
from midcall.errors import StoreError
from midcall.stores.sqlite import SQLite
from midcall.wording.doctor import keeping as wording

if TYPE_CHECKING:
    from midcall.portal.vault import Vault
    from midcall.server.installation import Installation
    from midcall.stores.base import Store

__all__ = ["store_now"]

_MOST: Final = 2_000
"""How many values are tried: enough to see what is wrong with keys, and soon done."""


async def store_now(installation: Installation, before: Finding) -> list[Finding]:
    """The store, and with a portal its vault, after both were read from."""
    if installation.keeping is None:
        return [before]
    until = asyncio.get_running_loop().time() + SECONDS
    try:
        async with asyncio.timeout_at(until):
            store = await installation.keeping.store()
            await store.read("doctor")
    except StoreError as error:
        return [Finding("store", "broken", f"It cannot be used. {error!s}", _away_advice())]
    except TimeoutError:
        silent = _held if isinstance(installation.store, SQLite) else _silent
        return [Finding("store", "broken", silent(before.text, SECONDS), _away_advice())]
    answered = Finding("store", before.state, f"It answers. {before.text}", before.advice)
    return [answered, *await _vault(installation, store, until)]


async def _vault(installation: Installation, store: Store, until: float) -> list[Finding]:
    """Without a portal nothing is kept for users."""
    portal = portal_of(installation)
    if portal is None:
        return []
    found: Counter[str] = Counter()
    try:
        async with asyncio.timeout_at(until):
            every = await _try(portal.vault, store, found)
    except (StoreError, TimeoutError):
        every = False
    return [_told(found, every, installation.whose_keys)]


async def _try(vault: Vault, store: Store, found: Counter[str]) -> bool:
    """Count what opens with the first key, with another one, with none. Whether these were all."""
    async for value in store.all_values():
        if found.total() == _MOST:
            return False
        found[vault.standing(value)] += 1
    return True


def _told(found: Counter[str], every: bool, whose: str) -> Finding:
    tried, locked, older = found.total(), found["locked"], found["older"]
    if locked:
        return Finding("vault", "broken", wording.vault_locked(locked, tried, every), _vault_locked_advice(whose))
    if older:
        return Finding(
            "vault",
            "doubtful",
            wording.vault_older(older, tried, every),
            "Keep the earlier keys until `midcall vault rotate` has sealed everything with the first one.",
        )
    if tried:
        return Finding("vault", "ok", wording.vault_opens(tried, every))
    return (
        Finding("vault", "ok", "Nothing is kept in it yet.")
        if every
        else Finding("vault", "doubtful", "It was not read in time, so nobody knows whether these keys open it.")
    )


def _silent(about: str, seconds: float) -> str:
    return f"No answer within {seconds:g} s: it hangs, or something on the way drops what is sent there. {about}"


def _held(about: str, seconds: float) -> str:
    return f"No answer within {seconds:g} s: another process holds the file, or its disk hangs. {about}"


def _away_advice() -> str:
    return "`midcall store check URL` looks at a store by itself, and waits for as long as a server does."


def _vault_locked_advice(whose: str) -> str:
    lost = "If it is lost, `midcall vault forget OWNER NAME` lets users enter their values again."
    if whose == "author":
        return f"Add the key that sealed them behind those in MIDCALL_KEYS, or keys=, as in a rotation. {lost}"
    return (
        "No key was given here, so that of this user on this machine is tried. Set MIDCALL_KEYS as it is where the "
        f"server runs, or run this as the server's own user. {lost}"
    )
