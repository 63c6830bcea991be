"""Inspect a URL before the user opens it: whose site it is, and every reason for doubt.

hosts.py    the host of a URL, and which part of it someone registered
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
from urllib.parse import quote

from midcall.client.lines.excerpt import shorten
from midcall.client.urls.hosts import BadHost, Host, read_host
from midcall.core.text import plain_line
from midcall.core.urls import is_web_url
from midcall.language import _
from midcall.settings.client import LONG_URL_CHARACTERS, URL_CHARACTERS

_PORTS: Final = {"http": 80, "https": 443}
_INVISIBLE: Final = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""Python calls these printable, but nothing appears."""
_FORM: Final = re.compile(
    r"(?P<scheme>https?)://(?P<user>[^/?#]*@)?(?P<host>\[[^]/?#@]*]|[^/?#@:]*)(?P<port>:[0-9]*)?(?P<rest>(?:[/?#].*)?)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Address:
    """A URL to show before consent.

    Args:
        url: The whole URL, as the server sent it.
        parts: What comes before the registered domain, that domain, and what comes after it. Joined, they
            are the URL. Without a registered domain, that part is empty.
        doubts: Reasons for doubt, each a sentence for the user.
        why_not: Why it must not be opened, if so; completes "cannot be opened: ".
        host: The host in ASCII, for comparing; empty if the URL has none.
        registrable: The domain in ASCII.
    """

    url: str
    parts: tuple[str, str, str]
    doubts: tuple[str, ...] = ()
    why_not: str = ""
    host: str = ""
    registrable: str = ""

    @property
    def openable(self) -> bool:
        """Whether it may be offered to the user: an absolute http or https URL that hides nothing."""
        return not self.why_not

    @property
    def domain(self) -> str:
        """The registered domain; for an IP address and localhost, the whole host."""
        return self.parts[1]


def look(url: str) -> Address:
    """Inspect an untrusted URL. Never raises, and makes no requests."""
    found = _FORM.fullmatch(url) if len(url) <= URL_CHARACTERS else None
    if why_not := _why_not(url, found):
        return Address(url, (url, "", ""), why_not=why_not)
    assert found is not None, "_why_not refuses everything else"
    try:
        host = read_host(found["host"])
    except BadHost:
        return Address(url, (url, "", ""), why_not=_("its address names no site that a browser could find"))
    start = found.start("host") + (host.text.rindex(host.domain) if host.ip is None else 0)
    end = start + len(host.domain)
    parts = (url[:start], url[start:end], url[end:])
    return Address(url, parts, tuple(_doubts(found, host)), "", host.name, host.registrable)


def in_ascii(url: str) -> str:
    """The same address in ASCII, to be copied from a terminal, which may break it anywhere: no mark is in ASCII."""
    found = _FORM.fullmatch(url)
    if found is not None and not found["host"].isascii():
        url = f"{url[: found.start('host')]}{look(url).host}{url[found.end('host') :]}"
    return quote(url, safe="!#$%&'()*+,/:;=?@[]~")


def _why_not(url: str, found: re.Match[str] | None) -> str:
    """Why this must not be opened, or an empty string."""
    if len(url) > URL_CHARACTERS:
        return _("its address has {count:,} characters, more than the {most:,} that can be checked").format(
            count=len(url), most=URL_CHARACTERS
        )
    if not url.isprintable() or " " in url or "\\" in url or _INVISIBLE.search(url):
        return _("its address contains characters that do not belong there")
    if found is None or not is_web_url(url):
        return _("its address is not a plain http or https address")
    return ""


# --- doubts ----------------------------------------------------------------------------------
def _doubts(found: re.Match[str], host: Host) -> Iterator[str]:
    if user := found["user"]:
        yield _('The part before the @ ("{user}") is not the site. The site is {host}.').format(
            user=shorten(user[:-1], 60), host=host.text
        )
    yield from _doubts_about_place(host)
    yield from _doubts_about_name(host)
    scheme, port = found["scheme"].lower(), int((found["port"] or "")[1:] or 0)
    away = host.place != "computer"
    if port and port != _PORTS[scheme] and away:
        yield _("It uses the unusual port {port}.").format(port=port)
    if scheme == "http" and away:
        yield _("It is plain http: others on the way can read and change what is sent.")
    if any(unicodedata.bidirectional(char) in ("R", "AL") for char in found[0]):
        yield _("It contains letters that run from right to left, which can make its parts appear in another order.")
    if len(found[0]) > LONG_URL_CHARACTERS:
        yield _("It is very long ({count:,} characters). What counts is the name of the site.").format(
            count=len(found[0])
        )


def _doubts_about_place(host: Host) -> Iterator[str]:
    if host.ip is not None and host.text.lower() != host.name:
        yield _("{text} is another way to write the number {ip}, which hides where it leads.").format(
            text=host.text, ip=host.name
        )
    elif host.ip is not None and host.place == "internet":
        yield _("The site has no name, only the number {ip}. Nobody can tell whose it is.").format(ip=host.name)
    if host.place == "computer":
        yield _("It leads to a program on this computer ({host}), not to the internet.").format(host=host.name)
    elif host.place == "network":
        yield _("It leads into your own network ({host}), not to the internet.").format(host=host.name)


def _doubts_about_name(host: Host) -> Iterator[str]:
    if host.ip is not None:
        return
    decoded = ".".join(host.labels)
    if not host.text.isascii():
        yield _("The name of the site is not written in plain letters (a to z). Its exact name is {name}.").format(
            name=host.name
        )
    elif decoded != host.name:
        yield _('{name} is a name in other letters. It reads "{decoded}", and can look like another site.').format(
            name=host.name, decoded=plain_line(decoded)
        )
    elif "xn--" in host.name:
        yield _("The name of the site is written in code (xn--) that cannot be read.")
    for label in host.labels:
        if len(found := scripts(label)) > 1:
            yield _('"{label}" mixes letters of different scripts ({scripts}).').format(
                label=plain_line(label), scripts=", ".join(sorted(map(str.capitalize, found)))
            )
        if not label.isascii() and (plain := looks_like(label)) is not None:
            letters = (_describe_letters(script, found, label) for script, found in foreign_letters(label).items())
            yield _('It can be mistaken for "{plain}", but is another name: {letters}.').format(
                plain=plain, letters="; ".join(letters)
            )


def _describe_letters(script: str, found: list[tuple[int, str]], label: str) -> str:
    """Name foreign letters by position: the two names may look the same, so showing both would not help."""
    what = script or _("not one of a to z")
    if len(found) == len(label):
        return (_("all of its letters are {what}") if len(label) > 1 else _("its letter is {what}")).format(what=what)
    places = [f'{place} ("{char}")' for place, char in found]
    if len(places) > 6:
        places[5:] = [_("{count} more").format(count=len(places) - 5)]
    *first, last = places
    if not first:
        return _("letter {place} is {what}").format(place=last, what=what)
    return _("letters {places} and {last} are {what}").format(places=", ".join(first), last=last, what=what)


# --- opening ---------------------------------------------------------------------------------
def open_in_browser(url: str) -> bool:
    """Open this URL in the system's browser. Returns whether that worked. Call it only after the user has agreed.

    Blocks while the browser starts, so call it in a thread. Doesn't start a browser that would take over the
    terminal, unless the user set it in BROWSER.
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
    """Whether the user would see a browser that is started here."""
    if os.environ.get("BROWSER") or sys.platform == "win32":
        return True
    if sys.platform == "darwin":
        return "SSH_CONNECTION" not in os.environ
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


_LATIN: Final = dict(
    zip(
        # Cyrillic, Greek, Armenian; each above the Latin letter that it looks like.
        "абвгԁеһіјкӏмноԛрѕтуԝхѵшҽ" + "αβεγηικνορτυχω" + "աɡցհոօսզ",
        "a6brdehijklmhoqpstywxvwe" + "abeyniKvoptuxw".lower() + "wggnnouq",
        strict=True,
    )
)
_EAST_ASIAN: Final = frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO"})
"""Scripts that are written together."""


def scripts(label: str) -> frozenset[str]:
    """The English names of the scripts that this label's letters belong to."""
    names = {unicodedata.name(char, "UNKNOWN").split()[0] for char in label if char.isalpha()}
    together = names & _EAST_ASIAN
    return frozenset((names - together) | ({"East Asian"} if together else set[str]()))


def looks_like(label: str) -> str | None:
    """The ASCII name that this label can be mistaken for, if each of its letters looks like one from a to z."""
    base = "".join(char for char in unicodedata.normalize("NFKD", label.casefold()) if not unicodedata.combining(char))
    seen = "".join(_LATIN.get(char, char) for char in base)
    return seen if seen.isascii() and seen != label.casefold() else None


def foreign_letters(label: str) -> dict[str, list[tuple[int, str]]]:
    """By script, the letters that aren't a to z, each with its position from 1. The script is "" if unknown."""
    found: dict[str, list[tuple[int, str]]] = {}
    for place, char in enumerate(label, 1):
        if not char.isascii():
            script = "".join(scripts(char) - {"LATIN", "UNKNOWN"})
            found.setdefault(script.capitalize(), []).append((place, char))
    return found
