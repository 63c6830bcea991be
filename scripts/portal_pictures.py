"""Take pictures of the portal's pages: light, dark, and on a phone. Without arguments, those in the docs."""

from __future__ import annotations

import asyncio
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Page, async_playwright
from starlette.applications import Starlette
from starlette.requests import Request

from midcall.core.caller import ServerIdentity
from midcall.core.forms.fields import Choice, Flag, Number, Text
from midcall.core.forms.form import Form
from midcall.portal.app import Portal
from midcall.portal.identity import FromCallable
from midcall.portal.oauth import Provider
from midcall.settings.web import FAILED_OPENS
from midcall.stores.interactions import Ending, Interaction, Kind
from midcall.stores.memory import Memory
from midcall.web.local_server import LocalServer, bind

ROOT = Path(__file__).parent.parent
ADA = "https://id.example.com ada"
LIGHT = {"viewport": {"width": 900, "height": 760}}
LOOKS: dict[str, dict[str, Any]] = {
    "light": LIGHT,
    "dark": {**LIGHT, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 375, "height": 780}, "device_scale_factor": 2, "has_touch": True},
}
DOCS = {"secret-light", "approve-light", "approve-dark", "authorize-light", "form-phone", "mine-light", "done-light"}
TRIP = Form(
    Text("name", title="Full name", description="As in your passport.", min_length=2),
    Number("days", title="Days", integer=True, minimum=1, maximum=30, default=4),
    Choice("seat", {"w": "At the window", "a": "On the aisle"}, title="Seat", default="w"),
    Flag("insured", title="Do you want travel insurance?"),
)
DETAILS = {
    "To": "ACME Timber Ltd., DE89 3704 0044 0532 0130 00",
    "Amount": "40.00 EUR",
    "Reference": "Invoice 2026-114",
    "Repeat every month": False,
    "Items": [{"item": "oak plank", "count": 4}, {"item": "delivery", "count": 1}],
}
FIELDS = [
    {"name": "user", "title": "Account", "description": "The name that you sign in with."},
    {"name": "token", "title": "API token", "description": "Make one in your profile, under Security."},
]
MESSAGES: dict[Kind, str] = {
    "secret": "A token with repo scope, so that I can read the issues of your private repositories.",
    "authorize": "So that I can find a day on which everybody is free.",
    "approve": "Pay the invoice of ACME Timber for the oak planks that you ordered last week.",
    "form": "Tell me about your trip to Oslo, and I will book it.",
}
ABOUT: dict[Kind, dict[str, Any]] = {
    "secret": {"name": "github"},
    "authorize": {"provider": "calendar", "scopes": ["calendar.read", "calendar.events", "profile"]},
    "approve": {"details": DETAILS, "digest": "d"},
    "form": {"schema": TRIP.schema()},
}


async def refuse(value: str) -> str | None:
    return "was not accepted by GitHub: the token has expired"


async def who(request: Request) -> str | None:
    return request.headers.get("x-user")


@dataclass
class Set:
    """A portal with content on every page."""

    portal: Portal
    count: int = 0

    async def begin(self, kind: Kind, *, lasts: float = 600.0, owner: str = ADA, **about: Any) -> str:
        self.count += 1
        id, now = f"picture-of-a-page-{self.count:04}", time.time()
        given = Interaction(
            kind, owner, "Travel desk", "Chat Client", MESSAGES[kind], now, now + lasts, ABOUT[kind] | about
        )
        await self.portal.interactions.begin(id, given)
        return f"{self.portal.url}/i/{id}"


async def press(page: Page, button: str) -> None:
    await page.get_by_role("button", name=button, exact=True).click()
    await page.wait_for_load_state()


async def scenes(at: Set, page: Page, name: str) -> None:
    """Bring the page to this scene."""
    go = page.goto
    match name:
        case "secret" | "authorize" | "approve" | "form":
            await go(await at.begin(name))
        case "secret-fields":
            await go(await at.begin("secret", name="jira", fields=FIELDS))
        case "secret-refused":
            await go(await at.begin("secret", name="checked"))
            await page.get_by_label("checked").fill("x")
            await press(page, "Save")
        case "secret-missing":
            await go(await at.begin("secret", name="jira", fields=FIELDS))
            await press(page, "Save")
        case "form-problems":
            await go(await at.begin("form"))
            await page.get_by_label("Full name").fill("A")
            await page.get_by_label("Days").fill("forty")
            await press(page, "Send")
        case "done" | "declined" | "cancelled":
            await go(await at.begin("approve"))
            await press(page, {"done": "Approve", "declined": "Decline", "cancelled": "Cancel"}[name])
        case "already":
            url = await at.begin("approve")
            await at.portal.interactions.finish(url.rpartition("/")[2], Ending("accept", time.time()), owner=ADA)
            await go(url)
        case "expired":
            await go(await at.begin("form", lasts=-1))
        case "wrong-user":
            await go(await at.begin("secret", owner="somebody else"))
        case "unknown":
            await go(f"{at.portal.url}/i/there-is-no-such-page-at-all")
        case "sign-in":
            await page.set_extra_http_headers({})
            await go(await at.begin("secret"))
        case "too-often":
            await page.set_extra_http_headers({})
            for n in range(FAILED_OPENS + 1):
                await go(f"{at.portal.url}/i/there-is-no-such-page-{n:04}")
        case "mine" | "mine-all":
            for kept in ("github", "jira", "oauth:calendar"):
                await at.portal.vault.keep(ADA, kept, {"value": "x"}, now=time.time())
            await go(f"{at.portal.url}/mine")
            if name == "mine-all":
                await page.get_by_text("Delete everything").click()
        case "mine-deleted":
            await at.portal.vault.keep(ADA, "jira", {"value": "x"}, now=time.time())
            await go(f"{at.portal.url}/mine")
            await page.get_by_role("button", name="Delete jira").click()
        case _:
            raise ValueError(name)


SCENES = [
    *("secret", "secret-fields", "secret-refused", "secret-missing", "authorize", "approve", "form", "form-problems"),
    *("done", "declined", "cancelled", "already", "expired", "wrong-user", "unknown", "sign-in", "mine", "mine-all"),
    *("mine-deleted", "too-often"),
]


async def take(into: Path, wanted: Callable[[str], bool]) -> None:
    where = bind("127.0.0.1", 0)
    calendar = Provider.discover("calendar", issuer="https://id.example.com", client_id="c", title="Example Calendar")
    portal = Portal(
        f"http://127.0.0.1:{where.getsockname()[1]}/midcall",
        identity=FromCallable(who, name=lambda request: "ada@example.com"),
        providers=[calendar],
        checks={"checked": refuse},
    )
    identity = ServerIdentity("Travel desk")
    key = "a key of the tests: 0123456789abcdef"
    portal.bind(store=Memory(), identity=identity, server_name=identity.name, keys=[key])
    app = Starlette()
    app.mount("/midcall", portal)
    listening, at = LocalServer(app, where), Set(portal)
    executable = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        for scene in SCENES:
            for look, how in LOOKS.items():
                if wanted(f"{scene}-{look}"):
                    context = await chromium.new_context(**how, extra_http_headers={"x-user": ADA})
                    page = await context.new_page()
                    await page.set_extra_http_headers({"x-user": ADA})
                    if scene in ("sign-in", "too-often"):
                        await context.set_extra_http_headers({})
                    await scenes(at, page, scene)
                    await page.evaluate("document.activeElement?.blur()")
                    await page.screenshot(path=into / f"portal-{scene}-{look}.png", full_page=True)
                    await context.close()
        await chromium.close()
    await listening.close()


def main(arguments: list[str]) -> None:
    into = Path(arguments[0]) if arguments else ROOT / "docs/images"
    into.mkdir(parents=True, exist_ok=True)
    chosen = set(arguments[1:])
    asyncio.run(take(into, lambda name: name in DOCS if not arguments else not chosen or name in chosen))


if __name__ == "__main__":
    main(sys.argv[1:])
