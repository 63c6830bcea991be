"""An address that a server wants the user to open: what there is to see, and every reason for doubt.

    address = look("https://accounts.example.com/connect?state=1")
    before, domain, after = address.parts        # "https://accounts.", "example.com", "/connect?state=1"

Looking fetches nothing. `open_in_browser` is for after the user's yes.
"""

from __future__ import annotations

import os
import re
import sys
import unicodedata
import webbrowser
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from midcall.client.urls.hosts import BadHost, Host, read_host
from midcall.client.urls.lookalikes import looks_like, scripts, strange
from midcall.core.text import plain_line
from midcall.wording.client import addresses as wording

__all__ = ["Address", "look", "open_in_browser"]

LONGEST: Final = 32_768
"""More no browser is given, and nobody looks at."""
_LONG: Final = 2_000
_PORTS: Final = {"http": 80, "https": 443}
_UNSEEN: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""They count as printable, and there is nothing to see."""
_FORM: Final = re.compile(
    r"(?P<scheme>https?)://(?P<user>[^/?#]*@)?(?P<host>\[[^]/?#@]*]|[^/?#@:]*)(?P<port>:[0-9]*)?(?P<rest>(?:[/?#].*)?)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Address:
    """An address to show before consent.

    Args:
        url: The whole of it, as the server sent it.
        parts: What stands before the domain that someone registered, that domain, and what stands
            after it. Together they are the URL. The domain is empty where there is none.
        doubts: Reasons for doubt, each a sentence for the user.
        why_not: Why it must not be opened, if so; goes on after "cannot be opened: ".
        host: The host in plain letters, to be compared; empty where there is none.
        registrable: The same for the domain.
    """

    url: str
    parts: tuple[str, str, str]
    doubts: tuple[str, ...] = ()
    why_not: str = ""
    host: str = ""
    registrable: str = ""

    @property
    def openable(self) -> bool:
        """Whether it may be offered to the user: an absolute web address that shows what it is."""
        return not self.why_not

    @property
    def domain(self) -> str:
        """The domain that someone registered; of an IP address and of localhost, the whole host."""
        return self.parts[1]


def look(url: str) -> Address:
    """Read an address, of which nothing is known. Never raises, and never looks anything up."""
    if why_not := _unfit(url):
        return Address(url, (url, "", ""), why_not=why_not)
    found = _FORM.fullmatch(url)
    try:
        assert found is not None, "an address that is fit has this form"
        host = read_host(found["host"])
    except BadHost:
        return Address(url, (url, "", ""), why_not=wording.host_not_readable())
    start = found.start("host") + (host.text.rindex(host.domain) if host.ip is None else 0)
    end = start + len(host.domain)
    parts = (url[:start], url[start:end], url[end:])
    return Address(url, parts, tuple(_doubts(found, host)), "", host.name, host.registrable)


# --- what cannot be opened -------------------------------------------------------------------
def _unfit(url: str) -> str:
    """Why this is no address to offer, or nothing."""
    if len(url) > LONGEST:
        return wording.address_too_long(len(url), LONGEST)
    if not url.isprintable() or " " in url or "\\" in url or any(map(_is_unseen, url)):
        return wording.address_hides()
    found = _FORM.fullmatch(url)
    if found is None or not found["host"]:
        return wording.cannot_be_opened()
    return "" if _parsable(url) else wording.cannot_be_opened()


def _is_unseen(char: str) -> bool:
    return char in _UNSEEN or "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"


def _parsable(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


# --- doubts ----------------------------------------------------------------------------------
def _doubts(found: re.Match[str], host: Host) -> Iterator[str]:
    if user := found["user"]:
        yield wording.doubt_user(plain_line(_shortened(user[:-1])), host.text)
    yield from _doubts_of_place(host)
    yield from _doubts_of_name(host)
    scheme, port = found["scheme"].lower(), int((found["port"] or "")[1:] or 0)
    away = host.place != "computer"
    if port and port != _PORTS[scheme] and away:
        yield wording.doubt_port(port)
    if scheme == "http" and away:
        yield wording.doubt_http()
    if any(unicodedata.bidirectional(char) in ("R", "AL") for char in found[0]):
        yield wording.doubt_direction()
    if len(found[0]) > _LONG:
        yield wording.doubt_length(len(found[0]))


def _doubts_of_place(host: Host) -> Iterator[str]:
    usual = host.ip is None or host.text.lower() == host.name
    if not usual:
        yield wording.doubt_odd_ip(host.text, host.name)
    elif host.ip is not None and host.place == "internet":
        yield wording.doubt_ip(host.name)
    if host.place == "computer":
        yield wording.doubt_this_computer(host.name)
    elif host.place == "network":
        yield wording.doubt_own_network(host.name)


def _doubts_of_name(host: Host) -> Iterator[str]:
    if host.ip is not None:
        return
    read = ".".join(host.labels)
    if not host.text.isascii():
        yield wording.doubt_not_ascii(host.name)
    elif read != host.name:
        yield wording.doubt_punycode(host.name, plain_line(read))
    elif "xn--" in host.name:
        yield wording.doubt_bad_punycode()
    for label in host.labels:
        if len(scripts(label)) > 1:
            yield wording.doubt_mixed(plain_line(label), sorted(map(str.capitalize, scripts(label))))
        if not label.isascii() and (plain := looks_like(label)) is not None:
            yield wording.doubt_looks_like(plain, strange(label), len(label))


def _shortened(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


# --- opening ---------------------------------------------------------------------------------
def open_in_browser(url: str) -> bool:
    """Open this address in the system's browser, and tell whether there is one. Only after the user's yes.

    It blocks while the browser is started: call it in a thread. A browser that would take over the
    terminal is not started, unless the user named it in BROWSER.
    """
    if not look(url).openable or not _has_screen():
        return False
    try:
        browser = webbrowser.get()
        if type(browser) is webbrowser.GenericBrowser and not os.environ.get("BROWSER"):
            return False
        return browser.open(url)
    except (webbrowser.Error, OSError):
        return False


def _has_screen() -> bool:
    """Whether a browser started here would be seen by the user."""
    if os.environ.get("BROWSER") or sys.platform == "win32":
        return True
    if sys.platform == "darwin":
        return "SSH_CONNECTION" not in os.environ
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
