"""Who may ask, and where a user may be sent."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable

from midcall.client.urls.consent import Address
from midcall.client.urls.hosts import BadHost, read_host
from midcall.core.text import plain_line

__all__ = ["Hosts", "Servers"]


class Servers:
    """Servers by the names that they give themselves. Case and what cannot be seen make no difference."""

    def __init__(self, allowed: Collection[str] | None, denied: Collection[str]) -> None:
        self._allowed = None if allowed is None else frozenset(map(_named, _several(allowed)))
        self._denied = frozenset(map(_named, _several(denied)))

    def allow(self, server: str) -> bool:
        name = _named(server)
        return name not in self._denied and (self._allowed is None or name in self._allowed)


class Hosts:
    """Hosts to visit: names, domains, and `*.example.com` for all that is below."""

    def __init__(self, allowed: Collection[str] | None, denied: Collection[str]) -> None:
        self._allowed = None if allowed is None else frozenset(map(_host, _several(allowed)))
        self._denied = frozenset(map(_host, _several(denied)))

    def allow(self, address: Address) -> bool:
        if self._allowed is None and not self._denied:
            return True
        if not address.openable:
            return False
        above = frozenset(_above(address.host))
        if address.host in self._denied or above & self._denied or {name[2:] for name in above} & self._denied:
            return False
        return self._allowed is None or bool(self._allowed & {address.host, address.registrable, *above})


def _above(host: str) -> Iterable[str]:
    """`*.b.c` and `*.c` for `a.b.c`; none for a number."""
    if host.startswith("[") or host.replace(".", "").isdigit():
        return
    labels = host.split(".")
    for place in range(1, len(labels)):
        yield f"*.{'.'.join(labels[place:])}"


def _host(entry: str) -> str:
    name = entry.removeprefix("*.")
    try:
        return f"{'*.' if name != entry else ''}{read_host(name).name}"
    except BadHost:
        raise ValueError(
            f"{entry!r} is no host: write example.com, login.example.com or *.example.com, without https:// and path."
        ) from None


def _named(server: str) -> str:
    return unicodedata.normalize("NFKC", plain_line(server[:10_000])).casefold()


def _several(names: Collection[str]) -> Collection[str]:
    if isinstance(names, str):
        raise TypeError(f"Write [{names!r}], and not {names!r}: this takes several names.")
    return names
