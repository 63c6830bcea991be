"""Check whether the store responds, and whether the keys open the vault. No finding contains a value or a key."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Final

from midcall.doctor.inspection import Finding, Setup
from midcall.errors import StoreError
from midcall.settings.cli import CHECK_SECONDS, CHECK_VAULT_VALUES
from midcall.stores.memory import Memory
from midcall.stores.quotas import Usage
from midcall.stores.sqlite import SQLite

if TYPE_CHECKING:
    from midcall.portal.vault import Vault
    from midcall.stores.base import Store

ADD_STORE: Final = "Use install(..., store='sqlite://'), or 'postgresql://...' or 'redis://...' for several replicas."
_CHECK: Final = "`midcall store check URL` checks a store alone, and waits as long as a server would."
_RAISE_QUOTA: Final = (
    "Nearly full: then calls that need the store fail. If that is your users, set MIDCALL_MAX_STORE_RECORDS and "
    "MIDCALL_MAX_STORE_MB. If it is strangers, let callers sign in."
)
_LOST: Final = "If it is lost, `midcall vault forget OWNER NAME` lets users enter their values again."


async def check_store(setup: Setup) -> list[Finding]:
    """Open the store, and with a portal its vault, and read from both."""
    before = _describe(setup)
    if setup.installation.keeping is None:
        return [before]
    until = asyncio.get_running_loop().time() + CHECK_SECONDS
    try:
        async with asyncio.timeout_at(until):
            store = await setup.installation.keeping.store()
            await store.read("doctor")
    except StoreError as error:
        return [Finding("store", "broken", f"It cannot be used. {error!s}", _CHECK)]
    except TimeoutError:
        local = isinstance(setup.installation.store, SQLite)
        why = "another process holds the file, or its disk hangs" if local else "it hangs, or something drops packets"
        return [Finding("store", "broken", f"No answer within {CHECK_SECONDS:g} s: {why}. {before.text}", _CHECK)]
    answered = Finding("store", before.state, f"It responds. {before.text}", before.advice)
    return [answered, *await _check_quota(setup, until), *await _check_vault(setup, store, until)]


def _describe(setup: Setup) -> Finding:
    """Who shares the store, without opening it."""
    store = setup.installation.store
    if store is None:
        text = "None: a call cannot resume later, and `once` only holds within one process."
        return Finding("store", "off", text, ADD_STORE)
    if isinstance(store, Memory):
        text = "In this process's memory: a restart loses everything, and other replicas do not see it."
        return Finding("store", "doubtful", text, ADD_STORE)
    name = repr(store).strip("<>")
    if not isinstance(store, SQLite):
        return Finding("store", "ok", f"{name}: for all replicas.")
    if setup.here.container:
        text = f"{name}: for all processes in this container, and lost with it unless the file is on a volume."
        return Finding("store", "ok", text)
    return Finding("store", "ok", f"{name}: for all processes on this machine.")


async def _check_quota(setup: Setup, until: float) -> list[Finding]:
    """How much this server keeps, of what it may."""
    records = setup.installation.records
    if records is None or records.quotas is None:
        return []
    most = records.quotas.limits
    try:
        async with asyncio.timeout_at(until):
            used = await records.quotas.count()
    except (StoreError, TimeoutError):
        return [Finding("quota", "doubtful", "It could not be counted in time.")]
    text = f"This server keeps {used}, of at most {most.all}, and {most.caller} for one caller."
    if Usage(used.records * 5 // 4, used.size * 5 // 4).exceeds(most.all):
        return [Finding("quota", "doubtful", text, _RAISE_QUOTA)]
    return [Finding("quota", "ok", text)]


# --- the vault -----------------------------------------------------------------------------------
async def _check_vault(setup: Setup, store: Store, until: float) -> list[Finding]:
    """Without a portal, nothing is stored for users."""
    if setup.portal is None:
        return []
    found: Counter[str] = Counter()
    try:
        async with asyncio.timeout_at(until):
            complete = await _try_values(setup.portal.vault, store, found)
    except (StoreError, TimeoutError):
        complete = False
    return [_describe_vault(found, complete, setup.installation.whose_keys)]


async def _try_values(vault: Vault, store: Store, found: Counter[str]) -> bool:
    """Count the values that open with the first key, with another, with none. Returns whether these were all."""
    async for value in store.all_values():
        if found.total() == CHECK_VAULT_VALUES:
            return False
        found[vault.standing(value)] += 1
    return True


def _describe_vault(found: Counter[str], complete: bool, whose: str) -> Finding:
    tried, locked, older = found.total(), found["locked"], found["older"]
    values = f"{'' if complete else 'the first '}{tried:,} {'value' if tried == 1 else 'values'}"
    if locked:
        text = f"{locked:,} of {values} cannot be opened with these keys. Nothing is lost."
        return Finding("vault", "broken", text, _advise_locked(whose))
    if older:
        text = f"{values} can be opened, {older:,} of them only with a key that is not the first."
        advice = "Keep the earlier keys until `midcall vault rotate` has sealed everything with the first one."
        return Finding("vault", "doubtful", text, advice)
    if tried:
        return Finding("vault", "ok", f"{values} can be opened with these keys.")
    if complete:
        return Finding("vault", "ok", "Empty.")
    return Finding("vault", "doubtful", "It could not be read in time, so these keys were not tried.")


def _advise_locked(whose: str) -> str:
    if whose == "author":
        return f"Add the key that sealed them behind those in MIDCALL_KEYS, or in keys=, as in a rotation. {_LOST}"
    return (
        "No key was given here, so the one of this user on this machine was tried. Set MIDCALL_KEYS as it is where the "
        f"server runs, or run this as the server's user. {_LOST}"
    )
