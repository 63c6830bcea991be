"""Which requests we accept: Host, Origin, CSRF tokens, headers, sizes, and how often.

The portal and the browser answerer use these checks, and so does the server for calls without sign-in. Any web page can
send requests to them, and on loopback so can any program on the machine.
"""

from __future__ import annotations

import hmac
import re
import secrets
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from ipaddress import IPv6Address, ip_address
from typing import Final, Literal, NamedTuple
from urllib.parse import parse_qsl

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from midcall.core.remembered import Remembered
from midcall.settings.portal import POST_BYTES, POST_VALUES
from midcall.settings.web import (
    COOKIE_SKEW_SECONDS,
    CSRF_SECONDS,
    FAILED_OPENS,
    FAILED_OPENS_SECONDS,
    MAX_FAILED_SOURCES,
)
from midcall.web import peer
from midcall.web.public_url import Place

_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
)

HEADERS: Final = {
    "content-security-policy": _POLICY,
    "cache-control": "no-store",
    # Not "no-referrer": browsers would then send "Origin: null" with our own forms, as any sandboxed page can.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}

LEAVING: Final = {"content-security-policy": _POLICY.replace("; form-action 'self'", "")}
"""For a page whose form redirects to another site: Chrome applies form-action to redirects, too."""

SCRIPTS: Final = {"content-security-policy": f"{_POLICY}; script-src 'self'; connect-src 'self'"}
"""For a site whose pages run our own script."""

_HSTS: Final = {"strict-transport-security": "max-age=31536000"}


class SiteGuard:
    """Answers only requests for this host, and puts the headers on every response.

    Args:
        app: The site.
        place: Its address.
        wrong_host: Makes the response to a request for another host, which it is given.
        headers: What differs from `HEADERS`.
        public: Paths of the site that answer under any host.
        hide_errors: Whether the site logs errors itself. The server around it would log their text, which may hold a
            value that the user entered.
    """

    def __init__(
        self,
        app: ASGIApp,
        place: Place,
        wrong_host: Callable[[str], Response],
        *,
        headers: Mapping[str, str] | None = None,
        public: tuple[str, ...] = (),
        hide_errors: bool = False,
    ) -> None:
        self._app = app
        self._place = place
        self._wrong_host = wrong_host
        self._public = public
        self._hide_errors = hide_errors
        always = HEADERS | (_HSTS if place.secure else {}) | dict(headers or {})
        self._headers = [(name.encode(), value.encode()) for name, value in always.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def send_guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                given = message.setdefault("headers", [])
                names = {name for name, _ in given}
                message["headers"] = [*given, *(pair for pair in self._headers if pair[0] not in names)]
            with suppress(Exception):  # only the connection fails here: its client is gone, or sent half a request
                await send(message)

        if scope["type"] != "http":
            return
        scope = {**scope, "headers": [_drop_escaped_cookies(*header) for header in scope["headers"]]}
        headers = Headers(scope=scope)
        is_for_us = self._place.is_host(headers) or _path_in(scope) in self._public
        app = self._app if is_for_us else self._wrong_host(headers.get("host", ""))
        try:
            await app(scope, receive, send_guarded)
        except Exception:
            if not (started and self._hide_errors):
                raise


def _path_in(scope: Scope) -> str:
    """The path within the site: what is left of it below where the site is mounted."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    return path[len(root) :] if root and path.startswith(f"{root}/") else path


def _drop_escaped_cookies(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    """Ours have no backslashes, and older versions of Python take seconds to read thousands of them."""
    if name != b"cookie" or b"\\" not in value:
        return name, value
    return name, b";".join(cookie for cookie in value.split(b";") if b"\\" not in cookie)


# --- forms -----------------------------------------------------------------------------------


class Forms:
    """Tells our own forms from forged ones, by their origin and a token for this browser and this purpose.

    Args:
        place: The address of our pages.
        keys: The first one signs, all are accepted.
        lifetime: For how many seconds a token is accepted.
        clock: Seconds since the epoch.
    """

    def __init__(
        self,
        place: Place,
        keys: Sequence[bytes],
        *,
        lifetime: float = CSRF_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._place = place
        self._keys = keys
        self._lifetime = lifetime
        self._clock = clock

    def token(self, browser: str, purpose: str, *, pause: float = 0.0) -> str:
        """A token for a form that is drawn now. No two are the same. Answers count only after the pause, in seconds."""
        now = self._clock()
        counts = int(1000 * (now + pause)) if pause else 0
        made = f"{int(1000 * now)}.{counts}.{secrets.token_urlsafe(9)}"
        return f"{made}.{_sign(self._keys[0], made, browser, purpose)}"

    def accepts(self, headers: Mapping[str, str], token: str, browser: str | None, purpose: str) -> bool:
        """Whether a page that we drew for this browser and this purpose has posted this."""
        return self._place.is_from_page(headers) and browser is not None and self.is_valid(token, browser, purpose)

    def is_valid(self, token: str, browser: str, purpose: str) -> bool:
        """Whether we made this token for this browser and this purpose, not too long ago."""
        made, _, signature = token.rpartition(".")
        good = [is_same(_sign(key, made, browser, purpose), signature) for key in self._keys]
        return any(good) and -COOKIE_SKEW_SECONDS <= self._clock() - _milliseconds(made, 0) / 1000 <= self._lifetime

    def is_too_soon(self, token: str, at: float) -> bool:
        """Whether an answer that came then, with a valid token, came before the pause of its form was over."""
        return 1000 * at < _milliseconds(token, 1)


def _milliseconds(token: str, part: int) -> int:
    return int(token.split(".")[part])


def _sign(key: bytes, made: str, browser: str, purpose: str) -> str:
    return hmac.new(key, f"form\0{made}\0{browser}\0{purpose}".encode("utf-8", "replace"), "sha256").hexdigest()


def is_same(one: str, other: str) -> bool:
    """Whether these are equal, in a time that does not depend on where they differ."""
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))


class TooLarge(Exception):
    """More was posted than any of our forms can hold."""


class Posted:
    """Pairs of name and value, in the order of the page. Its repr shows none of them."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self.pairs = pairs

    def last(self, name: str) -> str:
        """The last value of this name, or an empty text."""
        return next((value for given, value in reversed(self.pairs) if given == name), "")


async def read_posted(request: Request, *, largest: int = POST_BYTES, most: int = POST_VALUES) -> Posted:
    """Read a posted form of at most `largest` bytes and `most` values.

    Raises:
        TooLarge: It is larger.
    """
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > largest:
                raise TooLarge
    except ClientDisconnect:
        return Posted([])
    try:
        return Posted(parse_qsl(body.decode("ascii", "replace"), keep_blank_values=True, max_num_fields=most))
    except ValueError:
        raise TooLarge from None


# --- rates -----------------------------------------------------------------------------------


class FailureLimit:
    """Slows down anyone who keeps opening pages that do not exist. Forgets the oldest sources first."""

    def __init__(self) -> None:
        self._failures: Remembered[deque[float]] = Remembered(MAX_FAILED_SOURCES)

    def __len__(self) -> int:
        return len(self._failures)

    def note(self, source: str, now: float) -> None:
        times = self._failures.get(source) or deque(maxlen=FAILED_OPENS)
        times.append(now)
        self._failures[source] = times

    def wait(self, source: str, now: float) -> float:
        """For how many seconds this source has to wait; 0 if it need not."""
        times = self._failures.get(source)
        if times is None or len(times) < FAILED_OPENS:
            return 0.0
        return max(0.0, times[0] + FAILED_OPENS_SECONDS - now)


def network(host: str) -> str:
    """The network of an address: with IPv6, one household has very many addresses."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv6Address):
        return str(address.ipv4_mapped or IPv6Address(int(address) >> 64 << 64))
    return host


# --- the user of this machine ------------------------------------------------------------------

_AUTHORITY: Final = re.compile(
    r"(?:localhost\.?|(?P<four>[0-9]{1,3}(?:\.[0-9]{1,3}){3})|\[(?P<six>[0-9a-f:]{2,39})\])(?::[0-9]{1,5})?"
)
_ORIGIN: Final = re.compile(r"https?://")
_OWN_SITES: Final = frozenset({"same-origin", "same-site", "none"})


class NotLocal(NamedTuple):
    """Why a request doesn't count as this machine's user: what gives it away, and a sentence."""

    by: Literal["host", "origin", "site", "connection"]
    why: str


def why_not_local(request: HTTPConnection) -> NotLocal | None:
    """Why this request doesn't count as this machine's user; None if it does.

    A web page that the user has open can send requests to loopback, through a name that resolves to it (DNS rebinding).
    The browser, which is the user's own program, then names that host, or the page's origin.
    """
    host, origin, site = (request.headers.getlist(name) for name in ("host", "origin", "sec-fetch-site"))
    if len(host) != 1:
        return NotLocal("host", "it has no Host header" if not host else "it has several Host headers")
    if not _is_loopback(host[0]):
        shown = repr(host[0][:100])
        return NotLocal("host", f"its Host header is {shown}, which is not a loopback address such as localhost")
    if foreign := [each for each in origin if not _is_loopback_origin(each)]:
        return NotLocal("origin", f"its Origin header is {foreign[0][:100]!r}: a web page from elsewhere has sent it")
    if not _OWN_SITES.issuperset(each.lower() for each in site):
        return NotLocal("site", "the browser reports that another site has sent it (Sec-Fetch-Site)")
    return None if peer.is_own(request) else NotLocal("connection", "another user, machine or a proxy has sent it")


def _is_loopback(authority: str) -> bool:
    """Whether this Host is `localhost` or a loopback address. Anyone can have another name resolve to loopback."""
    found = _AUTHORITY.fullmatch(authority.lower())
    if found is None:
        return False
    address = found["four"] or found["six"]
    try:
        return address is None or ip_address(address).is_loopback
    except ValueError:
        return False


def _is_loopback_origin(origin: str) -> bool:
    scheme = _ORIGIN.match(origin.lower())
    return scheme is not None and _is_loopback(origin[scheme.end() :])
