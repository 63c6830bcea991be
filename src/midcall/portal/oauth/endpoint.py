"""What is said to a provider: Authlib speaks, on the HTTP client that the MCP SDK brings."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Protocol, Self, cast

import httpx2
from authlib.integrations.base_client import OAuthError as AuthlibError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from authlib.oauth2.client import OAuth2Client

from midcall.portal.oauth.errors import GrantRefused, ProviderFailed
from midcall.portal.oauth.metadata import Directory, Endpoints
from midcall.portal.oauth.provider import Provider
from midcall.portal.oauth.tokens import Tokens
from midcall.portal.oauth.trust import trusted
from midcall.wording import oauth as wording

__all__ = ["Endpoint", "error_code"]

_REFUSED: Final = frozenset({"invalid_grant", "bad_refresh_token", "bad_verification_code"})
"""The code or the refresh token is not (or no longer) good; the last two are GitHub's words for it."""
_CODE: Final = re.compile(r"[a-z][a-z0-9_.\-]{0,60}")


def error_code(given: object) -> str:
    """An error as a provider names it, if it is a name. What else it says is not passed on."""
    return given if isinstance(given, str) and _CODE.fullmatch(given) else "an unknown error"


class _Client(Protocol):
    """What we use of Authlib's client, which has no types."""

    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, *exc: object) -> None: ...
    def fetch_token(self, url: str, **parameters: str) -> Awaitable[Mapping[str, Any]]: ...
    def refresh_token(self, url: str, **parameters: str) -> Awaitable[Mapping[str, Any]]: ...
    def revoke_token(self, url: str, **parameters: str) -> Awaitable[httpx2.Response]: ...


class Endpoint:
    """The endpoints of providers, as things that can be asked.

    Raises:
        ProviderFailed: From all of them, if the provider is not there, refuses, or makes no sense.
    """

    def __init__(self, directory: Directory, clock: Callable[[], float], timeout: float) -> None:
        self._directory = directory
        self._clock = clock
        self._timeout = timeout

    async def authorize_url(self, provider: Provider, *, state: str, verifier: str, redirect_uri: str) -> str:
        """Where the user agrees, with all that the provider must be told."""
        endpoints = await self._directory.of(provider)
        extra = {"redirect_uri": redirect_uri, **provider.extra, **_resource(provider)}
        if provider.scopes:
            extra["scope"] = " ".join(provider.scopes)
        writer: Any = OAuth2Client(None, client_id=provider.client_id, code_challenge_method="S256")
        return writer.create_authorization_url(endpoints.authorize, state, verifier, **extra)[0]

    async def exchange(self, provider: Provider, *, code: str, verifier: str, redirect_uri: str) -> Tokens:
        """The tokens for this code."""
        asked = {"code": code, "code_verifier": verifier, "redirect_uri": redirect_uri, **_resource(provider)}
        return await self._tokens(
            provider, lambda client, url: client.fetch_token(url, grant_type="authorization_code", **asked)
        )

    async def renew(self, provider: Provider, tokens: Tokens) -> Tokens:
        """New tokens for old. A provider that rotates takes a refresh token once."""
        asked = {"refresh_token": tokens.refresh, **_resource(provider)}
        return await self._tokens(provider, lambda client, url: client.refresh_token(url, **asked), before=tokens)

    async def revoke(self, provider: Provider, tokens: Tokens) -> None:
        """Give the tokens back (RFC 7009), where the provider takes them."""
        endpoints = await self._directory.of(provider)
        given = {"refresh_token": tokens.refresh, "access_token": tokens.access}
        for hint, token in given.items():
            if endpoints.revoke and token:
                await self._give_back(provider, endpoints, token, hint)

    async def _give_back(self, provider: Provider, endpoints: Endpoints, token: str, hint: str) -> None:
        async def ask(client: _Client) -> int:
            answer = await client.revoke_token(endpoints.revoke or "", token=token, token_type_hint=hint)
            return 200 if "unsupported_token_type" in answer.text else answer.status_code

        if await self._ask(provider, endpoints, ask) >= 400:
            raise ProviderFailed(wording.provider_garbled(provider.title))

    async def _tokens(
        self,
        provider: Provider,
        ask: Callable[[_Client, str], Awaitable[Mapping[str, Any]]],
        *,
        before: Tokens | None = None,
    ) -> Tokens:
        endpoints, now = await self._directory.of(provider), self._clock()
        answer = await self._ask(provider, endpoints, lambda client: ask(client, endpoints.token))
        tokens = Tokens.granted(answer, provider, now=now, before=before)
        if tokens is None:
            raise ProviderFailed(wording.provider_garbled(provider.title), advice=wording.provider_failed_advice())
        return tokens

    async def _ask(self, provider: Provider, endpoints: Endpoints, ask: Callable[[_Client], Awaitable[Any]]) -> Any:
        """Every way to fail is one of ours, raised with nothing behind it: an answer may quote what it got."""
        try:
            async with asyncio.timeout(self._timeout), self._client(provider, endpoints) as client:
                return await ask(client)
        except AuthlibError as exc:
            failure = _refused(provider, error_code(exc.error))
        except httpx2.HTTPStatusError as exc:
            status = f"{provider.title} did not do its part (it answered with HTTP {exc.response.status_code})."
            failure = ProviderFailed(status, advice=wording.provider_failed_advice())
        except (httpx2.TransportError, TimeoutError):
            failure = ProviderFailed(wording.provider_silent(provider.title), advice=wording.provider_failed_advice())
        except Exception:  # a provider can answer anything, and Authlib trip over it in any way
            failure = ProviderFailed(wording.provider_garbled(provider.title), advice=wording.provider_failed_advice())
        raise failure

    def _client(self, provider: Provider, endpoints: Endpoints) -> _Client:
        client: Any = AsyncOAuth2Client(
            client_id=provider.client_id,
            client_secret=provider.client_secret,
            token_endpoint_auth_method=endpoints.token_auth,
            revocation_endpoint_auth_method=endpoints.token_auth,
            timeout=self._timeout,
            verify=trusted(),
        )
        return cast("_Client", client)


def _refused(provider: Provider, error: str) -> ProviderFailed:
    kind = GrantRefused if error in _REFUSED else ProviderFailed
    return kind(wording.provider_refused(provider.title, error), advice=wording.provider_failed_advice())


def _resource(provider: Provider) -> dict[str, str]:
    return {"resource": provider.resource} if provider.resource else {}
