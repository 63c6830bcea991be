"""Where a provider's endpoints are: as the author describes them, or as it publishes them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from midcall.errors import ProviderFailed
from midcall.portal.oauth.errors import unreachable, unreadable
from midcall.portal.oauth.provider import Provider, TokenAuth
from midcall.web.fetching import Cache, Published, Unavailable, fetch

logger = logging.getLogger("midcall.portal.oauth")

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


class Directory:
    """The endpoints of providers. Metadata is fetched when it is first needed, and cached for a while."""

    def __init__(self, clock: Callable[[], float], timeout: float) -> None:
        self._clock = clock
        self._timeout = timeout
        self._known: dict[Provider, Cache[Endpoints]] = {}

    async def of(self, provider: Provider) -> Endpoints:
        """Raises `ProviderFailed` if they cannot be fetched, or are invalid."""
        if not provider.uses_discovery:
            return _from_settings(provider)
        if provider not in self._known:
            self._known[provider] = Cache(lambda: self._read(provider), self._clock)
        return await self._known[provider].get()

    async def _read(self, provider: Provider) -> Endpoints:
        for url in _well_known(provider.issuer or ""):
            try:
                return _from_metadata(provider, await fetch(url, provider.reach, timeout=self._timeout))
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
