"""A simulated person at one of our forms: reads its labels and returns what a browser would send.

Works for portal pages and for forms in an App, which are rendered alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import unescape
from urllib.parse import urlsplit

import httpx2

Pairs = list[tuple[str, str]]

_MESSAGE = re.compile(r'<blockquote[^>]*class="message"[^>]*>(.*?)</blockquote>', re.S)
_OPTION = re.compile(r'<input type="(?:radio|checkbox)"[^>]*? name="([^"]*)" value="([^"]*)"[^>]*><span>(.*?)</span>')
_LINE = re.compile(r'<input type="(?:text|number|date|email|url)"[^>]*? name="([^"]*)"')
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
        await _submit(url, self.fills)


async def approve(url: str) -> None:
    """Open a page that has nothing to fill in, and approve what it shows."""
    await _submit(url, lambda html: [])


async def _submit(url: str, fills: Callable[[str], Pairs]) -> None:
    where = urlsplit(url)
    async with httpx2.AsyncClient(headers={"origin": f"{where.scheme}://{where.netloc}"}, timeout=20) as browser:
        page = (await browser.get(url)).raise_for_status().text
        sent: dict[str, str | list[str]] = {"do": "accept", **dict(_HIDDEN.findall(page))}
        for name, value in fills(page):
            sent[name] = [*sent.get(name, []), value]
        (await browser.post(url, data=sent)).raise_for_status()


def _message(html: str) -> str:
    found = _MESSAGE.search(html)
    assert found, "a form says what it asks"
    return unescape(re.sub(r"<[^>]*>", "", found[1])).strip()
