"""Renew tokens once, no matter how many calls need them at the same time.

A provider that rotates refresh tokens accepts each one once. It may take a second use for theft and revoke the whole
access. So of all calls that find an expired token, on all replicas, one takes a lease for exactly these tokens, and the
others wait for its result. The new tokens replace only those that the lease was for.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from base64 import urlsafe_b64encode
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final, TypeAlias

from midcall.errors import ProviderFailed
from midcall.portal.oauth.endpoint import Endpoint
from midcall.portal.oauth.errors import TRY_LATER, GrantRefused
from midcall.portal.oauth.provider import Provider
from midcall.portal.oauth.tokens import Tokens, vault_name
from midcall.portal.vault import Vault, VaultEntry
from midcall.settings.portal import PROVIDER_TIMEOUT_SECONDS
from midcall.stores.base import Record, Store

KIND: Final = "oauth-renewal"
_LEASE: Final = 2 * PROVIDER_TIMEOUT_SECONDS

Note: TypeAlias = Callable[..., None]
"""Writes to the audit trail: the event, the owner, the provider and perhaps the outcome."""

logger = logging.getLogger("midcall.portal.oauth")


class Renewal:
    """Renews tokens in a vault that several replicas share."""

    def __init__(
        self,
        store: Store,
        vault: Vault,
        endpoint: Endpoint,
        clock: Callable[[], float],
        note: Note,
    ) -> None:
        self._store = store
        self._vault = vault
        self._endpoint = endpoint
        self._clock = clock
        self._note = note
        self._running: set[asyncio.Task[Tokens | None]] = set()

    async def renew(self, provider: Provider, owner: str, entry: VaultEntry, tokens: Tokens) -> Tokens | None:
        """New tokens for these; None if the provider has revoked the access.

        Raises:
            ProviderFailed: They could not be renewed just now, and are unchanged.
        """
        now = self._clock()
        lease = Record(lease_id(owner, provider, entry), KIND, owner, "{}", now, now + _LEASE)
        _record, mine = await self._store.create(lease)
        if not mine:
            return await self._wait_for_other(provider, owner, entry, lease.id)
        return await self._finish(self._renew_with_lease(provider, owner, entry, tokens, lease.id))

    async def _finish(self, renewal: Coroutine[Any, Any, Tokens | None]) -> Tokens | None:
        """Finish even if the caller is cancelled: new tokens must reach the vault."""
        task = asyncio.create_task(renewal)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return await asyncio.shield(task)

    async def _renew_with_lease(
        self, provider: Provider, owner: str, entry: VaultEntry, tokens: Tokens, lease: str
    ) -> Tokens | None:
        try:
            return await self._exchange(provider, owner, entry, tokens)
        finally:
            await self._store.complete(lease, "{}", owner=None, now=self._clock())

    async def _exchange(self, provider: Provider, owner: str, entry: VaultEntry, tokens: Tokens) -> Tokens | None:
        try:
            renewed = await self._endpoint.renew(provider, tokens)
        except GrantRefused:
            return await self._forget(provider, owner, entry)
        except ProviderFailed:
            # Sealed again, it is another entry, so the next attempt gets its own lease.
            await self._vault.swap(owner, vault_name(provider), entry.value, instead_of=entry, now=self._clock())
            raise
        if await self._vault.swap(owner, vault_name(provider), renewed.dump(), instead_of=entry, now=self._clock()):
            self._note("account.refreshed", owner, provider.name)
            return renewed
        return await self._give_back(provider, owner, renewed)

    async def _forget(self, provider: Provider, owner: str, entry: VaultEntry) -> Tokens | None:
        """The access was revoked. Delete it, so that the user is asked again, unless they have just reconnected."""
        latest = await self._vault.entry(owner, vault_name(provider))
        if latest is not None and latest.sealed != entry.sealed:
            return Tokens.load(latest.value)
        await self._vault.forget(owner, vault_name(provider))
        self._note("account.disconnected", owner, provider.name, "revoked")
        logger.info("%s has revoked an access; its user will be asked again", provider.name)
        return None

    async def _give_back(self, provider: Provider, owner: str, renewed: Tokens) -> Tokens | None:
        """The user has reconnected or revoked the access meanwhile. That wins, so revoke these tokens."""
        with suppress(ProviderFailed):
            await self._endpoint.revoke(provider, renewed)
        latest = await self._vault.entry(owner, vault_name(provider))
        return None if latest is None else Tokens.load(latest.value)

    async def _wait_for_other(self, provider: Provider, owner: str, entry: VaultEntry, lease: str) -> Tokens | None:
        await self._store.wait(lease, _LEASE)
        latest = await self._vault.entry(owner, vault_name(provider))
        if latest is None:
            return None
        tokens = Tokens.load(latest.value)
        if tokens.renew <= self._clock():
            raise ProviderFailed(f"The access to {provider.title} could not be renewed just now.", advice=TRY_LATER)
        return tokens


def lease_id(owner: str, provider: Provider, entry: VaultEntry) -> str:
    """The id of the lease for renewing exactly these tokens."""
    about = "\0".join(["midcall/oauth-renewal", provider.name, owner]).encode() + b"\0" + entry.sealed
    return urlsafe_b64encode(hashlib.sha256(about).digest()).decode().rstrip("=")
