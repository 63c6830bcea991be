"""The public address of a site. The Host of a request is only compared with it, never trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from midcall.core.urls import BadUrl, is_loopback, is_secure, parse_url
from midcall.errors import InstallError

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Place:
    """The parts of an address.

    Args:
        origin: Scheme, host and port, as browsers send them in an Origin header.
        path: The prefix of our paths: empty, or with a leading slash and no trailing one.
        hosts: Accepted values of the Host header.
        secure: Whether it is https.
        loopback: Whether it is on loopback.
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
        """Whether the request is for this host, and not for another name that resolves to us."""
        return headers.get("host", "").lower() in self.hosts

    def is_from_page(self, headers: Mapping[str, str]) -> bool:
        """Whether our own page sent this. Browsers send the origin with every POST."""
        site = headers.get("sec-fetch-site", "same-origin")
        return headers.get("origin", "").lower() == self.origin and site == "same-origin"


def place_at(url: str, hosts: tuple[str, ...] = (), *, what: str = "A portal") -> Place:
    """The place at this URL. `what` is there, for the error.

    Raises:
        InstallError: The URL is not absolute, has a query, or is neither https nor on loopback.
    """

    def wrong(why: str) -> InstallError:
        return InstallError(f"{what} cannot be at {url!r}: {why}.")

    try:
        parts = parse_url(url)
    except BadUrl as error:
        raise wrong(error.detail or "use a full URL, such as https://www.example.com") from None
    host, port = parts.hostname or "", parts.port
    if parts.query or parts.fragment or parts.username is not None or any(c <= " " for c in url):
        raise wrong("the URL may have a path, but no query, fragment or user name")
    if not is_secure(parts):
        raise wrong("it must be https, except on loopback")
    name = f"[{host}]" if ":" in host else host
    known = _authorities(name, port, _PORTS[parts.scheme])
    return Place(
        f"{parts.scheme}://{known[0]}",
        parts.path.rstrip("/"),
        frozenset({*known, *(each.lower() for each in hosts)}),
        parts.scheme == "https",
        is_loopback(host),
    )


def local_place(host: str, port: int, hosts: tuple[str, ...] = ()) -> Place:
    """The place of a site that listens on this machine."""
    return place_at(f"http://{f'[{host}]' if ':' in host else host}:{port}", hosts)


def _authorities(name: str, port: int | None, usual: int) -> tuple[str, ...]:
    """How clients may write this host; the first is how browsers do."""
    return (name, f"{name}:{usual}") if port in (None, usual) else (f"{name}:{port}",)
