"""Signed cookies, with names that no other site and no other portal on this host uses."""

from __future__ import annotations

import hashlib
import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from typing import Any, Final

from itsdangerous import BadData, TimestampSigner
from starlette.responses import Response

from midcall.settings.web import BROWSER_COOKIE_SECONDS, COOKIE_SKEW_SECONDS
from midcall.web.public_url import Place

_BROWSER: Final = "browser"


def new_mark() -> str:
    """A mark for a browser that has none."""
    return secrets.token_urlsafe(24)


class Cookies:
    """The cookies of one portal.

    Args:
        place: The portal's address. On https, browsers bind a `__Host-` cookie to exactly this host.
        keys: The first one signs, all are accepted.
        instance: Sets this portal apart from others on the same host: cookies ignore ports.
    """

    def __init__(self, place: Place, keys: Sequence[bytes], instance: str) -> None:
        self._secure = place.secure
        self._keys = list(reversed(keys))  # a signer signs with the last
        self._prefix = f"{'__Host-' if place.secure else ''}midcall-{instance}-"

    def name(self, purpose: str) -> str:
        return f"{self._prefix}{purpose}"

    def get(self, cookies: Mapping[str, str], purpose: str, *, within: float) -> Any:
        """The value that we put into this cookie, or None if it is missing, forged, or older than `within` seconds."""
        packed = self._unsign(cookies, purpose, within)
        return None if packed is None else json.loads(urlsafe_b64decode(packed))

    def set(self, response: Response, purpose: str, value: Any, *, seconds: float) -> None:
        self._set(response, purpose, urlsafe_b64encode(json.dumps(value).encode()).decode(), int(seconds))

    def drop(self, response: Response, purpose: str) -> None:
        response.delete_cookie(self.name(purpose), path="/", secure=self._secure, httponly=True, samesite="lax")

    def browser(self, cookies: Mapping[str, str]) -> str | None:
        """The mark that we gave this browser, if any."""
        return self._unsign(cookies, _BROWSER, BROWSER_COOKIE_SECONDS)

    def mark(self, response: Response, mark: str) -> None:
        """Mark this browser until it is closed. That says nothing about who uses it."""
        self._set(response, _BROWSER, mark, None)

    def _set(self, response: Response, purpose: str, text: str, age: int | None) -> None:
        signed = self._signer(purpose).sign(text).decode()
        response.set_cookie(
            self.name(purpose), signed, max_age=age, path="/", secure=self._secure, httponly=True, samesite="lax"
        )

    def _unsign(self, cookies: Mapping[str, str], purpose: str, within: float) -> str | None:
        signer = self._signer(purpose)
        try:
            text, signed = signer.unsign(cookies.get(self.name(purpose), ""), return_timestamp=True)
            age = signer.get_timestamp() - int(signed.timestamp())
            return text.decode() if -COOKIE_SKEW_SECONDS <= age <= int(within) else None
        except (BadData, UnicodeError):
            return None

    def _signer(self, purpose: str) -> TimestampSigner:
        """A value signed for one purpose is not accepted for another."""
        salt = f"midcall/portal/cookie/{purpose}"
        return TimestampSigner(self._keys, salt=salt, key_derivation="hmac", digest_method=hashlib.sha256)
