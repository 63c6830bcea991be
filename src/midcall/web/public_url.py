"""Where a portal is: the address that users know it by. Of a request's Host we only see whether it fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from midcall.core.urls import is_loopback
from midcall.errors import InstallError

__all__ = ["Place", "place_at"]

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Place:
    """An address, taken apart.

    Args:
        origin: Scheme, host and port, as browsers write them in an Origin header.
        path: What comes before our own paths; empty, or with a slash in front and none behind.
        hosts: What a Host header may say.
        secure: Whether it is https.
        loopback: Whether it is this machine.
    """

    origin: str
    path: str
    hosts: frozenset[str]
    secure: bool
    loopback: bool

    @property
    def url(self) -> str:
        return f"{self.origin}{self.path}"

    def is_host(self, headers: Mapping[str, str]) -> bool:
        """Whether the request means us: a foreign name that leads here has another host."""
        return headers.get("host", "").lower() in self.hosts

    def is_from_page(self, headers: Mapping[str, str]) -> bool:
        """Whether a page of ours sent this. Browsers name the origin of every POST."""
        site = headers.get("sec-fetch-site", "same-origin")
        return headers.get("origin", "").lower() == self.origin and site == "same-origin"


def _bad_base_url(url: str, why: str) -> str:
    return f"A portal cannot be at {url!r}: {why}."


def place_at(base_url: str, hosts: tuple[str, ...] = (), *, wrong: Callable[[str, str], str] = _bad_base_url) -> Place:
    """The place with this address, if a portal may be there; or whatever it is, which `wrong` then knows.

    Raises:
        InstallError: It is no such address: not absolute, with a query, or neither https nor loopback.
    """
    try:
        parts = urlsplit(base_url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError as exc:
        raise InstallError(wrong(base_url, str(exc))) from None
    if parts.scheme not in _PORTS or not host:
        raise InstallError(wrong(base_url, "give a full address, such as https://www.example.com"))
    if parts.query or parts.fragment or parts.username is not None or any(c <= " " for c in base_url):
        raise InstallError(wrong(base_url, "the address may have a path, but no query, no fragment and no user name"))
    if parts.scheme == "http" and not is_loopback(host):
        raise InstallError(wrong(base_url, "it must be https, except on loopback"))
    name = f"[{host}]" if ":" in host else host
    known = _authorities(name, port, _PORTS[parts.scheme])
    return Place(
        f"{parts.scheme}://{known[0]}",
        parts.path.rstrip("/"),
        frozenset({*known, *(each.lower() for each in hosts)}),
        parts.scheme == "https",
        is_loopback(host),
    )


def _authorities(name: str, port: int | None, usual: int) -> tuple[str, ...]:
    """How a client may write this host; first, how browsers do."""
    return (name, f"{name}:{usual}") if port in (None, usual) else (f"{name}:{port}",)
