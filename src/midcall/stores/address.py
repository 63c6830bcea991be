"""The URL of a store, read without ever saying what is in it.

A password with a `/` or an `@` in it moves the parts of a URL about, so that it can end up where a host
or an option is expected. Such a URL is refused, and no message quotes more of it than its scheme.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit

from midcall.stores.base import StoreError
from midcall.wording import stores as words

__all__ = ["Address", "Options", "scheme_of"]

_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://")
_HOST = r"(?:[A-Za-z0-9._~%-]*|\[[0-9A-Fa-f:.]+\])(?::\d{1,10})?"
_HOSTS = re.compile(f"{_HOST}(?:,{_HOST})*")
_PORTS = re.compile(r":(\d+)(?=,|$)")
_LAST_PORT = 65_535
_TRUE, _FALSE = ("1", "on", "true", "yes"), ("0", "false", "no", "off")


def scheme_of(url: str) -> str | None:
    """What stands before the `://`, if that can be a scheme."""
    found = _SCHEME.match(url)
    return found["scheme"].lower() if found else None


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a URL that are ours."""

    given: Mapping[str, str]

    def text(self, name: str, default: str | None) -> str | None:
        return self.given.get(name, default)

    def flag(self, name: str, default: bool) -> bool:
        value = self.given.get(name, "on" if default else "off").lower()
        if value not in (*_TRUE, *_FALSE):
            raise StoreError(words.wrong_option(name, "true or false"))
        return value in _TRUE

    def count(self, name: str, default: int) -> int:
        value = self.given.get(name, str(default))
        if not re.fullmatch(r"[1-9]\d{0,5}", value):
            raise StoreError(words.wrong_option(name, "a whole number from 1"))
        return int(value)

    def seconds(self, name: str, default: float) -> float:
        value = self.given.get(name, str(default))
        if not re.fullmatch(r"\d{1,6}(\.\d+)?", value) or not float(value):
            raise StoreError(words.wrong_option(name, "a number of seconds"))
        return float(value)


@dataclass(frozen=True, slots=True)
class Address:
    """A URL whose parts are where they belong."""

    parts: SplitResult

    @classmethod
    def parse(cls, url: str, *schemes: str) -> Address:
        """Raises `StoreError` if it cannot be read, or is of no such scheme."""
        scheme = scheme_of(url)
        if scheme is None:
            raise StoreError(words.not_a_url(), advice=words.accepted_urls())
        if scheme not in schemes:
            raise StoreError(words.unknown_scheme(scheme), advice=words.accepted_urls())
        try:
            parts = urlsplit(url)
        except ValueError:
            parts = None
        if parts is None or not _in_place(parts):
            raise StoreError(words.broken_url(scheme), advice=words.encode_the_password())
        address = cls(parts)
        if not all(1 <= int(port) <= _LAST_PORT for port in _PORTS.findall(address.hosts)):
            raise StoreError(
                f"The {scheme}:// URL of the store names a port that does not exist",
                advice=(
                    "Correct the port, which stands behind the host and a colon: it is a number from 1 to "
                    f"{_LAST_PORT}."
                ),
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

    def without(self, *names: str) -> tuple[str, Options]:
        """The URL without the options of these names, and the options."""
        options = parse_qsl(self.parts.query, keep_blank_values=True)
        others = urlencode([option for option in options if option[0] not in names])
        return self.parts._replace(query=others).geturl(), Options(
            {name: value for name, value in options if name in names}
        )

    def only(self, names: Sequence[str]) -> Options:
        """The options, which may have no other names than these."""
        given = dict(parse_qsl(self.parts.query, keep_blank_values=True))
        for name in given:
            if name not in names:
                raise StoreError(_unknown_option(names), advice=words.accepted_urls())
        return Options(given)


def _in_place(parts: SplitResult) -> bool:
    hosts = parts.netloc.rpartition("@")[2]
    misplaced = "@" in f"{parts.path}{parts.query}" or parts.fragment or parts.netloc.count("@") > 1
    return not misplaced and _HOSTS.fullmatch(hosts) is not None


def _unknown_option(options: Sequence[str]) -> str:
    known = f"only {', '.join(options)}" if options else "none"
    return f"The URL of the store has an option that is not known here: it can have {known}"
