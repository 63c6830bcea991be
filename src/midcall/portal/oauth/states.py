"""The `state` of a flow under way: single-use, soon over, and good only in the browser that it was given to."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from midcall.errors import Misuse
from midcall.portal.oauth.errors import CallbackRefused
from midcall.portal.vault import Vault, VaultLocked
from midcall.stores.base import Record, Store
from midcall.wording import oauth as wording

__all__ = ["LIFE", "Started", "States"]

KIND: Final = "oauth-state"
LIFE: Final = 600.0
"""At most ten minutes between consent on our page and the provider's answer."""


@dataclass(frozen=True, slots=True)
class Started:
    """A flow under way. Only its browser knows the state, and only we the verifier."""

    id: str = field(repr=False)
    """Of the interaction."""
    provider: str
    redirect_uri: str
    verifier: str = field(repr=False)


class States:
    """Flows under way, in the store, so that any replica can go on with them.

    A record is known by a digest of the state, and the verifier and the interaction's id are sealed: a store
    that leaks finishes no flow.
    """

    def __init__(self, store: Store, vault: Vault, clock: Callable[[], float]) -> None:
        self._store = store
        self._vault = vault
        self._clock = clock

    async def start(self, started: Started, *, owner: str, browser: str) -> str:
        """The state under which this flow is known from now on."""
        if not owner or not browser:
            raise Misuse("An account is connected only for a known user, in a browser that is known by its cookie.")
        state, now = secrets.token_urlsafe(32), self._clock()
        sealed = self._vault.seal(owner, _known_as(state), {"id": started.id, "verifier": started.verifier})
        data = {
            "provider": started.provider,
            "redirect_uri": started.redirect_uri,
            "browser": _mark(state, browser),
            "sealed": sealed,
        }
        await self._store.create(Record(_known_as(state), KIND, owner, json.dumps(data), now, now + LIFE))
        return state

    async def provider_of(self, state: str, *, owner: str, browser: str) -> str | None:
        """The provider of this flow, while it is under way, for its owner and in its browser."""
        record = await self._store.read(_known_as(state))
        if record is None or record.expires <= self._clock() or record.consumed or record.owner != owner:
            return None
        data: dict[str, str] = json.loads(record.data)
        return data["provider"] if hmac.compare_digest(data["browser"], _mark(state, browser)) else None

    async def take(self, state: str, *, owner: str, browser: str) -> Started:
        """The flow of this state: for its owner, in its browser, in time, and once.

        Raises:
            CallbackRefused: It is not all of that.
        """
        known_as, now = _known_as(state), self._clock()
        record = await self._store.read(known_as)
        if record is None:
            raise CallbackRefused(wording.callback_unknown())
        if record.expires <= now:
            raise CallbackRefused(
                "This took too long. Nothing was connected; start again from the page you came from.", status=410
            )
        data: dict[str, str] = json.loads(record.data)
        if not browser or not hmac.compare_digest(data["browser"], _mark(state, browser)):
            raise CallbackRefused(
                (
                    "This was started in another browser, so nothing was connected. If it was you, go on there. If "
                    "somebody sent you here, close this page."
                ),
                status=403,
            )
        if not owner or record.owner != owner:
            raise CallbackRefused("This was started by somebody else, so nothing was connected.", status=403)
        if await self._store.consume(known_as, owner=owner, now=now) is None:
            raise CallbackRefused(
                (
                    "This answer was used already. If you are still asked to connect, start again from the page "
                    "you came from."
                ),
                status=410,
            )
        try:
            sealed = self._vault.unseal(owner, known_as, data["sealed"])
        except VaultLocked:  # its key is gone, or somebody moved it: the user starts again
            raise CallbackRefused(wording.callback_unknown()) from None
        return Started(sealed["id"], data["provider"], data["redirect_uri"], sealed["verifier"])


def _known_as(state: str) -> str:
    digest = hashlib.sha256(b"midcall/oauth-state\0" + state.encode("utf-8", "replace")).digest()
    return urlsafe_b64encode(digest).decode().rstrip("=")


def _mark(state: str, browser: str) -> str:
    """This browser, for whoever knows the state."""
    return hmac.new(state.encode("utf-8", "replace"), browser.encode(), hashlib.sha256).hexdigest()
