"""Which servers may ask, and which hosts a user may be sent to."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable

from midcall.client.urls import Address
from midcall.client.urls.hosts import BadHost, is_ignored, read_host
from midcall.core.text import plain_line
from midcall.core.urls import read_address
from midcall.settings.client import SERVER_NAME_CHARACTERS


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
        self._denied_places = frozenset(_find_place(entry) for entry in self._denied if not entry.startswith("*."))

    def allow(self, address: Address) -> bool:
        if self._allowed is None and not self._denied:
            return True
        if not address.openable:
            return False
        wildcards = frozenset(_wildcards(address.host))
        if self._denied & {address.host, *wildcards, *(name[2:] for name in wildcards)}:
            return False
        if _find_place(address.host) in self._denied_places:
            return False
        return self._allowed is None or bool(self._allowed & {address.host, address.registrable, *wildcards})


def _wildcards(host: str) -> Iterable[str]:
    """`*.b.c` and `*.c` for `a.b.c`; none for an IP address."""
    if host.startswith("[") or host.replace(".", "").isdigit():
        return
    labels = host.split(".")
    for place in range(1, len(labels)):
        yield f"*.{'.'.join(labels[place:])}"


def _find_place(name: str) -> str:
    """Where this host leads, however it's written: all names and addresses of this machine lead to the same place."""
    host = read_host(name)
    if host.place == "computer":
        return "this machine"
    return host.name if host.ip is None else str(read_address(str(host.ip)))


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
