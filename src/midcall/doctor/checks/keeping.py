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
        return [Finding("store", "broken", f"It cannot be used. {error!s}", wording.away_advice())]
    except TimeoutError:
        silent = wording.held if isinstance(installation.store, SQLite) else wording.silent
        return [Finding("store", "broken", silent(before.text, SECONDS), wording.away_advice())]
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
        return Finding(
            "vault", "broken", wording.vault_locked(locked, tried, every), wording.vault_locked_advice(whose)
        )
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
