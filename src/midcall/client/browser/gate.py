"""Who may come in: the browser that opened the address first, and nobody else.

Other programs and other users of this machine can reach a port on loopback, and so can every web page
that the user has open. So the address holds an id that works once; it is exchanged for a cookie that
no other site can make the browser send; the page's own path cannot be guessed, which keeps that cookie
from programs on other ports; and requests must name this very host, and come from this very page.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from typing import Final

__all__ = ["HEADERS", "Gate"]

HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "cache-control": "no-store",
    # Not no-referrer: a browser would then send "Origin: null" with our own forms, as any sandboxed page can.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Gate:
    """The secrets of one site.

    Args:
        authority: The host and port, as the address has them.
    """

    def __init__(self, authority: str) -> None:
        self.authority = authority
        self.base = f"/{secrets.token_urlsafe(16)}"
        self.cookie = f"midcall-{secrets.token_hex(6)}"
        self._key = secrets.token_urlsafe(32)
        self._ticket = ""

    def address(self) -> str:
        """A new address that lets one browser in. The one before it stops working."""
        self._ticket = secrets.token_urlsafe(24)
        return f"http://{self.authority}{self.base}/open/{self._ticket}"

    def admit(self, ticket: str) -> str | None:
        """The cookie in exchange for this ticket, if it is good; it never is again."""
        if not self._ticket or not _same(self._ticket, ticket):
            return None
        self._ticket = ""
        return f"{self.cookie}={self._key}; Path={self.base}/; HttpOnly; SameSite=Strict"

    def knows(self, cookies: Mapping[str, str]) -> bool:
        """Whether this browser was let in."""
        return _same(self._key, cookies.get(self.cookie, ""))

    def token(self, id: str) -> str:
        """What the form of this question posts along."""
        return hmac.new(self._key.encode(), id.encode("utf-8", "replace"), "sha256").hexdigest()

    def is_token(self, id: str, token: str) -> bool:
        return _same(self.token(id), token)

    def is_host(self, headers: Mapping[str, str]) -> bool:
        """Whether the request means us: a foreign name that leads here has another host."""
        return headers.get("host", "").lower() == self.authority

    def is_from_page(self, headers: Mapping[str, str]) -> bool:
        """Whether our own page sent this."""
        site = headers.get("sec-fetch-site", "same-origin")
        return headers.get("origin", "").lower() == f"http://{self.authority}" and site == "same-origin"


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))
