"""Take pictures of the Browser answerer's page: light, dark, and on a phone.

python -m scripts.browser_picture [DIRECTORY]      # writes docs/images/browser-*.png
"""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from playwright.async_api import Page, async_playwright

from midcall.client.answerer import Waiting
from midcall.client.asked import Asked, FormQuestion, VisitQuestion
from midcall.client.browser import Browser
from midcall.core.forms.fields import Choice, Choices, Flag, Number, Text
from midcall.core.forms.form import Form

ROOT = Path(__file__).parent.parent
SECONDS = 20.0
TRIP = Form(
    Text("name", title="Full name", description="As in your passport.", min_length=2, max_length=60),
    Text("mail", title="Email", format="email"),
    Text("leaving", title="Day of departure", format="date"),
    Number("days", title="Days", integer=True, minimum=1, maximum=30, default=4),
    Choice("seat", {"w": "At the window", "a": "On the aisle"}, title="Seat", default="w"),
    Choices("extras", {"bike": "Bicycle", "guide": "City guide", "skis": "Skis"}, title="Extras", max_items=2),
    Flag("insured", title="Do you want travel insurance?"),
    Text("wishes", title="Wishes", required=False, max_length=500),
)
TRIP_ASKED = Asked(FormQuestion("Tell me about your trip to Oslo, and I will book it.", TRIP), "trip", "Travel desk")
ROUTE = Asked(FormQuestion("Which branch shall I release?", Form(Text("branch"))), "route", "Deploy", "2.1")
CALENDAR = VisitQuestion(
    "Connect your calendar, so that I can find a free day.",
    "https://accounts.calendar.example.com/connect?client=travel-desk&scope=events.read&state=f2c1",
    "c1",
)
VISIT = Asked(CALENDAR, "visit", "Travel desk")
ODD = "http://accounts.example.com@xn--pypal-4ve.example.net:8443/sign-in?next=%2Fpay"
DOUBTFUL = Asked(VisitQuestion("Please confirm your account.", ODD), "odd", "Shop")


@asynccontextmanager
async def page_with(chromium: Any, *asked: Asked, waiting: Waiting | None = None, **how: Any) -> AsyncIterator[Page]:
    """The page while these questions are pending, in this kind of browser."""
    opened: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    async with Browser(open=lambda url: loop.call_soon_threadsafe(opened.put_nowait, url)) as browser:
        asking = [asyncio.ensure_future(browser.answer(each)) for each in asked]
        if waiting is not None:
            asking.append(asyncio.ensure_future(browser.wait(waiting)))
        if not asking:
            asking.append(asyncio.ensure_future(browser.answer(ROUTE)))
        context = await chromium.new_context(**how)
        page = await context.new_page()
        await page.goto(await asyncio.wait_for(opened.get(), SECONDS))
        await page.wait_for_selector("html[data-live=yes]")
        if not asked and waiting is None:
            await page.get_by_role("button", name="Decline").click()
            await page.wait_for_selector("html[data-live=yes]")
        yield page
        await context.close()
        for task in asking:
            task.cancel()


async def fill(page: Page) -> None:
    await page.get_by_label("Full name").fill("Ada Lovelace")
    await page.get_by_label("Email").fill("ada@example.com")
    await page.get_by_label("Day of departure").fill("2026-08-01")
    await page.get_by_label("Bicycle").check()
    await page.get_by_label("No", exact=True).check()


async def fail(page: Page) -> None:
    await page.get_by_label("Full name").fill("A")
    await page.get_by_label("Email").fill("ada at example.com")
    await page.get_by_label("Days").fill("forty")
    await page.get_by_role("button", name="Send").click()
    await page.wait_for_selector(".summary")


async def take(into: Path, chosen: set[str]) -> None:
    desk = {"viewport": {"width": 1100, "height": 900}}
    dark = {**desk, "color_scheme": "dark"}
    phone = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "has_touch": True}
    waiting = Waiting(
        [VISIT, Asked(VisitQuestion("Accept the new terms.", "https://example.org/terms", "c2"), "t")], 1, 3
    )
    waiting.complete("c2")
    pictures: dict[str, tuple[tuple[Asked, ...], dict[str, Any], Any]] = {
        "light": ((TRIP_ASKED, ROUTE, VISIT), desk, fill),
        "dark": ((TRIP_ASKED, ROUTE, VISIT), dark, fill),
        "phone": ((TRIP_ASKED, ROUTE), phone, fill),
        "problems": ((TRIP_ASKED,), desk, fail),
        "problems-dark": ((TRIP_ASKED,), dark, fail),
        "problems-phone": ((TRIP_ASKED,), phone, fail),
        "visit": ((VISIT, ROUTE), desk, None),
        "visit-doubts": ((DOUBTFUL,), desk, None),
        "visit-dark": ((DOUBTFUL,), dark, None),
        "visit-phone": ((DOUBTFUL,), phone, None),
        "empty": ((), desk, None),
        "waiting": ((), desk, waiting),
    }
    executable = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        for name, (asked, how, act) in pictures.items():
            if chosen and name not in chosen:
                continue
            held = act if isinstance(act, Waiting) else None
            async with page_with(chromium, *asked, waiting=held, **how) as page:
                if callable(act):
                    await act(page)
                await page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
                await page.wait_for_selector("button:disabled", state="detached")  # Send, for a moment
                await page.screenshot(path=into / f"browser-{name}.png", full_page=True)
        await chromium.close()


def main(arguments: list[str]) -> None:
    into = Path(arguments[0]) if arguments else ROOT / "docs/images"
    chosen = set() if arguments else {"light", "dark", "phone", "visit-doubts"}
    asyncio.run(take(into, chosen))


if __name__ == "__main__":
    main(sys.argv[1:])
