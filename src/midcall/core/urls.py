"""The rules for URLs: what a web URL is, where a user may be sent, and what a client may turn into a link."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Literal, TypeAlias
from urllib.parse import SplitResult, parse_qsl, urlsplit

from midcall.core.wire import describe_half_character, find_half_character
from midcall.errors import InvalidQuestion
from midcall.settings.calls import AUTHORITY_CHARACTERS

# Query parameters that carry a secret or sign the visitor in. Anyone who reads the URL (the client, the model, a log,
# a history) would have them too.
_SECRET_PARAMETER = re.compile(
    r"^(access_?token|refresh_?token|id_?token|auth_?token|api_?key|apikey|password|passwd|pwd|secret"
    r"|client_?secret|session(_?id)?|jwt|bearer)$",
    re.IGNORECASE,
)
_CONTROL = re.compile(r"[\x00-\x20\x7f]")

# Every repeat is bounded, so that no text takes long: messages quote what others wrote.
# The target of a Markdown link; or a scheme and slashes, a mail link, a bare www, a host name with a path.
_LINK = re.compile(
    r"""(?<=\]\()[^\s<>()"]+ | (?<![\w@])(?:
        [a-z][a-z0-9+.-]{0,30}://[^\s<>"]+
      | www\.[^\s<>"]+\.[^\s<>"]+
      | mailto:[^\s<>"]+
      | (?<![.-])(?:[a-z0-9-]{1,63}\.){1,30}[a-z]{2,24}(?::\d+)?/[^\s<>"]+
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_DROPPED = str.maketrans("", "", "\t\r\n")
_TRAILING = ".,;:!?'*_`]}>"

IpAddress: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = Literal["public", "private", "this machine", "link-local"]
_CLOUD = frozenset(map(ip_address, ("100.100.100.200", "192.0.0.192", "fd00:ec2::254")))
"""Metadata services of clouds that aren't link-local."""
_NAT64 = IPv6Network("64:ff9b::/96")


class BadUrl(ValueError):
    """Not an absolute http or https URL. `detail` is the parser's own message, if it couldn't be parsed at all."""

    def __init__(self, detail: str = "") -> None:
        super().__init__(detail or "it is not an absolute http(s) URL")
        self.detail = detail


def parse_url(url: str) -> SplitResult:
    """Split an absolute http or https URL.

    Raises:
        BadUrl: It's something else, or its port isn't a valid number.
    """
    # `urlsplit` drops these characters, and normalizes a host in other letters, which takes long if it's long.
    authority = re.split("[/?#]", url.translate(_DROPPED).partition("//")[2], maxsplit=1)[0]
    if len(authority) > AUTHORITY_CHARACTERS and not authority.isascii():
        raise BadUrl("its host is too long")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise BadUrl(str(error)) from None
    if parts.scheme not in ("http", "https") or not host:
        raise BadUrl
    return parts


def is_web_url(url: str) -> bool:
    """Whether this is an http or https URL that a client could connect to."""
    try:
        return parse_url(url).port != 0
    except BadUrl:
        return False


def is_loopback(host: str) -> bool:
    """Whether this host is the machine itself."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def read_address(address: str) -> IpAddress:
    """The IP address that this one leads to: one of IPv6 can stand for one of IPv4.

    Raises:
        ValueError: It isn't an IP address.
    """
    ip = ip_address(address.partition("%")[0])
    if not isinstance(ip, IPv6Address):
        return ip
    if ip in _NAT64:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour or (ip.teredo or (None, None))[1] or ip


def network_of(address: str) -> Network:
    """Where this IP address is."""
    ip = read_address(address)
    if ip.is_loopback or ip.is_unspecified:
        return "this machine"
    if ip.is_link_local or ip in _CLOUD:
        return "link-local"
    return "public" if ip.is_global and not ip.is_multicast else "private"


def is_secure(parts: SplitResult) -> bool:
    """Whether nobody on the way can read along: https, or http on loopback."""
    return parts.scheme == "https" or is_loopback(parts.hostname or "")


def is_safe(url: str) -> bool:
    """Whether codes and tokens may be sent to this URL."""
    try:
        parts = parse_url(url)
    except BadUrl:
        return False
    return is_secure(parts) and parts.username is None and not parts.fragment and not _CONTROL.search(url)


def check_address(url: str) -> str:
    """Return this URL if a visit may lead there: absolute, https except on loopback, and free of secrets."""
    if not isinstance(url, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidQuestion(
            f"A visit needs a URL as text, or a function that makes one from an id, not {type(url).__name__}."
        )
    if _CONTROL.search(url):
        raise _refuse("it is not a URL")
    if (position := find_half_character(url)) is not None:
        raise _refuse(f"it {describe_half_character(position)}", "Encode the parts of a URL: urllib.parse.quote(...).")
    try:
        parts = parse_url(url)
    except BadUrl as error:
        raise _refuse(str(error)) from None
    if not is_secure(parts):
        raise _refuse("it must be https, except on loopback")
    if parts.username is not None or parts.password is not None:
        raise _refuse("it carries a user name or password")
    for name, _value in parse_qsl(parts.query, keep_blank_values=True):
        if _SECRET_PARAMETER.match(name):
            raise _refuse(f"its query carries {name!r}, which must not travel in a URL")
    return url


def _refuse(why: str, advice: str = "") -> InvalidQuestion:
    return InvalidQuestion(f"This URL cannot be visited: {why}.", advice=advice)


def find_links(*texts: str | None) -> tuple[str, ...]:
    """The links in these texts, each once, in order: a form must not lead the user anywhere."""
    found = (_trim(link) for text in texts if text for link in _LINK.findall(text))
    return tuple(dict.fromkeys(link for link in found if link))


def _trim(link: str) -> str:
    """Drop the punctuation of the sentence around a link; a bracket stays if it closes one inside."""
    end, unmatched = len(link), link.count(")") - link.count("(")
    while end and (link[end - 1] in _TRAILING or (link[end - 1] == ")" and unmatched > 0)):
        end -= 1
        unmatched -= link[end] == ")"
    return link[:end]
