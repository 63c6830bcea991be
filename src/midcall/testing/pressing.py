"""A person at a page of a portal, for tests: a browser that fills in, presses a button, and runs no JavaScript."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

import httpx2

from midcall.wording import testing as wording

__all__ = ["Button", "press"]

Button: TypeAlias = Literal["accept", "decline", "cancel"]


async def press(url: str | None, button: Button = "accept", *secrets: str) -> None:
    """Open this page of a loopback portal, type these secrets into its fields, in order, and press the button.

    Raises:
        AssertionError: There is no such page, it has other fields, or it did not take what was sent.
    """
    if url is None:
        raise AssertionError(wording.page_of_a_form())
    async with httpx2.AsyncClient(follow_redirects=True) as browser:
        shown = await browser.get(url)
        if not shown.is_success:
            raise AssertionError(wording.page_not_shown(url, shown.status_code))
        page = _Page(shown.text)
        typed = dict(zip(page.empty, secrets, strict=False))
        if button == "accept" and len(secrets) != len(page.empty):
            raise AssertionError(wording.other_fields(len(page.empty), len(secrets)))
        origin = urlsplit(url)._replace(path="", query="", fragment="").geturl()
        done = await browser.post(url, data={**page.hidden, **typed, "do": button}, headers={"origin": origin})
    if not done.is_success:
        raise AssertionError(wording.page_not_taken(done.status_code, _Page(done.text).problems))


class _Page(HTMLParser):
    """What would be posted, and what is to be typed in."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.hidden: dict[str, str] = {}
        self.empty: list[str] = []
        self.problems: list[str] = []
        self._alert = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if given.get("role") == "alert":
            self._alert = tag
        if tag == "input" and given.get("type") == "hidden":
            self.hidden[given["name"]] = given.get("value", "")
        elif tag == "input" and given.get("type") == "password":
            self.empty.append(given["name"])

    def handle_data(self, data: str) -> None:
        if self._alert and data.strip():
            self.problems.append(data.strip())

    def handle_endtag(self, tag: str) -> None:
        if tag == self._alert:
            self._alert = ""
