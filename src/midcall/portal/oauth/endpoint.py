"""Requests to a provider, through Authlib, on the HTTP client of the MCP SDK.

Where its endpoints are is what the author says, or what the provider publishes.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, Self, cast
from urllib.parse import urlsplit

import httpx2
from authlib.integrations.base_client import OAuthError as AuthlibError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from authlib.oauth2.client import OAuth2Client

from midcall.errors import ProviderFailed
from midcall.language import _
from midcall.portal.oauth.errors import TRY_LATER, GrantRefused, unreachable, unreadable
from midcall.portal.oauth.provider import Provider, TokenAuth
from midcall.portal.oauth.tokens import Tokens
from midcall.settings.portal import PROVIDER_TIMEOUT_SECONDS
from midcall.web.fetching import Cache, Fence, Published, Unavailable, fetch

logger = logging.getLogger("midcall.portal.oauth")

_REFUSED: Final = frozenset({"invalid_grant", "bad_refresh_token", "bad_verification_code"})
"""The code or the refresh token is not valid, or no longer; the last two are GitHub's names for it."""
_CODE: Final = re.compile(r"[a-z][a-z0-9_.\-]{0,60}")
_CHECK_ISSUER: Final = "Check issuer=, or describe the provider with authorize_url= and token_url=."


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The URLs of a provider, and what it supports."""

    authorize: str
    token: str
    revoke: str | None
    issuer: str | None
    sends_issuer: bool
    token_auth: TokenAuth


class _Client(Protocol):
    """The part of Authlib's client that we use; it has no types."""

    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, *exc: object) -> None: ...
    def fetch_token(self, url: str, **parameters: str) -> Awaitable[Mapping[str, Any]]: ...
    def refresh_token(self, url: str, **parameters: str) -> Awaitable[Mapping[str, Any]]: ...
    def revoke_token(self, url: str, **parameters: str) -> Awaitable[httpx2.Response]: ...


class Endpoint:
    """Sends requests to the endpoints of providers.

    Raises:
        ProviderFailed: From every method, if the provider is unreachable, rejects the request, or makes no sense.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._known: dict[Provider, Cache[Endpoints]] = {}

    async def find(self, provider: Provider) -> Endpoints:
        """Its endpoints. Metadata is fetched when it is first needed, and cached for a while."""
        if not provider.uses_discovery:
            return _from_settings(provider)
        if provider not in self._known:
            self._known[provider] = Cache(lambda: _discover(provider), self._clock)
        return await self._known[provider].get()

    async def authorize_url(self, provider: Provider, *, state: str, verifier: str, redirect_uri: str) -> str:
        """The URL where the user agrees."""
        endpoints = await self.find(provider)
        extra = {"redirect_uri": redirect_uri, **provider.extra, **_resource(provider)}
        if provider.scopes:
            extra["scope"] = " ".join(provider.scopes)
        writer: Any = OAuth2Client(None, client_id=provider.client_id, code_challenge_method="S256")
        return writer.create_authorization_url(endpoints.authorize, state, verifier, **extra)[0]

    async def exchange(self, provider: Provider, *, code: str, verifier: str, redirect_uri: str) -> Tokens:
        """Exchange a code for tokens."""
        asked = {"code": code, "code_verifier": verifier, "redirect_uri": redirect_uri, **_resource(provider)}
        return await self._tokens(
            provider, lambda client, url: client.fetch_token(url, grant_type="authorization_code", **asked)
        )

    async def renew(self, provider: Provider, tokens: Tokens) -> Tokens:
        """Exchange a refresh token for new tokens. A provider that rotates accepts it once."""
        asked = {"refresh_token": tokens.refresh, **_resource(provider)}
        return await self._tokens(provider, lambda client, url: client.refresh_token(url, **asked), before=tokens)

    async def revoke(self, provider: Provider, tokens: Tokens) -> None:
        """Revoke the tokens (RFC 7009), if the provider supports that."""
        endpoints = await self.find(provider)
        given = {"refresh_token": tokens.refresh, "access_token": tokens.access}
        for hint, token in given.items():
            if endpoints.revoke and token:
                await self._revoke_token(provider, endpoints, token, hint)

    async def _revoke_token(self, provider: Provider, endpoints: Endpoints, token: str, hint: str) -> None:
        async def ask(client: _Client) -> int:
            answer = await client.revoke_token(endpoints.revoke or "", token=token, token_type_hint=hint)
            return 200 if "unsupported_token_type" in answer.text else answer.status_code

        if await self._ask(provider, endpoints, ask) >= 400:
            raise unreadable(provider.title)

    async def _tokens(
        self,
        provider: Provider,
        ask: Callable[[_Client, str], Awaitable[Mapping[str, Any]]],
        *,
        before: Tokens | None = None,
    ) -> Tokens:
        endpoints, now = await self.find(provider), self._clock()
        answer = await self._ask(provider, endpoints, lambda client: ask(client, endpoints.token))
        tokens = Tokens.from_response(answer, provider, now=now, before=before)
        if tokens is None:
            raise unreadable(provider.title)
        return tokens

    async def _ask(self, provider: Provider, endpoints: Endpoints, ask: Callable[[_Client], Awaitable[Any]]) -> Any:
        """Every failure is one of our errors, without a cause: a response may quote what we sent."""
        try:
            async with asyncio.timeout(PROVIDER_TIMEOUT_SECONDS), self._client(provider, endpoints) as client:
                return await ask(client)
        except AuthlibError as exc:
            failure = rejection(provider, exc.error)
        except httpx2.HTTPStatusError as exc:
            text = _("{provider} failed with HTTP {status}.")
            failure = ProviderFailed(
                text.format(provider=provider.title, status=exc.response.status_code), advice=TRY_LATER
            )
        except (httpx2.TransportError, TimeoutError):
            failure = unreachable(provider.title)
        except Exception:  # a provider can respond with anything, and Authlib can fail on it in any way
            failure = unreadable(provider.title)
        raise failure

    def _client(self, provider: Provider, endpoints: Endpoints) -> _Client:
        client: Any = AsyncOAuth2Client(
            client_id=provider.client_id,
            client_secret=provider.client_secret,
            token_endpoint_auth_method=endpoints.token_auth,
            revocation_endpoint_auth_method=endpoints.token_auth,
            timeout=PROVIDER_TIMEOUT_SECONDS,
            transport=Fence(provider.reach if provider.uses_discovery else None),
            follow_redirects=False,
        )
        return cast("_Client", client)


def rejection(provider: Provider, given: object) -> ProviderFailed:
    """The provider's name for an error, if it is one. Nothing else that it says is passed on."""
    error = given if isinstance(given, str) and _CODE.fullmatch(given) else "an unknown error"
    kind = GrantRefused if error in _REFUSED else ProviderFailed
    text = _("{provider} did not connect the account ({error}).").format(provider=provider.title, error=error)
    return kind(text, advice=TRY_LATER)


def _resource(provider: Provider) -> dict[str, str]:
    return {"resource": provider.resource} if provider.resource else {}


# --- where they are --------------------------------------------------------------------------


async def _discover(provider: Provider) -> Endpoints:
    for url in _well_known(provider.issuer or ""):
        try:
            return _from_metadata(provider, await fetch(url, provider.reach))
        except Unavailable as exc:
            if exc.status is None or exc.status >= 500:
                logger.warning("%s cannot be used: %s", provider.name, exc)
                raise unreachable(provider.title) from None
            if exc.status == 200:
                raise unreadable(provider.title, _CHECK_ISSUER) from None
    missing = f"{provider.title} publishes no metadata at {provider.issuer}."
    raise ProviderFailed(missing, advice=_CHECK_ISSUER)


def _well_known(issuer: str) -> tuple[str, str]:
    """OpenID Connect appends its path to the issuer's, RFC 8414 puts it before."""
    parts = urlsplit(issuer)
    path = parts.path.rstrip("/")
    return (
        f"{issuer.rstrip('/')}/.well-known/openid-configuration",
        f"{parts.scheme}://{parts.netloc}/.well-known/oauth-authorization-server{path}",
    )


def _from_settings(provider: Provider) -> Endpoints:
    return Endpoints(
        authorize=provider.authorize_url or "",
        token=provider.token_url or "",
        revoke=provider.revoke_url,
        issuer=provider.issuer,
        sends_issuer=provider.sends_issuer,
        token_auth=provider.token_auth or ("client_secret_basic" if provider.client_secret else "none"),
    )


def _from_metadata(provider: Provider, metadata: Mapping[str, Any]) -> Endpoints:
    """The published endpoints, if the metadata names this issuer: anyone can publish somebody else's."""
    issuer = metadata.get("issuer")
    if issuer != provider.issuer:
        raise ProviderFailed(
            f"The metadata of {provider.title} names the issuer {issuer!r}, not {provider.issuer!r}.",
            advice="issuer= must match what the provider publishes exactly, including a slash at the end.",
        )
    try:
        return _from_published(provider, Published(metadata, provider.reach))
    except Unavailable as exc:
        raise ProviderFailed(f"{provider.title} can't be used: {exc}.") from None


def _from_published(provider: Provider, published: Published) -> Endpoints:
    methods = published.texts("code_challenge_methods_supported")
    if methods is not None and "S256" not in methods:
        raise ProviderFailed(f"{provider.title} does not support PKCE with S256, which midcall requires.")
    return Endpoints(
        authorize=published.url("authorization_endpoint"),
        token=published.url("token_endpoint"),
        revoke=published.url_if_any("revocation_endpoint") or None,
        issuer=provider.issuer,
        sends_issuer=published.flag("authorization_response_iss_parameter_supported"),
        token_auth=_token_auth(provider, published),
    )


def _token_auth(provider: Provider, published: Published) -> TokenAuth:
    """The author's choice, or the first that both sides support."""
    if provider.token_auth or not provider.client_secret:
        return provider.token_auth or "none"
    methods = published.texts("token_endpoint_auth_methods_supported")
    if not methods or "client_secret_basic" in methods:
        return "client_secret_basic"
    if "client_secret_post" in methods:
        return "client_secret_post"
    raise ProviderFailed(
        f"{provider.title} authenticates clients by {', '.join(methods)} only, which is not supported."
    )
