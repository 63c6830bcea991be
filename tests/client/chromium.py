"""Open our pages in a real browser and record everything the browser does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from tests.client.browsing import SECONDS, Desk

PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
LIVE = "html[data-live=yes]"


class Seen:
    """A page in a browser, and every request that the browser made."""

    def __init__(self, context: Any, page: Any) -> None:
        self.context = context
        self.page = page
        self.requests: list[Any] = []
        self.errors: list[str] = []
        context.on("request", lambda request: self.requests.append(request))
        page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    @property
    def hosts(self) -> set[str | None]:
        return {urlsplit(request.url).hostname for request in self.requests}

    async def press(self, name: str) -> None:
        await self.page.get_by_role("button", name=name, exact=True).click()

    async def says(self, text: str) -> None:
        await self.page.get_by_text(text).first.wait_for(timeout=SECONDS * 1000)


@asynccontextmanager
async def looking(
    browser: Any, at: Desk, *, js: bool = True, address: str | None = None, **how: Any
) -> AsyncIterator[Seen]:
    """The page, opened by its address."""
    context = await browser.new_context(java_script_enabled=js, **how)
    context.set_default_timeout(SECONDS * 1000)
    try:
        page = await context.new_page()
        seen = Seen(context, page)
        await page.goto(address or await at.address())
        await page.wait_for_selector(LIVE if js else "#main", state="attached")
        yield seen
        assert seen.errors == []
        assert seen.hosts <= {"127.0.0.1"}, "a request left this machine"
    finally:
        await context.close()
