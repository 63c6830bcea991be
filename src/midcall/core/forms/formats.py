"""The four string formats that a form can ask for, each as a pure function of the text."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final, Literal, TypeAlias

Format: TypeAlias = Literal["email", "uri", "date", "date-time"]

# RFC 5321: a local part of atoms and dots, or in quotes; then a host name or an address in brackets.
_LOCAL = re.compile(
    r"""[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*|"(?:[ !#-\[\]-~]|\\[ -~])*" """.rstrip()
)
_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")

# RFC 3986, appendix A. Each part is checked character by character.
_ENCODED = "%[0-9A-Fa-f]{2}"
_PLAIN = r"A-Za-z0-9\-._~!$&'()*+,;="
_URI = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):"
    rf"(?://(?:(?:[{_PLAIN}:]|{_ENCODED})*@)?(?P<host>\[[^\]]*\]|(?:[{_PLAIN}]|{_ENCODED})*)(?::(?P<port>[0-9]*))?(?=[/?#]|\Z))?"
    rf"(?P<path>(?:[{_PLAIN}:@/]|{_ENCODED})*)"
    rf"(?:\?(?:[{_PLAIN}:@/?]|{_ENCODED})*)?"
    rf"(?:#(?:[{_PLAIN}:@/?]|{_ENCODED})*)?"
)
_FUTURE_ADDRESS = re.compile(rf"v[0-9A-Fa-f]+\.[{_PLAIN}:]+", re.IGNORECASE)
_NEEDS_HOST: Final = frozenset({"http", "https", "ws", "wss", "ftp"})

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(
    r"([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9]|60)(?:\.[0-9]+)?(?:[Zz]|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))"
)


def is_email(text: str) -> bool:
    """An RFC 5321 mailbox, such as name@example.com."""
    local, at, domain = text.rpartition("@")
    if not at or len(local) > 64 or len(domain) > 255 or _LOCAL.fullmatch(local) is None:
        return False
    if domain.startswith("["):
        return _is_address_literal(domain)
    return all(_LABEL.fullmatch(label) for label in domain.split("."))


def is_uri(text: str) -> bool:
    """An absolute RFC 3986 URI, such as https://example.com/a?b#c."""
    parts = _URI.fullmatch(text)
    if parts is None:
        return False
    scheme, host, path = parts["scheme"].lower(), parts["host"], parts["path"]
    if host is None:
        # Without a valid authority, two slashes are not a path either (RFC 3986, 3.3).
        return scheme not in _NEEDS_HOST and path != "" and not path.startswith("//")
    if host.startswith("["):
        return _is_ipv6(host[1:-1]) or _FUTURE_ADDRESS.fullmatch(host[1:-1]) is not None
    digits = (parts["port"] or "").lstrip("0")
    return (host != "" or scheme not in _NEEDS_HOST) and len(digits) <= 5 and int(digits or 0) < 65536


def is_date(text: str) -> bool:
    """An RFC 3339 full-date, such as 2026-07-28."""
    if _DATE.fullmatch(text) is None:
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def is_date_time(text: str) -> bool:
    """An RFC 3339 date-time with its offset, such as 2026-07-28T09:30:00+02:00."""
    time = _TIME.fullmatch(text, 11)
    if time is None or text[10] not in "Tt" or not is_date(text[:10]):
        return False
    return time[3] != "60" or _is_leap_second(time)


def _is_leap_second(time: re.Match[str]) -> bool:
    """Leap seconds are only ever added at the last minute of a day in UTC."""
    minutes = int(time[1]) * 60 + int(time[2])
    offset = int(time[5] or 0) * 60 + int(time[6] or 0)
    return (minutes - (offset if time[4] != "-" else -offset)) % 1440 == 1439


def _is_address_literal(domain: str) -> bool:
    if not domain.endswith("]"):
        return False
    address = domain[1:-1]
    if address[:5].lower() == "ipv6:":
        return _is_ipv6(address[5:])
    try:
        IPv4Address(address)
    except AddressValueError:
        return False
    return True


def _is_ipv6(address: str) -> bool:
    if "%" in address:
        return False
    try:
        IPv6Address(address)
    except AddressValueError:
        return False
    return True


FORMATS: Final[dict[Format, Callable[[str], bool]]] = {
    "email": is_email,
    "uri": is_uri,
    "date": is_date,
    "date-time": is_date_time,
}
