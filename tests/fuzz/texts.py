"""Texts and URLs of strangers: messages, labels, server names, addresses."""

from __future__ import annotations

import unicodedata
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Final

from midcall.client.guard.lists import Hosts, Servers
from midcall.client.lines import excerpt as lines
from midcall.client.urls import look
from midcall.core import urls
from midcall.core.forms.secrets import message_asks_for_secret
from midcall.core.text import plain, plain_line
from midcall.core.wire import escape_halves, find_half_character
from midcall.doctor.masking import mask
from midcall.errors import InvalidQuestion
from midcall.portal.logs import mask as mask_path
from midcall.web.forms import excerpt as pages
from tests.fuzz.fuzzer import REJECTED, Finding, Take, Target
from tests.fuzz.mutation import mutate_text

TEXTS: Final = (
    "How many days will you stay?",
    "Please sign in at https://example.com/connect?next=%2Fhome, then come back.",
    "See [the terms](https://example.com/terms) (or www.example.com/help), or write to mailto:help@example.com.",
    "Enter your password",
    "Line one\nLine two\n\tindented\r\nLine three",
    "Привет, 世界! 👩‍👩‍👧‍👦 e\u0301 \u0627\u0644\u0639\u0631\u0628\u064a\u0629 עברית",
    "\x1b[31mred\x1b[0m and \x1b]0;title\x07 done",
    "midcall.example.co.uk/path (see note 1], [2).",
    "a" * 300,
    "",
)
URLS: Final = (
    "https://example.com/",
    "https://user:pass@login.example.co.uk:8443/a/b;c?d=e&f=g#h",
    "http://127.0.0.1:8000/callback?code=abc",
    "http://localhost/x",
    "https://[::1]:9000/y",
    "https://[fe80::1%25eth0]/",
    "http://0x7f.1/",
    "http://2130706433/",
    "https://xn--bcher-kva.example/",
    "https://bücher.example。com/",
    "https://аpple.com/",
    "https://例え.テスト/パス",
    "https://sub.domain.github.io/repo",
    "postgresql://user:secret@db.example.com:5432/name?sslmode=require",
    "https://example.com/?access_token=1",
)
_HOSTS: Final = Hosts(["example.com", "*.example.org"], ["evil.example", "*.bad.example"])
_SERVERS: Final = Servers(["Travel"], ["Evil"])
_CONTROLS: Final = frozenset("\u200b\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\u00ad")


def _make_text(random: Random) -> str:
    return mutate_text(random, random.choice(TEXTS), TEXTS)


@asynccontextmanager
async def _open_texts() -> AsyncIterator[Take]:
    async def take(text: str) -> str:
        for shown in (plain(text), plain_line(text), pages.text(text), pages.line(text), lines.one_line(text)):
            _check_printable(shown)
        for shown in (lines.shorten(text), lines.shorten_paragraphs(text), lines.server_name(text)):
            _check_printable(shown)
        links = urls.find_links(text)
        message_asks_for_secret(text)
        _SERVERS.allow(text)
        find_half_character(text)
        escape_halves(text).encode()
        mask(text)
        mask_path(text)
        return "with links" if links else "plain"

    yield take


def _check_printable(shown: str) -> None:
    """Nothing in it acts on a terminal, hides, or turns the direction of the text around."""
    for char in shown:
        if char != "\n" and (unicodedata.category(char) in ("Cc", "Cs") or char in _CONTROLS):
            raise Finding(f"{char!r} is shown as it is in {shown[:500]!r}")


def _make_url(random: Random) -> str:
    return mutate_text(random, random.choice(URLS), URLS)


@asynccontextmanager
async def _open_urls() -> AsyncIterator[Take]:
    async def take(url: str) -> str:
        address = look(url)
        if "".join(address.parts) != url:
            raise Finding(f"the parts {address.parts} are not the URL")
        _HOSTS.allow(address)
        urls.is_web_url(url)
        urls.is_safe(url)
        for doubt in address.doubts:
            _check_printable(doubt)
        try:
            urls.check_address(url)
        except InvalidQuestion as error:
            str(error)
        if not address.openable:
            return REJECTED
        return "doubted" if address.doubts else "openable"

    yield take


TARGETS: Final = (
    Target("texts", _make_text, _open_texts, short=1_500, share=150, must=("plain", "with links")),
    Target("urls", _make_url, _open_urls, short=1_500, share=200, must=("openable", "doubted")),
)
