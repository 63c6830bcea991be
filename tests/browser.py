"""A real browser, for tests that look at pages as people do."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.skips import chromium


@asynccontextmanager
async def launch() -> AsyncIterator[Any]:
    """Chromium, driven by Playwright, until this is closed."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        try:
            yield browser
        finally:
            await browser.close()
