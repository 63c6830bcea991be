"""Who may come in: the browser that opened the address first, and nobody else.

Any program or user on this machine can reach a port on loopback, and so can every web page that the user has open. So
the address holds a ticket that works once and is exchanged for a cookie. No other site can make the browser send that
cookie, and the page's path cannot be guessed, which keeps the cookie from programs on other ports. `web.security`
checks Host, Origin and the token of each form. `web.peer` keeps out other users, who could read the address in the list
of processes and open it first.
"""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Mapping

from midcall.web.public_url import Place
from midcall.web.security import Forms, is_same


class Gate:
    """The secrets of one site.

    Args:
        place: The address that serves the page.
    """

    def __init__(self, place: Place) -> None:
        self.place = place
        self.base = f"/{secrets.token_urlsafe(16)}"
        self.cookie = f"midcall-{secrets.token_hex(6)}"
        self._key = secrets.token_urlsafe(32)
        self._forms = Forms(place, [secrets.token_bytes(32)], lifetime=math.inf)
        self._ticket = ""

    def address(self) -> str:
        """A new address that lets one browser in. The one before it stops working."""
        self._ticket = secrets.token_urlsafe(24)
        return f"{self.place.url}{self.base}/open/{self._ticket}"

    def admit(self, ticket: str) -> str | None:
        """The cookie in exchange for this ticket, which works once."""
        if not self._ticket or not is_same(self._ticket, ticket):
            return None
        self._ticket = ""
        return f"{self.cookie}={self._key}; Path={self.base}/; HttpOnly; SameSite=Strict"

    def knows(self, cookies: Mapping[str, str]) -> bool:
        """Whether this browser was let in."""
        return is_same(self._key, cookies.get(self.cookie, ""))

    def token(self, id: str, pause: float) -> str:
        """The CSRF token for the form of this question. Answers count only after the pause, in seconds."""
        return self._forms.token(self._key, id, pause=pause)

    def accepts(self, headers: Mapping[str, str], token: str, id: str) -> bool:
        """Whether our own page has posted the form of this question."""
        return self._forms.accepts(headers, token, self._key, id)

    def is_too_soon(self, token: str) -> bool:
        """Whether the pause of this valid token isn't over."""
        return self._forms.is_too_soon(token, time.time())
