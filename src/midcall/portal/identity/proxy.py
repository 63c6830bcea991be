"""The user that a proxy in front of us has signed in, by the assertion that it signs for every request."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from joserfc.errors import JoseError
from joserfc.jwt import JWTClaimsRegistry
from starlette.requests import Request

from midcall.errors import InstallError
from midcall.portal.identity.jwt import ALGORITHMS, InvalidToken, Keys, describe_problem, first_text
from midcall.portal.identity.visitors import Caller, Key, WithoutSignIn, caller_key, key_of
from midcall.portal.logs import logger
from midcall.settings.portal import TOKEN_LEEWAY_SECONDS
from midcall.web.fetching import Unavailable
from midcall.web.public_url import place_at

if TYPE_CHECKING:
    from midcall.portal.access import Access

_REQUIRED: Final = "ProxyJwt(...) needs a header, an issuer, an audience, and either jwks_url= or keys= with a JWK set."


class ProxyJwt(WithoutSignIn):
    """The user that a fronting proxy vouches for, with a signed token in a header. A bare name proves nothing.

    Args:
        header: The header with the token.
        issuer: Who must have issued it.
        audience: Who it must be for.
        jwks_url: The URL of the issuer's public keys.
        keys: The keys themselves, as a JWK set, instead of `jwks_url`.
        key: Makes the identity key from the claims of the proxy's token and of the MCP access token; by default,
            issuer and subject. Needed if the two tokens have different issuers.
        algorithms: The signatures to accept.
    """

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
            raise InstallError(_REQUIRED)
        if weak := [each for each in algorithms if each not in ALGORITHMS]:
            raise InstallError(f"These signatures prove nothing here: {', '.join(weak)}.")
        if jwks_url is not None:
            # https, or loopback: anyone who can change the keys can be any user
            place_at(jwks_url.partition("?")[0], what="The key set of a proxy")
        self._header = header.lower()
        self._issuer, self._audience = issuer, audience
        try:
            self._keys = Keys(jwks_url or "", given=keys)
        except Unavailable:
            raise InstallError(_REQUIRED) from None
        self._key = key
        self._algorithms = algorithms

    def attach(self, portal: Access) -> None:
        super().attach(portal)
        self._portal = portal

    async def visitor(self, request: Request) -> str | None:
        claims = await self._claims(request)
        if claims is None:
            return None
        request.scope["midcall.proxy.claims"] = claims
        key = key_of(claims, self._key)
        if not key:
            self._refuse("no_key")
        return key or None

    def owner(self, caller: Caller) -> str:
        return caller_key(caller, self._key)

    def name(self, request: Request) -> str:
        claims: Mapping[str, Any] = request.scope.get("midcall.proxy.claims", {})
        return first_text(claims, "email", "name", "sub")

    async def _claims(self, request: Request) -> dict[str, Any] | None:
        tokens = request.headers.getlist(self._header)
        if not tokens:
            return None
        if len(tokens) > 1:  # nobody knows which one the proxy sent
            self._refuse("assertion")
            return None
        try:
            claims, _ = await self._keys.claims(tokens[0].removeprefix("Bearer "), algorithms=self._algorithms)
            JWTClaimsRegistry(
                now=int(time.time()),
                leeway=TOKEN_LEEWAY_SECONDS,
                iss={"essential": True, "value": self._issuer},
                aud={"essential": True, "value": self._audience},
                exp={"essential": True},
            ).validate(claims)
        except (InvalidToken, JoseError, Unavailable) as exc:
            logger.warning(f"the proxy's assertion was rejected: {describe_problem(exc)}")
            self._refuse("assertion")
            return None
        return claims

    def _refuse(self, why: str) -> None:
        """Write into the audit trail that somebody wasn't recognized."""
        self._portal.note("signin.refused", outcome=why)
