"""Sign-ins, until they expire or the user signs out: in the store, because a copied cookie can't be taken back."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable

from midcall.portal.vault import Vault, VaultLocked
from midcall.stores.base import Record, Store
from midcall.stores.interactions import digest_of


class Sessions:
    """Sessions in the store, by unguessable ids that only the browser has."""

    def __init__(self, store: Store, vault: Vault, clock: Callable[[], float]) -> None:
        self._store = store
        self._vault = vault
        self._clock = clock

    async def begin(self, key: str, id_token: str, seconds: float) -> str:
        """Start a session of this user, and return its id. The token is what an issuer wants to see at sign-out."""
        id, now = secrets.token_urlsafe(24), self._clock()
        sealed = self._vault.seal(key, _record_id(id), {"id_token": id_token})
        await self._store.create(Record(_record_id(id), "session", key, json.dumps(sealed), now, now + seconds))
        return id

    async def is_open(self, id: str, key: str) -> bool:
        """Whether this is a session of this user that hasn't ended."""
        record = await self._store.read(_record_id(id))
        if record is None or record.kind != "session" or record.owner != key:
            return False
        return not record.consumed and record.expires > self._clock()

    async def end(self, id: str, key: str) -> str:
        """End this session on all replicas, and return its token; empty if it had ended before."""
        record = await self._store.consume(_record_id(id), owner=key, now=self._clock())
        try:
            return "" if record is None else self._vault.unseal(key, record.id, json.loads(record.data))["id_token"]
        except VaultLocked:  # its key was rotated away
            return ""


def _record_id(id: str) -> str:
    return digest_of(f"session\0{id}")
