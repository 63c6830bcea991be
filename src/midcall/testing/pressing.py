"""A person at a page of a portal, for tests: a browser that fills in, presses a button, and runs no JavaScript."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

import httpx2

from midcall.testing.page import Page

__all__ = ["Button", "press"]

Button: TypeAlias = Literal["accept", "decline", "cancel"]


async def press(
    url: str | None, button: Button = "accept", *secrets: str, fields: Mapping[str, Any] | None = None
) -> None:
    """Open this page of a loopback portal, fill it in, and press the button.

    Args:
        url: The address, as in `asked.url`.
        button: Which one.
        secrets: What to type into the fields for secrets, in order.
        fields: What to fill into a form, by the labels of its fields: text, a number, a date or datetime, a bool, or
            the options to choose, as the page shows them. Other fields keep their defaults.

    Raises:
        AssertionError: There is no such page, it has other fields, or it did not take what was sent.
    """
    if url is None:
        raise AssertionError("there is no page to open: the question is a form")
    async with httpx2.AsyncClient(follow_redirects=True) as browser:
        shown = await browser.get(url)
        if not shown.is_success:
            raise AssertionError(f"the page at {url} was answered with {shown.status_code}")
        page = Page(shown.text)
        if button == "accept" and len(secrets) != len(page.secrets):
            raise AssertionError(f"the page has {len(page.secrets)} fields for secrets, and {len(secrets)} were given")
        page.fill(fields or {})
        typed = {name: [value] for name, value in zip(page.secrets, secrets, strict=False)}
        origin = urlsplit(url)._replace(path="", query="", fragment="").geturl()
        done = await browser.post(url, data={**page.sent(), **typed, "do": button}, headers={"origin": origin})
    if not done.is_success:
        raise AssertionError(_page_not_taken(done.status_code, Page(done.text).problems))


def _page_not_taken(status: int, problems: Sequence[str]) -> str:
    return f"the page did not take it: {status} {' '.join(problems)}".strip()
