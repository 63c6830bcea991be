"""Where a provider's endpoints are: as described, or as it publishes them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast
from urllib.parse import urlsplit

import httpx2

from midcall.portal.oauth.errors import ProviderFailed
from midcall.portal.oauth.provider import Provider, TokenAuth, is_safe
from midcall.portal.oauth.trust import trusted
from midcall.wording import oauth as wording

__all__ = ["Directory", "Endpoints"]

FRESH: Final = 3600.0
"""For how many seconds what a provider publishes is not read again."""


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Where to go, and what to expect there."""

    authorize: str
    token: str
    revoke: str | None
    issuer: str | None
    sends_issuer: bool
    token_auth: TokenAuth


class Directory:
    """The endpoints of providers. Metadata is read when it is first needed, and then kept for a while."""

    def __init__(self, clock: Callable[[], float], timeout: float) -> None:
        self._clock = clock
        self._timeout = timeout
        self._known: dict[Provider, tuple[float, Endpoints]] = {}

    async def of(self, provider: Provider) -> Endpoints:
        """Raises `ProviderFailed` where they cannot be read, or cannot be right."""
        if not provider.discovered:
            return _described(provider)
        read, endpoints = self._known.get(provider, (0.0, None))
        if endpoints is None or self._clock() - read > FRESH:
            endpoints = _published(provider, await self._read(provider))
            self._known[provider] = (self._clock(), endpoints)
        return endpoints

    async def _read(self, provider: Provider) -> Mapping[str, Any]:
        for url in _well_known(provider.issuer or ""):
            answer = await self._get(provider, url)
            if answer.status_code == 200:
                return _object(provider, answer)
            if answer.status_code >= 500:
                raise ProviderFailed(wording.provider_silent(provider.title), advice=wording.provider_failed_advice())
        missing = f"{provider.title} publishes no metadata under {provider.issuer or ''}."
        raise ProviderFailed(missing, advice=_metadata_missing_advice())

    async def _get(self, provider: Provider, url: str) -> httpx2.Response:
        try:
            http = httpx2.AsyncClient(timeout=self._timeout, verify=trusted())
            async with asyncio.timeout(self._timeout), http:
                return await http.get(url, headers={"Accept": "application/json"})
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError):
            silent = wording.provider_silent(provider.title)
            raise ProviderFailed(silent, advice=wording.provider_failed_advice()) from None


def _well_known(issuer: str) -> tuple[str, str]:
    """OpenID Connect puts its path behind the issuer's, RFC 8414 puts it before."""
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
        raise ProviderFailed(wording.provider_garbled(provider.title), advice=_metadata_missing_advice())
    return cast("dict[str, Any]", content)


def _described(provider: Provider) -> Endpoints:
    return Endpoints(
        authorize=provider.authorize_url or "",
        token=provider.token_url or "",
        revoke=provider.revoke_url,
        issuer=provider.issuer,
        sends_issuer=provider.sends_issuer,
        token_auth=provider.token_auth or ("client_secret_basic" if provider.client_secret else "none"),
    )


def _published(provider: Provider, metadata: Mapping[str, Any]) -> Endpoints:
    """What it publishes, if it is this provider that does: anybody can publish somebody else's endpoints."""
    issuer = metadata.get("issuer")
    if issuer != provider.issuer:
        wrong = f"The metadata of {provider.title} is for the issuer {issuer!r}, and not for {provider.issuer!r}."
        raise ProviderFailed(
            wrong,
            advice="issuer= must be written exactly as the provider writes it, with or without a slash at the end.",
        )
    methods = metadata.get("code_challenge_methods_supported")
    if isinstance(methods, list) and "S256" not in methods:
        raise ProviderFailed(
            f"{provider.title} does not support PKCE with S256, without which no account is connected."
        )
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
    """The author's choice, else the first that both of us know."""
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


def _metadata_missing_advice() -> str:
    return "Check issuer=, or describe the provider by its authorize_url= and token_url=."
