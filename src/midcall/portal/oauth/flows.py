"""Flows under way, from consent on our page until the browser comes back.

The store has each flow by its `state`, which works once, for ten minutes, in the browser that started it. A signed
cookie has the states of this browser's flows: a provider that denies access may leave the state out.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, cast

from starlette.responses import Response

from midcall.errors import CallbackRefused, Misuse
from midcall.language import _
from midcall.portal.oauth.errors import no_such_flow
from midcall.portal.vault import Vault, VaultLocked
from midcall.settings.portal import CONSENT_SECONDS, MAX_CONSENTS
from midcall.stores.base import Record, Store
from midcall.stores.interactions import digest_of
from midcall.web.cookies import Cookies

_KIND: Final = "oauth-state"


@dataclass(frozen=True, slots=True)
class Flow:
    """A flow under way. Only its browser knows the state, and only we the verifier."""

    id: str = field(repr=False)
    """Of the interaction."""
    provider: str
    redirect_uri: str
    verifier: str = field(repr=False)


class Flows:
    """Flows in the store, so that any replica can continue them.

    A record's id is a digest of the state, and the verifier and the interaction's id are sealed: nobody can finish a
    flow with what the store holds.
    """

    def __init__(self, store: Store, vault: Vault, clock: Callable[[], float]) -> None:
        self._store = store
        self._vault = vault
        self._clock = clock

    async def start(self, flow: Flow, *, owner: str, browser: str) -> str:
        """Store this flow, and return its state."""
        if not owner or not browser:
            raise Misuse("Connecting an account needs a known user, in a browser with our cookie.")
        state, now = secrets.token_urlsafe(32), self._clock()
        sealed = self._vault.seal(owner, _record_id(state), {"id": flow.id, "verifier": flow.verifier})
        data = {
            "provider": flow.provider,
            "redirect_uri": flow.redirect_uri,
            "browser": _mark(state, browser),
            "sealed": sealed,
        }
        await self._store.create(Record(_record_id(state), _KIND, owner, json.dumps(data), now, now + CONSENT_SECONDS))
        return state

    async def look(self, state: str, *, owner: str, browser: str) -> Flow | None:
        """This flow, for its owner and in its browser; None if it is over. It can still be taken."""
        record = await self._store.read(_record_id(state))
        if record is None or record.expires <= self._clock() or record.consumed or record.owner != owner:
            return None
        data: dict[str, str] = json.loads(record.data)
        if not hmac.compare_digest(data["browser"], _mark(state, browser)):
            return None
        return self._open(record, data)

    async def take(self, state: str, *, owner: str, browser: str, provider: str) -> Flow:
        """The flow of this state, for its owner, in its browser, at the address of its provider, in time, and once.

        Raises:
            CallbackRefused: One of these does not hold.
        """
        record_id, now = _record_id(state), self._clock()
        record = await self._store.read(record_id)
        if record is None:
            raise no_such_flow()
        if record.expires <= now:
            raise CallbackRefused(
                _("This took too long. Nothing was connected. Start again from the page you came from."), status=410
            )
        data: dict[str, str] = json.loads(record.data)
        if not browser or not hmac.compare_digest(data["browser"], _mark(state, browser)):
            raise CallbackRefused(
                _(
                    "This was started in another browser, so nothing was connected. If that was you, continue there. "
                    "If somebody sent you here, close this page."
                ),
                status=403,
            )
        if not owner or record.owner != owner:
            raise CallbackRefused(_("This was started by somebody else, so nothing was connected."), status=403)
        if data["provider"] != provider:
            raise CallbackRefused(
                _("This response came to the address of another service. Nothing was connected."), status=403
            )
        if await self._store.consume(record_id, owner=owner, now=now) is None:
            raise CallbackRefused(
                _(
                    "This response was used already. If you are still asked to connect, start again from the page "
                    "you came from."
                ),
                status=410,
            )
        if (flow := self._open(record, data)) is None:
            raise no_such_flow()
        return flow

    def _open(self, record: Record, data: Mapping[str, str]) -> Flow | None:
        try:
            sealed = self._vault.unseal(record.owner, record.id, data["sealed"])
        except VaultLocked:  # its key is missing, or somebody moved it: the user starts again
            return None
        return Flow(sealed["id"], data["provider"], data["redirect_uri"], sealed["verifier"])


def _record_id(state: str) -> str:
    digest = hashlib.sha256(b"midcall/oauth-state\0" + state.encode("utf-8", "replace")).digest()
    return urlsafe_b64encode(digest).decode().rstrip("=")


def _mark(state: str, browser: str) -> str:
    """This browser, for anyone who knows the state."""
    return hmac.new(state.encode("utf-8", "replace"), browser.encode(), hashlib.sha256).hexdigest()


# --- in the browser --------------------------------------------------------------------------

_COOKIE: Final = "connecting"


def pending(cookies: Cookies, sent: Mapping[str, str]) -> dict[str, str]:
    """The states of this browser's flows, by interaction."""
    return cast("dict[str, str] | None", cookies.get(sent, _COOKIE, within=CONSENT_SECONDS)) or {}


def remember(cookies: Cookies, sent: Mapping[str, str], response: Response, id: str, state: str) -> None:
    """Add a flow to this browser's cookie. Only the newest state of an interaction counts."""
    short = _short(id)
    others = [(each, of) for each, of in pending(cookies, sent).items() if each != short]
    cookies.set(response, _COOKIE, dict([*others[1 - MAX_CONSENTS :], (short, state)]), seconds=CONSENT_SECONDS)


def forget(cookies: Cookies, sent: Mapping[str, str], response: Response, id: str) -> None:
    """Remove a flow that has come back."""
    left = {each: state for each, state in pending(cookies, sent).items() if each != _short(id)}
    if left:
        cookies.set(response, _COOKIE, left, seconds=CONSENT_SECONDS)
    else:
        cookies.drop(response, _COOKIE)


def _short(id: str) -> str:
    return digest_of(id)[:12]
