"""Which URLs a user may be sent to."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import parse_qsl, urlsplit

from midcall.core.wire import broken_at
from midcall.errors import InvalidQuestion
from midcall.wording import wire

__all__ = ["check_address", "is_loopback"]

# Query parameters that would carry a secret or sign the visitor in. Whoever reads the URL (the
# client, the model, a log, a history) would have them too.
_TELLTALE = re.compile(
    r"^(access_?token|refresh_?token|id_?token|auth_?token|api_?key|apikey|password|passwd|pwd|secret"
    r"|client_?secret|session(_?id)?|jwt|bearer)$",
    re.IGNORECASE,
)
_CONTROL = re.compile(r"[\x00-\x20\x7f]")


def is_loopback(host: str) -> bool:
    """Whether this host is the machine itself."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def check_address(url: str) -> str:
    """This URL, if a visit may lead there: absolute, https except on loopback, and free of secrets."""
    if not isinstance(url, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidQuestion(
            f"A visit leads to a URL, a text, or to what a function makes of its id; {type(url).__name__} is neither."
        )
    if _CONTROL.search(url):
        raise InvalidQuestion(_bad_address("it is not a URL"))
    if (at := broken_at(url)) is not None:
        raise InvalidQuestion(
            _bad_address(f"it {wire.half_a_character(at)}"),
            advice="Encode what goes into a URL: urllib.parse.quote(...).",
        )
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError as exc:
        raise InvalidQuestion(_bad_address(str(exc))) from None
    if parts.scheme not in ("http", "https") or not host:
        raise InvalidQuestion(_bad_address("it is not an absolute http(s) URL"))
    if parts.scheme == "http" and not is_loopback(host):
        raise InvalidQuestion(_bad_address("it must be https, except on loopback"))
    if parts.username is not None or parts.password is not None:
        raise InvalidQuestion(_bad_address("it carries a user name or password"))
    for name, _value in parse_qsl(parts.query, keep_blank_values=True):
        if _TELLTALE.match(name):
            raise InvalidQuestion(_bad_address(f"its query carries {name!r}, which must not travel in a URL"))
    return url


def _bad_address(why: str) -> str:
    return f"This URL cannot be visited: {why}."
