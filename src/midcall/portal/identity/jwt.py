"""Signed tokens (JWT), and the keys that verify them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

import httpx2
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from midcall.settings import ISSUER_KEYS_AGAIN_SECONDS, PROVIDER_FRESH_SECONDS, PROVIDER_TIMEOUT_SECONDS
from midcall.web.certificates import describe_fault, fault_of

ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures that only the issuer can make: not "none", and none with a shared secret."""

Decoded: TypeAlias = tuple[dict[str, Any], dict[str, Any]]
"""The claims of a token, and its header."""


class Unavailable(Exception):
    """Something that has to be fetched is not available now."""


class InvalidToken(Exception):
    """The token proves nothing. The text says why, without its content."""


class Keys:
    """The public keys of an issuer: given, or fetched when needed, and again when a token names a new one.

    Args:
        url: Their URL.
        given: The keys themselves, as a JWK set.
    """

    def __init__(self, url: str | None = None, *, given: Mapping[str, Any] | None = None) -> None:
        self._url = url
        self._given = _key_set(given) if given is not None else None
        self._fetched: tuple[float, KeySet] | None = None

    async def claims(self, token: str, *, algorithms: Sequence[str] = ALGORITHMS) -> Decoded:
        """The claims and the header of this token, if one of the keys signed it.

        Raises:
            InvalidToken: None has.
            Unavailable: The keys cannot be fetched.
        """
        try:
            return _decode(token, await self._keys(PROVIDER_FRESH_SECONDS), algorithms)
        except InvalidToken:
            if self._given is not None or self._age() < ISSUER_KEYS_AGAIN_SECONDS:
                raise
            return _decode(token, await self._keys(ISSUER_KEYS_AGAIN_SECONDS), algorithms)

    async def _keys(self, fresh: float) -> KeySet:
        if self._given is not None:
            return self._given
        if self._fetched is None or self._age() > fresh:
            self._fetched = (time.monotonic(), _key_set(await fetch(self._url or "")))
        return self._fetched[1]

    def _age(self) -> float:
        return time.monotonic() - self._fetched[0] if self._fetched is not None else 0.0


def describe_problem(exc: Exception) -> str:
    """The kind of this failure and the claim that it is about, never the value of the claim."""
    claim = getattr(exc, "claim", None) or getattr(exc, "claim_name", None)
    return f"{type(exc).__name__}{f' ({claim})' if claim else ''}"


def _decode(token: str, keys: KeySet, algorithms: Sequence[str]) -> Decoded:
    try:
        found = jwt.decode(token, keys, algorithms=list(algorithms))
    except (JoseError, ValueError, TypeError, KeyError) as exc:
        raise InvalidToken(type(exc).__name__) from None
    return found.claims, found.header


async def fetch(url: str) -> dict[str, Any]:
    """Fetch a JSON object.

    Raises:
        Unavailable: It can't be fetched, or isn't a JSON object. The text has the address and the problem.
    """
    try:
        async with httpx2.AsyncClient(timeout=PROVIDER_TIMEOUT_SECONDS) as http:
            answer = (await http.get(url, headers={"accept": "application/json"})).raise_for_status()
            found: object = answer.json()
    except httpx2.HTTPStatusError as exc:
        raise Unavailable(f"{url}: {exc.response.status_code}") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as exc:
        fault = fault_of(exc)
        raise Unavailable(f"{url}: {describe_fault(fault) if fault else type(exc).__name__}") from None
    if not isinstance(found, dict):
        raise Unavailable(f"{url}: not a JSON object")
    return cast("dict[str, Any]", found)


def _key_set(given: Mapping[str, Any]) -> KeySet:
    try:
        return KeySet.import_key_set(cast("Any", dict(given)))
    except (JoseError, ValueError, TypeError, KeyError) as exc:
        raise Unavailable(type(exc).__name__) from None
