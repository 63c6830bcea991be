"""Whoever a proxy in front of us has signed in, by the assertion that it signs for every request."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from joserfc.errors import JoseError
from joserfc.jwt import JWTClaimsRegistry
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from midcall.errors import InstallError
from midcall.portal.identity.base import Caller, Ground, Key, caller_key, key_of
from midcall.portal.identity.tokens import ALGORITHMS, Away, InvalidToken, Keys, problem
from midcall.portal.logs import logger
from midcall.web.public_url import place_at

__all__ = ["ProxyJwt"]

_LEEWAY: Final = 30


class ProxyJwt:
    """The user that a fronting proxy vouches for, with a signed token in a header. A bare name in a header is nothing.

    Args:
        header: The header with the token.
        issuer: Who must have issued it.
        audience: Whom it must be for.
        jwks_url: Where the issuer's public keys are.
        keys: The keys themselves, as a JWK set, in place of that.
        key: Makes the identity key of claims, of the proxy's and of the MCP access token's alike; by default,
            issuer and subject. Needed where the two tokens have different issuers.
        algorithms: The signatures to take.
    """

    routes: Sequence[Route] = ()

    def __init__(
        self,
        header: str,
        *,
        issuer: str,
        audience: str,
        jwks_url: str | None = None,
        keys: Mapping[str, Any] | None = None,
        key: Key | None = None,
        algorithms: Sequence[str] = ALGORITHMS,
    ) -> None:
        if (jwks_url is None) == (keys is None) or not (header and issuer and audience):
            raise InstallError(_bad_proxy_jwt())
        if weak := [each for each in algorithms if each not in ALGORITHMS]:
            raise InstallError(_weak_algorithms(weak))
        if jwks_url is not None:
            # https, or loopback: whoever can change the keys can be anyone
            place_at(jwks_url.partition("?")[0], wrong=_bad_key_set)
        self._header = header.lower()
        self._registry = {"issuer": issuer, "audience": audience}
        try:
            self._keys = Keys(jwks_url, given=keys)
        except Away:
            raise InstallError(_bad_proxy_jwt()) from None
        self._key = key
        self._algorithms = algorithms

    def settle(self, ground: Ground) -> None:
        self._views = ground.views

    async def visitor(self, request: Request) -> str | None:
        claims = await self._claims(request)
        if claims is None:
            return None
        request.scope["midcall.proxy.claims"] = claims
        return key_of(claims, self._key) or None

    async def sign_in(self, request: Request, back: str) -> Response:
        return self._views.told("sign_in_elsewhere", 401)

    def owner(self, caller: Caller) -> str:
        return caller_key(caller, self._key)

    def name(self, request: Request) -> str:
        claims: Mapping[str, Any] = request.scope.get("midcall.proxy.claims", {})
        return str(claims.get("email") or claims.get("name") or claims.get("sub") or "")

    async def _claims(self, request: Request) -> dict[str, Any] | None:
        tokens = request.headers.getlist(self._header)
        if len(tokens) != 1:  # two would leave open which one the proxy has sent
            return None
        try:
            claims, _ = await self._keys.claims(tokens[0].removeprefix("Bearer "), algorithms=self._algorithms)
            self._check(claims)
        except (InvalidToken, JoseError, Away) as exc:
            logger.warning(_assertion_refused(problem(exc)))
            return None
        return claims

    def _check(self, claims: dict[str, Any]) -> None:
        JWTClaimsRegistry(
            now=int(time.time()),
            leeway=_LEEWAY,
            iss={"essential": True, "value": self._registry["issuer"]},
            aud={"essential": True, "value": self._registry["audience"]},
            exp={"essential": True},
        ).validate(claims)


def _bad_key_set(url: str, why: str) -> str:
    return f"The keys of a proxy cannot be at {url!r}: {why}."


def _bad_proxy_jwt() -> str:
    return "ProxyJwt(...) needs a header, an issuer, an audience, and either jwks_url= or keys= with a JWK set."


def _weak_algorithms(names: Sequence[str]) -> str:
    return f"These signatures prove nothing here: {', '.join(names)}."


def _assertion_refused(why: str) -> str:
    return f"the proxy's assertion was refused: {why}"
