"""Signed tokens (JWT), and the keys that verify them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any, Final, TypeAlias, cast

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from midcall.settings.portal import PROVIDER_AGAIN_SECONDS
from midcall.web.fetching import Cache, Reach, Unavailable, fetch

ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures that only the issuer can make: not "none", and none with a shared secret."""

Decoded: TypeAlias = tuple[dict[str, Any], dict[str, Any]]
"""The claims of a token, and its header."""


class InvalidToken(Exception):
    """The token proves nothing. The text says why, without its content."""


class Keys:
    """The public keys of an issuer: given, or fetched when needed, and again when a token names a new one.

    Args:
        url: Their URL.
        given: The keys themselves, as a JWK set.
        reach: Where the URL may lead, if the issuer's metadata names it.
    """

    def __init__(self, url: str = "", *, given: Mapping[str, Any] | None = None, reach: Reach | None = None) -> None:
        self._url = url
        self._reach = reach
        self._given = _key_set(given) if given is not None else None
        self._fetched = Cache(self._fetch)

    async def claims(self, token: str, *, algorithms: Sequence[str] = ALGORITHMS) -> Decoded:
        """The claims and the header of this token, if one of the keys signed it.

        Raises:
            InvalidToken: None has.
            Unavailable: The keys cannot be fetched.
        """
        if self._given is not None:
            return _decode(token, self._given, algorithms)
        keys = await self._fetched.get()
        try:
            return _decode(token, keys, algorithms)
        except InvalidToken:
            latest = await self._fetched.get(PROVIDER_AGAIN_SECONDS)
            if latest is keys:
                raise
            return _decode(token, latest, algorithms)

    async def _fetch(self) -> KeySet:
        return _key_set(await fetch(self._url, self._reach))


def describe_problem(exc: Exception) -> str:
    """The kind of this failure and the claim that it is about, never the value of the claim."""
    claim = getattr(exc, "claim", None) or getattr(exc, "claim_name", None)
    return f"{type(exc).__name__}{f' ({claim})' if claim else ''}"


def _decode(token: str, keys: KeySet, algorithms: Sequence[str]) -> Decoded:
    try:
        found = jwt.decode(token, keys, algorithms=list(algorithms))
    except (JoseError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as exc:  # anything can be sent
        raise InvalidToken(type(exc).__name__) from None
    for name, fits in _TYPES.items():
        if found.claims.get(name) is not None and not fits(found.claims[name]):
            raise InvalidToken(f"its claim {name} has the wrong type")
    return found.claims, found.header


def first_text(claims: Mapping[str, Any], *names: str) -> str:
    """The first of these claims that is a text; empty if none is."""
    return next((value for name in names if isinstance(value := claims.get(name), str) and value), "")


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, cast("list[object]", value)))


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < inf


_TYPES: Final[Mapping[str, Callable[[object], bool]]] = {
    **dict.fromkeys(("iss", "sub", "nonce", "azp", "at_hash", "acr"), _is_text),
    **dict.fromkeys(("exp", "iat", "nbf", "auth_time"), _is_time),
    "aud": lambda value: _is_text(value) or _are_texts(value),
    "amr": _are_texts,
}
"""The claims that decide something. What only names a user may have any type, and counts if it is a text."""


def _key_set(given: Mapping[str, Any]) -> KeySet:
    try:
        return KeySet.import_key_set(cast("Any", dict(given)))
    except (JoseError, ValueError, TypeError, KeyError) as exc:
        raise Unavailable(type(exc).__name__) from None
