"""Signed tokens, and the keys that prove them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

import httpx2
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from midcall.web.certificates import fault_of
from midcall.wording import certificates

__all__ = ["ALGORITHMS", "Away", "InvalidToken", "Keys", "decode", "fetch", "problem"]

ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures that only the issuer can make. Never "none", and never those with a shared secret."""

_FRESH: Final = 3600.0
_AGAIN: Final = 10.0
_TIMEOUT: Final = 10.0


Decoded: TypeAlias = tuple[dict[str, Any], dict[str, Any]]
"""The claims of a token, and its header."""


class Away(Exception):
    """What had to be fetched cannot be had now."""


class InvalidToken(Exception):
    """The token proves nothing. The text says why, without anything of its content."""


class Keys:
    """The public keys of an issuer: given, or fetched when needed and again when a token names one that is new.

    Args:
        url: Where they are; an async function, if that has to be found out first.
        given: The keys themselves, as a JWK set.
    """

    def __init__(self, url: str | None = None, *, given: Mapping[str, Any] | None = None) -> None:
        self._url = url
        self._given = _key_set(given) if given is not None else None
        self._fetched: tuple[float, KeySet] | None = None

    async def claims(self, token: str, *, algorithms: Sequence[str] = ALGORITHMS) -> Decoded:
        """The claims and the header of this token, if one of the keys has signed it.

        Raises:
            InvalidToken: None has.
            Away: The keys cannot be had.
        """
        try:
            return decode(token, await self._keys(_FRESH), algorithms)
        except InvalidToken:
            if self._given is not None or self._age() < _AGAIN:
                raise
            return decode(token, await self._keys(_AGAIN), algorithms)

    async def _keys(self, fresh: float) -> KeySet:
        if self._given is not None:
            return self._given
        if self._fetched is None or self._age() > fresh:
            self._fetched = (time.monotonic(), _key_set(await fetch(self._url or "")))
        return self._fetched[1]

    def _age(self) -> float:
        return time.monotonic() - self._fetched[0] if self._fetched is not None else 0.0


def problem(exc: Exception) -> str:
    """The kind of this failure and the claim that it is about; never what is in the claim."""
    claim = getattr(exc, "claim", None) or getattr(exc, "claim_name", None)
    return f"{type(exc).__name__}{f' ({claim})' if claim else ''}"


def decode(token: str, keys: KeySet, algorithms: Sequence[str]) -> Decoded:
    try:
        found = jwt.decode(token, keys, algorithms=list(algorithms))
    except (JoseError, ValueError, TypeError, KeyError) as exc:
        raise InvalidToken(type(exc).__name__) from None
    return found.claims, found.header


async def fetch(url: str) -> dict[str, Any]:
    """A JSON object from there.

    Raises:
        Away: There is none, now. The text names the address, and what is wrong there.
    """
    try:
        async with httpx2.AsyncClient(timeout=_TIMEOUT) as http:
            answer = (await http.get(url, headers={"accept": "application/json"})).raise_for_status()
            found: object = answer.json()
    except httpx2.HTTPStatusError as exc:
        raise Away(f"{url}: {exc.response.status_code}") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as exc:
        fault = fault_of(exc)
        raise Away(f"{url}: {certificates.wrong(fault) if fault else type(exc).__name__}") from None
    if not isinstance(found, dict):
        raise Away(f"{url}: no object")
    return cast("dict[str, Any]", found)


def _key_set(given: Mapping[str, Any]) -> KeySet:
    try:
        return KeySet.import_key_set(cast("Any", dict(given)))
    except (JoseError, ValueError, TypeError, KeyError) as exc:
        raise Away(type(exc).__name__) from None
