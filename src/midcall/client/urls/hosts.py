"""The host of a URL: its exact name, where it leads, and which part of it someone registered.

Pure: no DNS. The list of public suffixes comes with the package `publicsuffixlist`.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Address, IPv6Address
from typing import Any, Final, Literal, TypeAlias

import idna

from midcall.core.urls import IpAddress, Network, network_of

Place: TypeAlias = Literal["internet", "network", "computer"]
"""Where a host is: on the internet, in the user's own network, or the user's own computer."""

_DOTS: Final = str.maketrans("。．｡", "...")
"""Browsers treat these as dots. Each is one character, so positions don't shift."""
_PLAIN: Final = re.compile(r"[A-Za-z0-9_.-]*")
_DISPUTED: Final = frozenset("\u1e9e")
"""To some browsers a capital ß is a ß, to others it is ss, which is another host."""
_NUMERIC: Final = re.compile(r"[0-9]+|0[xX][0-9A-Fa-f]*")
_OWN_NETWORK: Final = ("local", "internal", "lan", "home", "intranet", "corp", "private", "home.arpa")
_PLACES: Final[dict[Network, Place]] = {
    "public": "internet",
    "private": "network",
    "link-local": "network",
    "this machine": "computer",
}
_LONGEST: Final = 253
_LONGEST_LABEL: Final = 63


class BadHost(ValueError):
    """No browser would open it, or it leads somewhere else than it seems to."""


@dataclass(frozen=True, slots=True)
class Host:
    """A host.

    Args:
        text: As the URL has it.
        name: As a browser resolves it: lower case, in ASCII; an IP address in its usual form.
        labels: The parts between the dots, decoded; empty for an IP address.
        ip: The IP address, if the host is one.
        domain: The part of `text` that someone registered, which shows whose host it is.
    """

    text: str
    name: str
    labels: tuple[str, ...]
    ip: IpAddress | None
    domain: str

    @property
    def registrable(self) -> str:
        """The domain in ASCII, for comparing."""
        if self.ip is not None:
            return self.name
        return ".".join(self.name.split(".")[-len(self.domain.translate(_DOTS).split(".")) :])

    @property
    def place(self) -> Place:
        if self.ip is not None:
            return _PLACES[network_of(str(self.ip))]
        if self.name == "localhost" or self.name.endswith(".localhost"):
            return "computer"
        alone = "." not in self.name or any(self.name.endswith(f".{suffix}") for suffix in _OWN_NETWORK)
        return "network" if alone else "internet"


def read_host(text: str) -> Host:
    """Read this host, or raise `BadHost`."""
    if len(text) > _LONGEST + 1:  # with a dot at the end; to encode a longer one would take long
        raise BadHost
    if text.startswith("["):
        ip = _ipv6(text)
        return Host(text, f"[{ip.compressed}]", (), ip, text)
    dotted = text.translate(_DOTS).removesuffix(".")
    name = ".".join(map(_encode, dotted.split(".")))
    if not name or len(name) > _LONGEST:
        raise BadHost
    if _NUMERIC.fullmatch(name.rpartition(".")[2]):
        ip = _ipv4(name)
        return Host(text, str(ip), (), ip, text)
    labels = tuple(map(_decode, name.split(".")))
    skipped = len(".".join(dotted.split(".")[: -_registrable_size(name)]))
    return Host(text, name, labels, None, text[skipped + 1 if skipped else 0 : len(dotted)])


# --- names -----------------------------------------------------------------------------------
def is_ignored(char: str) -> bool:
    """Whether this disappears when a browser reads a name (UTS #46), so that two names that differ are the same."""
    try:
        return not idna.uts46_remap(char, std3_rules=False)
    except idna.IDNAError:
        return False


def _encode(label: str) -> str:
    """The label in ASCII, as DNS has it."""
    if not all(map(_is_allowed, label)):
        raise BadHost
    try:
        mapped = idna.uts46_remap(label, std3_rules=False)
    except idna.IDNAError:
        raise BadHost from None
    encoded = mapped if mapped.isascii() else _encode_letters(mapped)
    if not encoded or len(encoded) > _LONGEST_LABEL or "." in encoded or not _PLAIN.fullmatch(encoded):
        raise BadHost
    return encoded


def _encode_letters(mapped: str) -> str:
    try:
        return idna.alabel(mapped).decode()
    except idna.InvalidCodepoint:
        if not all(map(_is_allowed, mapped)):
            raise BadHost from None
        return f"xn--{mapped.encode('punycode').decode()}"  # an emoji: browsers open them, IDNA 2008 forbids them
    except idna.IDNAError:
        raise BadHost from None


def _decode(label: str) -> str:
    """The label as people read it, or unchanged if it can't be decoded."""
    if not label.startswith("xn--"):
        return label
    try:
        return idna.ulabel(label)
    except idna.InvalidCodepoint:
        text = label[4:].encode().decode("punycode")
        return text if all(map(_is_allowed, text)) else label
    except (idna.IDNAError, UnicodeError):
        return label


def _is_allowed(char: str) -> bool:
    """Whether a name may contain this: letters, digits, marks and emoji, but nothing that looks like a slash."""
    if char.isascii():
        return _PLAIN.fullmatch(char) is not None
    category = unicodedata.category(char)
    is_sign = char.isprintable() and (category[0] in "LMN" or category == "So")
    return is_sign and char not in _DISPUTED and not is_ignored(char)


def _registrable_size(name: str) -> int:
    """How many labels form the registered domain: two in example.com, three in example.co.uk."""
    suffixes = _suffixes()
    registered = suffixes.privatesuffix(name) if suffixes is not None else None
    return len((registered or name).split("."))


@cache
def _suffixes() -> Any:
    """The list of public suffixes, or None without the package: the whole host then counts as the domain."""
    try:
        from publicsuffixlist import PublicSuffixList
    except ImportError:
        return None
    return PublicSuffixList()


# --- numbers ---------------------------------------------------------------------------------
def _ipv4(name: str) -> IPv4Address:
    """An IPv4 address in any form that browsers accept: 127.0.0.1, 127.1, 2130706433, 0x7f000001, 0177.0.0.1."""
    *first, last = (_number(part) for part in name.split("."))
    if len(first) > 3 or any(part > 255 for part in first) or last >= 256 ** (4 - len(first)):
        raise BadHost
    return IPv4Address(sum(part << (24 - 8 * place) for place, part in enumerate(first)) + last)


def _number(part: str) -> int:
    if not _NUMERIC.fullmatch(part) or len(part) > 40:
        raise BadHost
    try:
        if part[:2] in ("0x", "0X"):
            return int(part[2:] or "0", 16)
        return int(part, 8 if part.startswith("0") else 10)
    except ValueError:
        raise BadHost from None


def _ipv6(text: str) -> IPv6Address:
    if not text.endswith("]") or "%" in text:
        raise BadHost
    try:
        return IPv6Address(text[1:-1])
    except ValueError:
        raise BadHost from None
