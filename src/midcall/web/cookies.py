"""What a browser keeps for us: signed, and named so that no other site and no other portal is meant."""

from __future__ import annotations

import hashlib
import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from typing import Any, Final

from itsdangerous import BadData, TimestampSigner
from starlette.responses import Response

from midcall.stores.keys import derive
from midcall.web.public_url import Place

__all__ = ["Cookies", "Signing"]

_BROWSER: Final = "browser"
_YEAR: Final = 365 * 86_400.0
_SKEW: Final = 60
"""How many seconds the clock of the replica that signed may be ahead of this one."""


class Signing:
    """Signs what travels through a browser. The first key signs, all are known."""

    def __init__(self, keys: Sequence[str | bytes]) -> None:
        self._keys = list(reversed(derive(keys, "portal")))  # a signer signs with the last
        self._signers: dict[str, TimestampSigner] = {}

    def seal(self, purpose: str, text: str) -> str:
        return self._signer(purpose).sign(text).decode()

    def open(self, purpose: str, sealed: str, *, within: float) -> str | None:
        """What was sealed for this purpose within these seconds, by whichever replica, else None."""
        signer = self._signer(purpose)
        try:
            text, signed = signer.unsign(sealed, return_timestamp=True)
            age = signer.get_timestamp() - int(signed.timestamp())
            return text.decode() if -_SKEW <= age <= int(within) else None
        except (BadData, UnicodeError):
            return None

    def _signer(self, purpose: str) -> TimestampSigner:
        """One for each purpose, of which there are few: what was sealed for one is nothing to the others."""
        if purpose not in self._signers:
            salt = f"midcall/portal/{purpose}"
            signer = TimestampSigner(self._keys, salt=salt, key_derivation="hmac", digest_method=hashlib.sha256)
            self._signers[purpose] = signer
        return self._signers[purpose]


class Cookies:
    """The cookies of one portal.

    Args:
        place: Where it is. On https, browsers hold a `__Host-` cookie to this very host.
        signing: Signs the values.
        instance: Sets this portal apart from others on the same host: ports do not, for cookies.
    """

    def __init__(self, place: Place, signing: Signing, instance: str) -> None:
        self._secure = place.secure
        self._signing = signing
        self._prefix = f"{'__Host-' if place.secure else ''}midcall-{instance}-"

    def name(self, purpose: str) -> str:
        return f"{self._prefix}{purpose}"

    def get(self, cookies: Mapping[str, str], purpose: str, *, within: float) -> Any:
        """What we have put into this cookie, else None."""
        packed = self._opened(cookies, purpose, within)
        return None if packed is None else json.loads(urlsafe_b64decode(packed))

    def set(self, response: Response, purpose: str, value: Any, *, seconds: float) -> None:
        self._set(response, purpose, urlsafe_b64encode(json.dumps(value).encode()).decode(), int(seconds))

    def _opened(self, cookies: Mapping[str, str], purpose: str, within: float) -> str | None:
        return self._signing.open(f"cookie/{purpose}", cookies.get(self.name(purpose), ""), within=within)

    def _set(self, response: Response, purpose: str, text: str, age: int | None) -> None:
        sealed = self._signing.seal(f"cookie/{purpose}", text)
        response.set_cookie(
            self.name(purpose), sealed, max_age=age, path="/", secure=self._secure, httponly=True, samesite="lax"
        )

    def drop(self, response: Response, purpose: str) -> None:
        response.delete_cookie(self.name(purpose), path="/", secure=self._secure, httponly=True, samesite="lax")

    # --- which browser it is --------------------------------------------------------------------

    def browser(self, cookies: Mapping[str, str]) -> str | None:
        """The mark that this browser got from us, if it did."""
        return self._opened(cookies, _BROWSER, _YEAR)

    def mark(self, response: Response) -> str:
        """Mark this browser, for as long as it runs. Says nothing about who sits before it."""
        mark = secrets.token_urlsafe(24)
        self._set(response, _BROWSER, mark, None)
        return mark
