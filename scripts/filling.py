"""A simulated person at one of our forms: reads its labels and returns what a browser would send.

Works for portal pages and for forms in an App, which are rendered alike.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from html import unescape
from typing import Final
from urllib.parse import urljoin, urlsplit

import httpx2

from midcall.settings.portal import PORTAL_PAUSE_SECONDS

Pairs = list[tuple[str, str]]
READS_SECONDS: Final = PORTAL_PAUSE_SECONDS + 0.1
"""What takes less to answer than to read isn't counted, on a page to which another one has led."""
STAYS_SECONDS: Final = 30.0

_MESSAGE = re.compile(r'<blockquote[^>]*class="message"[^>]*>(.*?)</blockquote>', re.S)
_OPTION = re.compile(r'<input type="(?:radio|checkbox)"[^>]*? name="([^"]*)" value="([^"]*)"[^>]*><span>(.*?)</span>')
_LINE = re.compile(r'<input type="(?:text|number|date|email|url)"[^>]*? name="([^"]*)"')
_REFRESH = re.compile(r'http-equiv="refresh" content="0; url=([^"]+)"')
_HIDDEN = re.compile(r'<input type="hidden" name="([^"]*)" value="([^"]*)"')


class Person:
    """Has an answer for each message: text to type, or titles to choose."""

    def __init__(self, answers: dict[str, str | Sequence[str]]) -> None:
        self._answers = answers
        self.filled = 0

    def fills(self, html: str) -> Pairs:
        """This form's fields, filled with the answer to its message."""
        answer = self._answers[_message(html)]
        self.filled += 1
        if options := [(name, value, unescape(title)) for name, value, title in _OPTION.findall(html)]:
            chosen = [answer] if isinstance(answer, str) else answer
            return [(name, value) for name, value, title in options if title in chosen]
        [name] = _LINE.findall(html)
        assert isinstance(answer, str)
        return [(name, answer)]

    async def visits(self, url: str) -> None:
        """Open the page, fill it in and submit it."""
        async with _browse(url) as browser:
            await _submit(browser, await browser.get(url), self.fills)

    async def stays(self, url: str) -> None:
        """Open the page and submit it, and then each page that it leads to, until there are no more questions."""
        async with _browse(url) as browser, asyncio.timeout(STAYS_SECONDS):
            page = await _submit(browser, await browser.get(url), self.fills)
            while found := _REFRESH.search(page.text):
                page = await browser.get(urljoin(str(page.url), unescape(found[1])))
                if _MESSAGE.search(page.text):
                    await asyncio.sleep(READS_SECONDS)
                    page = await _submit(browser, page, self.fills)


async def approve(url: str) -> None:
    """Open a page that has nothing to fill in, and approve what it shows."""
    async with _browse(url) as browser:
        await _submit(browser, await browser.get(url), lambda html: [])


def _browse(url: str) -> httpx2.AsyncClient:
    where = urlsplit(url)
    origin = {"origin": f"{where.scheme}://{where.netloc}"}
    return httpx2.AsyncClient(headers=origin, timeout=20, follow_redirects=True)


async def _submit(browser: httpx2.AsyncClient, page: httpx2.Response, fills: Callable[[str], Pairs]) -> httpx2.Response:
    html = page.raise_for_status().text
    sent: dict[str, str | list[str]] = {"do": "accept", **dict(_HIDDEN.findall(html))}
    for name, value in fills(html):
        sent[name] = [*sent.get(name, []), value]
    return (await browser.post(page.url, data=sent)).raise_for_status()


def _message(html: str) -> str:
    found = _MESSAGE.search(html)
    assert found, "a form says what it asks"
    return unescape(re.sub(r"<[^>]*>", "", found[1])).strip()
