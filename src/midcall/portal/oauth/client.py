"""OAuth, from consent on our page to an access token that works."""

from __future__ import annotations

import logging
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from starlette.datastructures import QueryParams

from midcall.errors import CallbackRefused, InstallError, Misuse, ProviderFailed
from midcall.language import _
from midcall.portal.oauth.endpoint import Endpoint, Endpoints, rejection
from midcall.portal.oauth.errors import no_such_flow, unreadable
from midcall.portal.oauth.flows import Flow, Flows
from midcall.portal.oauth.provider import Provider
from midcall.portal.oauth.renewal import Note, Renewal
from midcall.portal.oauth.tokens import Tokens, vault_name
from midcall.portal.vault import Vault
from midcall.stores.base import Store
from midcall.stores.interactions import short

logger = logging.getLogger("midcall.portal.oauth")


@dataclass(frozen=True, slots=True)
class Granted:
    """What a provider granted. It isn't stored yet."""

    provider: Provider
    tokens: Tokens = field(repr=False)


@dataclass(frozen=True, slots=True)
class Finished:
    """The outcome of a flow: whether the user agreed.

    No action: the provider says that access was denied, but nothing proves that it was about this flow.
    """

    id: str = field(repr=False)
    action: Literal["accept", "decline"] | None
    granted: Granted | None = field(default=None, compare=False)


class Start(NamedTuple):
    """Where to send the browser."""

    url: str
    state: str


class OAuth:
    """Connects users' accounts at providers.

    Args:
        store: Holds the flows under way.
        vault: Holds the tokens, as `oauth:{provider}`.
        providers: The services where users have accounts.
        redirect_uri: Returns where the provider of this name sends browsers back to, exactly as registered there. Each
            has its own address, or one could pass on the code of another (RFC 9700, 4.4).
        clock: Seconds since the epoch.
        note: Writes to the audit trail.
    """

    def __init__(
        self,
        store: Store,
        vault: Vault,
        providers: Sequence[Provider],
        redirect_uri: Callable[[str], str],
        *,
        clock: Callable[[], float] = time.time,
        note: Note = lambda *_: None,
    ) -> None:
        self._providers = _by_name(providers)
        self._vault = vault
        self._redirect_uri = redirect_uri
        self._clock = clock
        self._endpoint = Endpoint(clock)
        self._flows = Flows(store, vault, clock)
        self._renewal = Renewal(store, vault, self._endpoint, clock, note)

    def provider(self, name: str) -> Provider:
        """Raises `Misuse` if no provider has this name."""
        if name not in self._providers:
            raise Misuse(
                f"There is no provider {name!r}; this portal has {', '.join(list(self._providers)) or 'none'}."
            )
        return self._providers[name]

    async def begin(self, id: str, provider_name: str, owner: str, browser: str) -> Start:
        """Start a flow, after the user agreed on our page.

        Args:
            id: The interaction.
            provider_name: The provider.
            owner: The identity key of the user.
            browser: The mark in this browser's cookie.

        Raises:
            ProviderFailed: The provider's metadata cannot be read.
        """
        provider = self.provider(provider_name)
        flow = Flow(id, provider.name, self._redirect_uri(provider.name), secrets.token_urlsafe(64))
        state = await self._flows.start(flow, owner=owner, browser=browser)
        url = await self._endpoint.authorize_url(
            provider, state=state, verifier=flow.verifier, redirect_uri=flow.redirect_uri
        )
        return Start(url, state)

    async def finish(
        self, params: Mapping[str, str], browser: str, owner: str, *, at: str, pending: Iterable[str] = ()
    ) -> Finished:
        """Finish a flow, after the browser was sent back with this query to the address of the provider `at`.

        Some providers leave the state out when the user denies access. Any site can send a browser here like that, so
        it decides nothing: the user is asked on the page of the only flow with this provider that the browser has
        `pending`. With more than one, nobody knows which.

        Raises:
            CallbackRefused: It does not belong to a flow of this browser and this owner.
            ProviderFailed: The account was not connected. The user can start again.
        """
        _check_once_each(params)
        state = params.get("state", "")
        provider = self._providers.get(at)
        if provider is None:  # there's none of this name, or not in this deployment
            raise no_such_flow()
        if _is_denial_alone(params):
            return Finished(await self._only_pending(pending, params.get("iss"), browser, owner, provider), None)
        flow = await self._flows.take(state, owner=owner, browser=browser, provider=provider.name)
        _check_issuer(params.get("iss"), provider, await self._endpoint.find(provider))
        if "error" in params:
            return _not_granted(params["error"], provider, flow)
        if not params.get("code"):
            raise unreadable(provider.title)
        tokens = await self._endpoint.exchange(
            provider, code=params["code"], verifier=flow.verifier, redirect_uri=flow.redirect_uri
        )
        logger.info("connected to %s: %s", provider.name, short(flow.id))
        return Finished(flow.id, "accept", Granted(provider, tokens))

    async def _only_pending(
        self, pending: Iterable[str], issuer: str | None, browser: str, owner: str, provider: Provider
    ) -> str:
        """The interaction of the only flow with this provider that is pending. The flow stays as it is."""
        flows = [await self._flows.look(state, owner=owner, browser=browser) for state in pending]
        ids = [flow.id for flow in flows if flow is not None and flow.provider == provider.name]
        if len(ids) != 1:
            raise no_such_flow()
        _check_issuer(issuer, provider, await self._endpoint.find(provider))
        return ids[0]

    async def token(self, provider_name: str, owner: str) -> str | None:
        """An access token that works now, renewed if necessary; None if the user must be asked.

        Raises:
            ProviderFailed: It has expired and cannot be renewed just now.
            VaultLocked: It is stored, but cannot be decrypted.
        """
        provider = self.provider(provider_name)
        entry = await self._vault.entry(owner, vault_name(provider))
        if entry is None or not (tokens := Tokens.load(entry.value)).is_for(provider):
            return None
        if tokens.renew > self._clock():
            return tokens.access
        works = tokens.access if tokens.expires > self._clock() else None
        if not tokens.refresh:
            return works
        try:
            renewed = await self._renewal.renew(provider, owner, entry, tokens)
        except ProviderFailed:
            if works is None:
                raise
            logger.warning("%s could not renew an access token; the last one still works", provider.name)
            return works
        return None if renewed is None else renewed.access

    async def give_back(self, granted: Granted) -> None:
        """Revoke what was granted and isn't wanted any more.

        Raises:
            ProviderFailed: The provider could not be told.
        """
        await self._endpoint.revoke(granted.provider, granted.tokens)

    async def revoke(self, provider_name: str, owner: str) -> None:
        """Delete the access, and revoke it at the provider if it supports that (RFC 7009).

        Raises:
            ProviderFailed: It was deleted here, but not revoked at the provider.
        """
        provider = self.provider(provider_name)
        entry = await self._vault.entry(owner, vault_name(provider))
        await self._vault.forget(owner, vault_name(provider))
        if entry is None or not (tokens := Tokens.load(entry.value)).is_for(provider):
            return
        try:
            await self._endpoint.revoke(provider, tokens)
        except ProviderFailed:
            raise ProviderFailed(
                f"The access was deleted here, but could not be revoked at {provider.title}.",
                advice=f"Revoke it in the account's settings at {provider.title}.",
            ) from None


def _by_name(providers: Sequence[Provider]) -> dict[str, Provider]:
    for name, count in Counter(provider.name for provider in providers).items():
        if count > 1:
            raise InstallError(f"Two providers are called {name!r}.")
    return {provider.name: provider for provider in providers}


def _check_once_each(params: Mapping[str, str]) -> None:
    """Reject duplicate parameters: two programs could each read a different one."""
    if isinstance(params, QueryParams):
        for name, count in Counter(name for name, _value in params.multi_items()).items():
            if count > 1 and name in ("state", "code", "error", "iss"):
                raise CallbackRefused(_("This response has {name} twice, so nothing was connected.").format(name=name))


def _is_denial_alone(params: Mapping[str, str]) -> bool:
    return "state" not in params and "code" not in params and params.get("error") == "access_denied"


def _check_issuer(said: str | None, provider: Provider, endpoints: Endpoints) -> None:
    """Check that the provider we asked is the one that responds (RFC 9207); otherwise its code would go to another."""
    refused = _("This response does not come from {provider}. Nothing was connected.").format(provider=provider.title)
    expected = endpoints.issuer or _origin(endpoints.authorize)
    if said is None and endpoints.sends_issuer:
        raise CallbackRefused(refused, status=403, advice=f"It does not name its issuer, which should be {expected}.")
    if said is not None and expected != (said if endpoints.issuer else _origin(said)):
        raise CallbackRefused(
            refused,
            status=403,
            advice=(
                f"It names the issuer {said!r}; expected {expected!r}. If both mean the same provider, set issuer=."
            ),
        )


def _origin(url: str) -> str:
    try:
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.netloc}".lower()
    except ValueError:
        return ""


def _not_granted(error: str, provider: Provider, flow: Flow) -> Finished:
    logger.info("not connected to %s: %s", provider.name, short(flow.id))
    if error == "access_denied":
        return Finished(flow.id, "decline")
    raise rejection(provider, error)
