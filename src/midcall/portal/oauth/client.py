"""The whole of it: from consent on our page to a live access token."""

from __future__ import annotations

import logging
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple
from urllib.parse import urlsplit

from starlette.datastructures import QueryParams

from midcall.errors import InstallError, Misuse
from midcall.portal.oauth.endpoint import Endpoint, error_code
from midcall.portal.oauth.errors import CallbackRefused, ProviderFailed
from midcall.portal.oauth.metadata import Directory, Endpoints
from midcall.portal.oauth.provider import Provider
from midcall.portal.oauth.renewing import Renewing
from midcall.portal.oauth.states import Started, States
from midcall.portal.oauth.tokens import Tokens, vault_name
from midcall.portal.vault import Vault
from midcall.stores.base import Store
from midcall.stores.interactions import short
from midcall.wording import oauth as wording

__all__ = ["Finished", "OAuth"]

TIMEOUT: Final = 10.0
"""How long a provider may take to answer."""

logger = logging.getLogger("midcall.portal.oauth")


@dataclass(frozen=True, slots=True)
class Finished:
    """What came of a flow: for this interaction, the user agreed or did not."""

    id: str = field(repr=False)
    action: Literal["accept", "decline"]


class Begun(NamedTuple):
    """A flow that a browser is sent on to."""

    url: str
    state: str


class OAuth:
    """Connects users' accounts with providers.

    Args:
        store: Holds the flows under way.
        vault: Holds the tokens, as `oauth:{provider}`.
        providers: With whom accounts can be connected.
        redirect_uri: Tells where providers send browsers back to; they must know it, letter by letter.
        clock: Seconds since the epoch.
        timeout: Seconds that a provider may take to answer.
    """

    def __init__(
        self,
        store: Store,
        vault: Vault,
        providers: Sequence[Provider],
        redirect_uri: Callable[[], str],
        *,
        clock: Callable[[], float] = time.time,
        timeout: float = TIMEOUT,
    ) -> None:
        self._providers = _by_name(providers)
        self._vault = vault
        self._redirect_uri = redirect_uri
        self._clock = clock
        self._directory = Directory(clock, timeout)
        self._endpoint = Endpoint(self._directory, clock, timeout)
        self._states = States(store, vault, clock)
        self._renewing = Renewing(store, vault, self._endpoint, clock, lease=2 * timeout)

    def provider(self, name: str) -> Provider:
        """Raises `Misuse` if there is none of this name."""
        if name not in self._providers:
            raise Misuse(
                f"There is no provider {name!r}; this portal has {', '.join(list(self._providers)) or 'none'}."
            )
        return self._providers[name]

    async def begin(self, id: str, provider_name: str, owner: str, browser: str) -> Begun:
        """Where to send this browser, now that the user has agreed on our page.

        Args:
            id: The interaction.
            provider_name: With whom.
            owner: Who sits before the browser, as proven just now.
            browser: What this browser's cookie holds.

        Raises:
            ProviderFailed: The provider's metadata cannot be read.
        """
        provider = self.provider(provider_name)
        started = Started(id, provider.name, self._redirect_uri(), secrets.token_urlsafe(64))
        state = await self._states.start(started, owner=owner, browser=browser)
        url = await self._endpoint.authorize_url(
            provider, state=state, verifier=started.verifier, redirect_uri=started.redirect_uri
        )
        return Begun(url, state)

    async def finish(
        self, params: Mapping[str, str], browser: str, owner: str, *, pending: Iterable[str] = ()
    ) -> Finished:
        """The provider has sent a browser back, with these parameters in the query.

        Some leave the state out when the user denies access. Then it is that of the only flow among those that this
        browser has `pending`; with more than one, nobody knows which is meant.

        Raises:
            CallbackRefused: It is not the answer to a flow of this browser and this owner.
            ProviderFailed: The account was not connected. The user can start again.
        """
        _check_once_each(params)
        state = params.get("state", "")
        if _is_denial_alone(params):
            state = await self._only(pending, params.get("iss"), browser, owner)
        started = await self._states.take(state, owner=owner, browser=browser)
        provider = self._providers.get(started.provider)
        if provider is None:  # not in this deployment (any more)
            raise CallbackRefused(wording.callback_unknown())
        _check_issuer(params.get("iss"), provider, await self._directory.of(provider))
        if "error" in params:
            return _not_granted(params["error"], provider, started)
        if not params.get("code"):
            raise ProviderFailed(f"{provider.title} did not connect the account (its answer is incomplete).")
        tokens = await self._endpoint.exchange(
            provider, code=params["code"], verifier=started.verifier, redirect_uri=started.redirect_uri
        )
        await self._vault.keep(owner, vault_name(provider), tokens.kept(), now=self._clock())
        logger.info("connected with %s: %s", provider.name, short(started.id))
        return Finished(started.id, "accept")

    async def _only(self, pending: Iterable[str], issuer: str | None, browser: str, owner: str) -> str:
        """The state of the only flow that is under way; nothing is used up before the issuer was looked at."""
        named = [(state, await self._states.provider_of(state, owner=owner, browser=browser)) for state in pending]
        open = [(state, self._providers[name]) for state, name in named if name in self._providers]
        if len(open) != 1:
            return ""
        [(state, provider)] = open
        _check_issuer(issuer, provider, await self._directory.of(provider))
        return state

    async def token(self, provider_name: str, owner: str) -> str | None:
        """An access token that works now, renewed if need be; None where the user must be asked (again).

        Raises:
            ProviderFailed: It has run out and cannot be renewed just now.
            VaultLocked: It is kept, and cannot be opened.
        """
        provider = self.provider(provider_name)
        entry = await self._vault.entry(owner, vault_name(provider))
        if entry is None or not (tokens := Tokens.of(entry.value)).is_for(provider):
            return None
        if tokens.renew > self._clock():
            return tokens.access
        works = tokens.access if tokens.expires > self._clock() else None
        if not tokens.refresh:
            return works
        try:
            renewed = await self._renewing.renew(provider, owner, entry, tokens)
        except ProviderFailed:
            if works is None:
                raise
            logger.warning("%s could not renew an access; what it gave last still works", provider.name)
            return works
        return None if renewed is None else renewed.access

    async def revoke(self, provider_name: str, owner: str) -> None:
        """Forget this account, and give its access back where the provider takes it (RFC 7009).

        Raises:
            ProviderFailed: It is forgotten here, but the provider could not be told.
        """
        provider = self.provider(provider_name)
        entry = await self._vault.entry(owner, vault_name(provider))
        await self._vault.forget(owner, vault_name(provider))
        if entry is None or not (tokens := Tokens.of(entry.value)).is_for(provider):
            return
        try:
            await self._endpoint.revoke(provider, tokens)
        except ProviderFailed:
            told = (
                f"The account at {provider.title} is forgotten here, but {provider.title} could not be told.",
                f"Remove the access in the account's settings at {provider.title}, too.",
            )
            raise ProviderFailed(told[0], advice=told[1]) from None


def _by_name(providers: Sequence[Provider]) -> dict[str, Provider]:
    for name, count in Counter(provider.name for provider in providers).items():
        if count > 1:
            raise InstallError(f"Two providers are called {name!r}.")
    return {provider.name: provider for provider in providers}


def _check_once_each(params: Mapping[str, str]) -> None:
    """Two of a kind mean that somebody reads one and somebody else the other."""
    if isinstance(params, QueryParams):
        for name, count in Counter(name for name, _ in params.multi_items()).items():
            if count > 1 and name in ("state", "code", "error", "iss"):
                raise CallbackRefused(f"This answer says {name!r} twice, so nothing was connected.")


def _is_denial_alone(params: Mapping[str, str]) -> bool:
    return "state" not in params and "code" not in params and params.get("error") == "access_denied"


def _check_issuer(said: str | None, provider: Provider, endpoints: Endpoints) -> None:
    """Whether the provider that was asked is the one that answers (RFC 9207): else its code would go to another."""
    refused = f"This answer does not come from {provider.title}, where it was asked for. Nothing was connected."
    expected = endpoints.issuer or _origin(endpoints.authorize)
    if said is None and endpoints.sends_issuer:
        raise CallbackRefused(
            refused, status=403, advice=f"It does not say that it comes from {expected}, as it should."
        )
    if said is not None and expected != (said if endpoints.issuer else _origin(said)):
        raise CallbackRefused(
            refused,
            status=403,
            advice=(
                f"It says that it comes from {said!r}, and {expected!r} was expected. If both are the same, "
                "set issuer=."
            ),
        )


def _origin(url: str) -> str:
    try:
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.netloc}".lower()
    except ValueError:
        return ""


def _not_granted(error: str, provider: Provider, started: Started) -> Finished:
    logger.info("not connected with %s: %s", provider.name, short(started.id))
    if error == "access_denied":
        return Finished(started.id, "decline")
    raise ProviderFailed(
        wording.provider_refused(provider.title, error_code(error)), advice=wording.provider_failed_advice()
    )
