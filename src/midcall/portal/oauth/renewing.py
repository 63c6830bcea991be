"""New tokens for old, once, however many ask at the same time.

A provider that rotates takes a refresh token once, and may see its second use as theft and end the whole
access. So of all who find a token run out, on all replicas, one takes a lease, for exactly the tokens that
it found, and the others wait for what comes of it. What it got replaces only what it had found.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from base64 import urlsafe_b64encode
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final

from midcall.portal.oauth.endpoint import Endpoint
from midcall.portal.oauth.errors import GrantRefused, ProviderFailed
from midcall.portal.oauth.provider import Provider
from midcall.portal.oauth.tokens import Tokens, vault_name
from midcall.portal.vault import Entry, Vault
from midcall.stores.base import Record, Store
from midcall.wording import oauth as wording

__all__ = ["Renewing", "lease_on"]

KIND: Final = "oauth-renewal"

logger = logging.getLogger("midcall.portal.oauth")


class Renewing:
    """Renews tokens in a vault that several replicas share."""

    def __init__(
        self, store: Store, vault: Vault, endpoint: Endpoint, clock: Callable[[], float], lease: float
    ) -> None:
        self._store = store
        self._vault = vault
        self._endpoint = endpoint
        self._clock = clock
        self._lease = lease
        self._running: set[asyncio.Task[Tokens | None]] = set()

    async def renew(self, provider: Provider, owner: str, entry: Entry, tokens: Tokens) -> Tokens | None:
        """The tokens in place of these; None where the provider gives no more of them.

        Raises:
            ProviderFailed: They could not be renewed just now. They are as they were.
        """
        now = self._clock()
        lease = Record(lease_on(owner, provider, entry), KIND, owner, "{}", now, now + self._lease)
        _, mine = await self._store.create(lease)
        if not mine:
            return await self._as_renewed_elsewhere(provider, owner, entry, lease.id)
        return await self._to_the_end(self._with_lease(provider, owner, entry, tokens, lease.id))

    async def _to_the_end(self, renewal: Coroutine[Any, Any, Tokens | None]) -> Tokens | None:
        """Whoever asked may go away: what the provider has handed out by then must still reach the vault."""
        task = asyncio.create_task(renewal)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return await asyncio.shield(task)

    async def _with_lease(
        self, provider: Provider, owner: str, entry: Entry, tokens: Tokens, lease: str
    ) -> Tokens | None:
        try:
            return await self._renewed(provider, owner, entry, tokens)
        finally:
            await self._store.complete(lease, "{}", owner=None, now=self._clock())

    async def _renewed(self, provider: Provider, owner: str, entry: Entry, tokens: Tokens) -> Tokens | None:
        try:
            renewed = await self._endpoint.renew(provider, tokens)
        except GrantRefused:
            return await self._given_up(provider, owner, entry)
        except ProviderFailed:
            # Sealed anew, it is another entry, and the next who tries has a lease of their own.
            await self._vault.swap(owner, vault_name(provider), entry.value, instead_of=entry, now=self._clock())
            raise
        if await self._vault.swap(owner, vault_name(provider), renewed.kept(), instead_of=entry, now=self._clock()):
            return renewed
        return await self._overtaken(provider, owner, renewed)

    async def _given_up(self, provider: Provider, owner: str, entry: Entry) -> Tokens | None:
        """The access has ended. Forget it, so that the user is asked again; unless they have just connected anew."""
        latest = await self._vault.entry(owner, vault_name(provider))
        if latest is not None and latest.sealed != entry.sealed:
            return Tokens.of(latest.value)
        await self._vault.forget(owner, vault_name(provider))
        logger.info("%s has ended an access; its user will be asked again", provider.name)
        return None

    async def _overtaken(self, provider: Provider, owner: str, renewed: Tokens) -> Tokens | None:
        """Meanwhile the user has connected anew, or taken the access away: that counts, and these go back."""
        with suppress(ProviderFailed):
            await self._endpoint.revoke(provider, renewed)
        latest = await self._vault.entry(owner, vault_name(provider))
        return None if latest is None else Tokens.of(latest.value)

    async def _as_renewed_elsewhere(self, provider: Provider, owner: str, entry: Entry, lease: str) -> Tokens | None:
        await self._store.wait(lease, self._lease)
        latest = await self._vault.entry(owner, vault_name(provider))
        if latest is None:
            return None
        tokens = Tokens.of(latest.value)
        if tokens.renew <= self._clock():
            raise ProviderFailed(
                f"The access to {provider.title} could not be renewed just now.",
                advice=wording.provider_failed_advice(),
            )
        return tokens


def lease_on(owner: str, provider: Provider, entry: Entry) -> str:
    """What the lease on renewing exactly these tokens is known by."""
    about = "\0".join(["midcall/oauth-renewal", provider.name, owner]).encode() + b"\0" + entry.sealed
    return urlsafe_b64encode(hashlib.sha256(about).digest()).decode().rstrip("=")
