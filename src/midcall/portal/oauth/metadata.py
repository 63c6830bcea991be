"""Where a provider's endpoints are: as the author describes them, or as it publishes them."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, cast
from urllib.parse import urlsplit

import httpx2

from midcall.core.urls import is_safe
from midcall.errors import ProviderFailed
from midcall.portal.oauth.errors import unreachable, unreadable
from midcall.portal.oauth.provider import Provider, TokenAuth
from midcall.settings import PROVIDER_FRESH_SECONDS

_CHECK_ISSUER: Final = "Check issuer=, or describe the provider with authorize_url= and token_url=."


@cache
def trust() -> ssl.SSLContext:
    """The certificates that we trust, loaded once: loading takes as long as a request."""
    return httpx2.create_ssl_context()


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The URLs of a provider, and what it supports."""

    authorize: str
    token: str
    revoke: str | None
    issuer: str | None
    sends_issuer: bool
    token_auth: TokenAuth


class Directory:
    """The endpoints of providers. Metadata is fetched when it is first needed, and cached for a while."""

    def __init__(self, clock: Callable[[], float], timeout: float) -> None:
        self._clock = clock
        self._timeout = timeout
        self._known: dict[Provider, tuple[float, Endpoints]] = {}

    async def of(self, provider: Provider) -> Endpoints:
        """Raises `ProviderFailed` if they cannot be fetched, or are invalid."""
        if not provider.uses_discovery:
            return _from_settings(provider)
        read, endpoints = self._known.get(provider, (0.0, None))
        if endpoints is None or self._clock() - read > PROVIDER_FRESH_SECONDS:
            endpoints = _from_metadata(provider, await self._read(provider))
            self._known[provider] = (self._clock(), endpoints)
        return endpoints

    async def _read(self, provider: Provider) -> Mapping[str, Any]:
        for url in _well_known(provider.issuer or ""):
            answer = await self._get(provider, url)
            if answer.status_code == 200:
                return _object(provider, answer)
            if answer.status_code >= 500:
                raise unreachable(provider.title)
        missing = f"{provider.title} publishes no metadata at {provider.issuer}."
        raise ProviderFailed(missing, advice=_CHECK_ISSUER)

    async def _get(self, provider: Provider, url: str) -> httpx2.Response:
        try:
            http = httpx2.AsyncClient(timeout=self._timeout, verify=trust())
            async with asyncio.timeout(self._timeout), http:
                return await http.get(url, headers={"Accept": "application/json"})
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError):
            raise unreachable(provider.title) from None


def _well_known(issuer: str) -> tuple[str, str]:
    """OpenID Connect appends its path to the issuer's, RFC 8414 puts it before."""
    parts = urlsplit(issuer)
    path = parts.path.rstrip("/")
    return (
        f"{issuer.rstrip('/')}/.well-known/openid-configuration",
        f"{parts.scheme}://{parts.netloc}/.well-known/oauth-authorization-server{path}",
    )


def _object(provider: Provider, answer: httpx2.Response) -> Mapping[str, Any]:
    try:
        content: object = answer.json()
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise unreadable(provider.title, _CHECK_ISSUER)
    return cast("dict[str, Any]", content)


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
    methods = metadata.get("code_challenge_methods_supported")
    if isinstance(methods, list) and "S256" not in methods:
        raise ProviderFailed(f"{provider.title} does not support PKCE with S256, which midcall requires.")
    return Endpoints(
        authorize=_endpoint(provider, metadata, "authorization_endpoint"),
        token=_endpoint(provider, metadata, "token_endpoint"),
        revoke=_endpoint(provider, metadata, "revocation_endpoint") if metadata.get("revocation_endpoint") else None,
        issuer=provider.issuer,
        sends_issuer=metadata.get("authorization_response_iss_parameter_supported") is True,
        token_auth=_token_auth(provider, metadata),
    )


def _endpoint(provider: Provider, metadata: Mapping[str, Any], name: str) -> str:
    url = metadata.get(name)
    if not isinstance(url, str) or not is_safe(url):
        raise ProviderFailed(f"The metadata of {provider.title} has no usable {name}: it must be an https URL.")
    return url


def _token_auth(provider: Provider, metadata: Mapping[str, Any]) -> TokenAuth:
    """The author's choice, or the first that both sides support."""
    if provider.token_auth or not provider.client_secret:
        return provider.token_auth or "none"
    offered = metadata.get("token_endpoint_auth_methods_supported")
    methods = [str(each) for each in cast("list[object]", offered)] if isinstance(offered, list) else []
    if not methods or "client_secret_basic" in methods:
        return "client_secret_basic"
    if "client_secret_post" in methods:
        return "client_secret_post"
    raise ProviderFailed(
        f"{provider.title} authenticates clients by {', '.join(methods)} only, which is not supported."
    )
