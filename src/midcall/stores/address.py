"""Store URLs: which store a URL means, without ever leaking its password.

An unescaped `/` or `@` in a password shifts the parts of a URL, so that the password could be taken for a host or an
option. Such a URL is rejected, and no message quotes more than its scheme.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit

from midcall.errors import StoreError
from midcall.settings.environment import NO, YES
from midcall.stores.backend.failures import refuse_url
from midcall.stores.base import Store

_ACCEPTED = (
    "A store is named by a URL: memory://, sqlite:// (the default file), sqlite:///path/to/file.db, "
    "postgresql://user@host/database or redis://host/0; or by the path of a file that ends in .db."
)
_FILE = re.compile(r".+\.(db|sqlite|sqlite3)")

_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://")
_HOST = r"(?:[A-Za-z0-9._~%-]*|\[[0-9A-Fa-f:.]+\])(?::\d{1,10})?"
_HOSTS = re.compile(f"{_HOST}(?:,{_HOST})*")
_PORTS = re.compile(r":(\d+)(?=,|$)")
_LAST_PORT = 65_535


def find_scheme(url: str) -> str | None:
    """The part before `://`, if it can be a scheme."""
    found = _SCHEME.match(url)
    return found["scheme"].lower() if found else None


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """Our options in a URL."""

    given: Mapping[str, str]

    def text(self, name: str, default: str | None) -> str | None:
        return self.given.get(name, default)

    def flag(self, name: str, default: bool) -> bool:
        value = self.given.get(name, "on" if default else "off").lower()
        if value not in (*YES, *NO):
            raise wrong_option(name, "true or false")
        return value in YES

    def count(self, name: str, default: int) -> int:
        value = self.given.get(name, str(default))
        if not re.fullmatch(r"[1-9]\d{0,5}", value):
            raise wrong_option(name, "a whole number from 1")
        return int(value)

    def seconds(self, name: str, default: float) -> float:
        value = self.given.get(name, str(default))
        if not re.fullmatch(r"\d{1,6}(\.\d+)?", value) or not float(value):
            raise wrong_option(name, "a number of seconds")
        return float(value)


@dataclass(frozen=True, slots=True)
class StoreUrl:
    """A store URL, checked."""

    parts: SplitResult

    @classmethod
    def parse(cls, url: str, *schemes: str) -> StoreUrl:
        """Raise `StoreError` if it can't be read or has another scheme."""
        scheme = find_scheme(url)
        if scheme is None or scheme not in schemes:
            raise _no_store(scheme)
        try:
            parts = urlsplit(url)
        except ValueError:
            parts = None
        if parts is None or not _in_place(parts):
            raise refuse_url(scheme)
        address = cls(parts)
        if not all(1 <= int(port) <= _LAST_PORT for port in _PORTS.findall(address.hosts)):
            raise StoreError(
                f"The {scheme}:// URL of the store has an invalid port",
                advice=f"Correct the port, the number after the host and a colon: it is from 1 to {_LAST_PORT}.",
            )
        return address

    @property
    def hosts(self) -> str:
        return self.parts.netloc.rpartition("@")[2]

    @property
    def where(self) -> str:
        """` at host:port/database`: for messages."""
        place = f"{self.hosts}{self.parts.path}".rstrip("/")
        return f" at {place}" if place else ""

    @property
    def path(self) -> str:
        return unquote(self.parts.path)

    def without(self, *names: str) -> tuple[str, StoreOptions]:
        """The URL without the options of these names, and the options."""
        options = parse_qsl(self.parts.query, keep_blank_values=True)
        others = urlencode([option for option in options if option[0] not in names])
        return self.parts._replace(query=others).geturl(), StoreOptions(
            {name: value for name, value in options if name in names}
        )

    def only(self, names: Sequence[str]) -> StoreOptions:
        """All options; only these names are allowed."""
        given = dict(parse_qsl(self.parts.query, keep_blank_values=True))
        for name in given:
            if name not in names:
                known = f"only {', '.join(names)}" if names else "none"
                raise StoreError(f"The URL of the store has an unknown option: it can have {known}", advice=_ACCEPTED)
        return StoreOptions(given)


def open_store(url_or_store: str | Path | Store | None = None) -> Store:
    """Make a store from a URL. It connects when it's first used, or with `await store.open()`.

    Args:
        url_or_store: A URL, the path of a SQLite file, or a store, which is returned unchanged. Default:
            `MIDCALL_STORE`, or else a SQLite file in the user's data directory.

    Raises:
        StoreError: The URL can't be read, or the driver isn't installed. The message never contains a password.
    """
    if url_or_store is None:
        url_or_store = os.environ.get("MIDCALL_STORE") or "sqlite://"
    if isinstance(url_or_store, Path):
        return _file(url_or_store)
    if isinstance(url_or_store, str):
        return _by_url(url_or_store.strip())
    if not hasattr(url_or_store, "complete"):
        raise StoreError("This is neither a store nor the URL of one", advice=_ACCEPTED)
    return url_or_store


def _by_url(url: str) -> Store:
    match find_scheme(url):
        case None if _FILE.fullmatch(url):
            return _file(Path(url))
        case "memory":
            from midcall.stores.memory import Memory

            if url.partition("://")[2]:
                raise StoreError("A memory:// URL has nothing after the slashes", advice=_ACCEPTED)
            return Memory()
        case "sqlite":
            return _sqlite(url)
        case "postgresql" | "postgres":
            from midcall.stores.postgres import PostgreSQL

            return PostgreSQL(url)
        case "redis" | "rediss":
            from midcall.stores.redis import Redis

            return Redis(url)
        case scheme:
            raise _no_store(scheme)


def _no_store(scheme: str | None) -> StoreError:
    if scheme is None:
        text = "The URL of the store cannot be read: it has no scheme such as postgresql://"
    else:
        text = f"There is no store for {scheme}:// URLs"
    return StoreError(text, advice=_ACCEPTED)


def _sqlite(url: str) -> Store:
    from midcall.stores.sqlite import SQLite

    address = StoreUrl.parse(url, "sqlite")
    if address.parts.netloc:
        raise StoreError(
            "The sqlite:// URL of the store names a host, and a file has no host",
            advice="Use three slashes for an absolute path, as in sqlite:///var/lib/app/midcall.db.",
        )
    path = re.sub("^/+", "/", address.path) if address.path.strip("/") else ""
    if re.match(r"/[A-Za-z]:[/\\]", path):
        path = path[1:]  # sqlite:///C:/data/midcall.db
    return SQLite(path or None, busy=address.only(["busy"]).seconds("busy", 5.0))


def _file(path: Path) -> Store:
    from midcall.stores.sqlite import SQLite

    return SQLite(path)


def _in_place(parts: SplitResult) -> bool:
    hosts = parts.netloc.rpartition("@")[2]
    misplaced = "@" in f"{parts.path}{parts.query}" or parts.fragment or parts.netloc.count("@") > 1
    return not misplaced and _HOSTS.fullmatch(hosts) is not None


def wrong_option(option: str, expected: str) -> StoreError:
    return StoreError(f"The option {option!r} in the URL of the store must be {expected}")
