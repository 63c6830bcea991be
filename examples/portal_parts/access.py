"""MCP access tokens, checked against the issuer that users sign in with."""

from __future__ import annotations

import logging
from typing import Any

import httpx2
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from mcp.server.auth.provider import AccessToken

logger = logging.getLogger("portal example")

SIGNED_BY_ISSUERS = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "ES512", "EdDSA"]


class IssuedBy:
    """A `TokenVerifier` that accepts this issuer's access tokens if their audience is this server.

    A JWT is verified with the issuer's public keys. For any other token, the issuer's userinfo endpoint says
    whose it is, but not which server it's for. Prefer JWTs.
    """

    def __init__(self, issuer: str, resource: str) -> None:
        self._issuer = issuer
        self._rules = jwt.JWTClaimsRegistry(
            iss={"essential": True, "value": issuer},
            aud={"essential": True, "values": [resource, resource.rsplit("/", 1)[0]]},
            sub={"essential": True},
            exp={"essential": True},
        )
        self._known: dict[str, Any] = {}
        self._keys: KeySet | None = None

    async def verify_token(self, token: str) -> AccessToken | None:
        try:
            claims = await (self._signed(token) if token.count(".") == 2 else self._asked(token))
        except (JoseError, ValueError, KeyError) as exc:
            logger.info("an access token was refused: %s", type(exc).__name__)
            return None
        except httpx2.HTTPError as exc:
            logger.warning("the issuer cannot be asked: %s", type(exc).__name__)
            return None
        return AccessToken(
            token=token,
            client_id=str(claims.get("client_id") or claims.get("azp") or "unknown"),
            scopes=str(claims.get("scope", "")).split(),
            expires_at=claims.get("exp"),
            subject=claims["sub"],
            claims={**claims, "iss": self._issuer},
        )

    async def _signed(self, token: str) -> dict[str, Any]:
        """Return the claims of a JWT. If its key is unknown, it may be new, so fetch the keys again."""
        try:
            found = jwt.decode(token, await self._fetched_keys(), algorithms=SIGNED_BY_ISSUERS)
        except (JoseError, ValueError):
            self._keys = None
            found = jwt.decode(token, await self._fetched_keys(), algorithms=SIGNED_BY_ISSUERS)
        self._rules.validate(found.claims)
        return found.claims

    async def _asked(self, token: str) -> dict[str, Any]:
        async with httpx2.AsyncClient(timeout=10) as http:
            url = await self._endpoint("userinfo_endpoint")
            answer = await http.get(url, headers={"authorization": f"Bearer {token}"})
        if answer.status_code in (400, 401, 403):
            raise ValueError("the issuer does not know it")
        said = answer.raise_for_status().json()
        return {"sub": str(said["sub"])}

    async def _fetched_keys(self) -> KeySet:
        if self._keys is None:
            self._keys = KeySet.import_key_set(await _json(await self._endpoint("jwks_uri")))
        return self._keys

    async def _endpoint(self, name: str) -> str:
        if not self._known:
            self._known = await _json(f"{self._issuer.rstrip('/')}/.well-known/openid-configuration")
        if self._known.get("issuer") != self._issuer:
            self._known = {}
            raise ValueError("it calls itself by another name")
        return str(self._known[name])


async def _json(url: str) -> Any:
    async with httpx2.AsyncClient(timeout=10) as http:
        return (await http.get(url)).raise_for_status().json()
