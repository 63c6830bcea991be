"""Which servers may ask, and which hosts a user may be sent to."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable
from ipaddress import IPv6Address

from midcall.client.urls.consent import Address
from midcall.client.urls.hosts import BadHost, is_ignored, read_host
from midcall.core.text import plain_line
from midcall.settings import SERVER_NAME_CHARACTERS

"""The characters of a server's name that are compared."""


class Servers:
    """Servers by the names they give themselves, ignoring case and invisible characters."""

    def __init__(self, allowed: Collection[str] | None, denied: Collection[str]) -> None:
        self._allowed = None if allowed is None else frozenset(map(_normalize, _check_list(allowed)))
        self._denied = frozenset(map(_normalize, _check_list(denied)))

    def allow(self, server: str) -> bool:
        name = _normalize(server)
        return name not in self._denied and (self._allowed is None or name in self._allowed)


class Hosts:
    """Hosts to visit: names, domains, and `*.example.com` for all subdomains."""

    def __init__(self, allowed: Collection[str] | None, denied: Collection[str]) -> None:
        self._allowed = None if allowed is None else frozenset(map(_read_host, _check_list(allowed)))
        self._denied = frozenset(map(_read_host, _check_list(denied)))

    def allow(self, address: Address) -> bool:
        if self._allowed is None and not self._denied:
            return True
        if not address.openable:
            return False
        wildcards = frozenset(_wildcards(address.host))
        if self._denied & {address.host, *_find_ipv4(address.host), *wildcards, *(name[2:] for name in wildcards)}:
            return False
        return self._allowed is None or bool(self._allowed & {address.host, address.registrable, *wildcards})


def _wildcards(host: str) -> Iterable[str]:
    """`*.b.c` and `*.c` for `a.b.c`; none for an IP address."""
    if host.startswith("[") or host.replace(".", "").isdigit():
        return
    labels = host.split(".")
    for place in range(1, len(labels)):
        yield f"*.{'.'.join(labels[place:])}"


def _find_ipv4(host: str) -> Iterable[str]:
    """The IPv4 address that this IPv6 address leads to: 127.0.0.1 for [::ffff:7f00:1]."""
    if host.startswith("[") and (address := IPv6Address(host[1:-1]).ipv4_mapped) is not None:
        yield str(address)


def _read_host(entry: str) -> str:
    name = entry.removeprefix("*.")
    try:
        return f"{'*.' if name != entry else ''}{read_host(name).name}"
    except BadHost:
        raise ValueError(
            f"{entry!r} is not a host: write example.com, login.example.com or *.example.com, without https:// or path"
        ) from None


def _normalize(server: str) -> str:
    seen = "".join(
        char for char in plain_line(server[:SERVER_NAME_CHARACTERS]) if char.isascii() or not is_ignored(char)
    )
    return unicodedata.normalize("NFKC", seen).casefold()


def _check_list(names: Collection[str]) -> Collection[str]:
    if isinstance(names, str):
        raise TypeError(f"Write [{names!r}] instead of {names!r}: this takes a list of names.")
    return names
