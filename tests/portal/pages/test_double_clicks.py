"""The second half of a double click is never an answer to the page that came meanwhile."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import httpx2
import pytest

from midcall.errors import InstallError
from midcall.portal.app import Portal
from midcall.settings.portal import PORTAL_PAUSE_SECONDS
from midcall.stores.interactions import Kind, Next
from midcall.stores.memory import Memory
from tests.browser import launch
from tests.portal.pages.test_authorize import with_acme
from tests.portal.sites import ADA, Site, Visitor, controls_of, served, site, visiting
from tests.skips import needs_chromium

ANSWERS: dict[Kind, dict[str, str]] = {
    "secret": {"s0": "typed-too-soon-4711"},
    "approve": {},
    "form": {"f0": "Ada", "f1": "3"},
}
TOO_SOON = "before anyone could have read this page"


class Clock:
    """The time of a portal: it passes when a test lets it."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


async def after_another(at: Site, kind: Kind = "approve", *, owner: str = ADA) -> tuple[str, str]:
    """Two pages of one call: the first leads to the second."""
    first, second = await at.begin("approve", owner=owner), await at.begin(kind, owner=owner)
    now = time.time()
    await at.portal.interactions.expect_next(first, owner, now=now, expires=now + 600)
    await at.portal.interactions.lead(first, Next("page", second), now=now)
    return first, second


async def led(ada: Visitor, first: str) -> httpx2.Response:
    """Answer the first page, and go where that leads."""
    assert (await ada.press(first, "accept")).status_code == 200
    way = await ada.open(f"{first}/next")
    assert way.status_code == 303
    return await ada.http.get(way.headers["location"])


async def click(
    ada: Visitor, id: str, page: httpx2.Response, button: str, values: Mapping[str, str]
) -> httpx2.Response:
    return await ada.post(f"/i/{id}", {**dict(controls_of(page.text)), **values, "do": button})


@pytest.mark.parametrize("button", ["accept", "decline", "cancel"])
@pytest.mark.parametrize("kind", list(ANSWERS))
async def test_a_click_that_comes_too_soon_after_another_page_does_not_count(kind: Kind, button: str) -> None:
    clock = Clock()
    at = site(clock=clock)
    async with visiting(at) as ada:
        first, second = await after_another(at, kind)
        page = await led(ada, first)
        assert TOO_SOON not in page.text
        for _ in range(3):
            clock.now += PORTAL_PAUSE_SECONDS - 0.05
            page = await click(ada, second, page, button, ANSWERS[kind])
            assert (page.status_code, TOO_SOON in page.text) == (409, True)
            assert await at.ending(second) is None
        clock.now += PORTAL_PAUSE_SECONDS + 0.05
        assert (await click(ada, second, page, button, ANSWERS[kind])).status_code == 200
        assert await at.action(second) == button
        assert "typed-too-soon-4711" not in page.text


async def test_a_click_that_comes_too_soon_sends_nobody_to_a_provider() -> None:
    clock = Clock()
    async with with_acme(clock=clock) as (at, _), visiting(at) as ada:
        first, second = await after_another(at, "authorize")
        page = await led(ada, first)
        page = await click(ada, second, page, "accept", {})
        assert (page.status_code, TOO_SOON in page.text) == (409, True)
        clock.now += 1
        assert (await click(ada, second, page, "accept", {})).status_code == 303


@pytest.mark.parametrize("site_of", ["cross-site", "same-site", "same-origin"])
async def test_a_click_on_a_link_to_a_page_does_not_answer_it(site_of: str) -> None:
    clock = Clock()
    at = site(clock=clock)
    async with visiting(at) as ada:
        id = await at.begin("approve")
        page = await ada.open(id, headers={"sec-fetch-site": site_of})
        assert (await click(ada, id, page, "accept", {})).status_code == 409
        clock.now += 1
        assert (await click(ada, id, page, "accept", {})).status_code == 200


@pytest.mark.parametrize("headers", [{}, {"sec-fetch-site": "none"}])
async def test_a_page_that_nobody_was_led_to_takes_an_answer_at_once(headers: dict[str, str]) -> None:
    at = site(clock=Clock())
    async with visiting(at) as ada:
        id = await at.begin("approve")
        assert (await click(ada, id, await ada.open(id, headers=headers), "accept", {})).status_code == 200


async def test_a_page_that_was_filled_in_wrong_takes_the_next_answer_at_once() -> None:
    clock = Clock()
    at = site(clock=clock)
    async with visiting(at) as ada:
        first, second = await after_another(at, "form")
        page = await led(ada, first)
        clock.now += 1
        page = await click(ada, second, page, "accept", {"f0": "Ada", "f1": "3000"})
        assert page.status_code == 422
        assert (await click(ada, second, page, "accept", ANSWERS["form"])).status_code == 200


async def test_another_replica_knows_when_a_page_was_shown_whatever_its_clock_says() -> None:
    clock, behind, store = Clock(), Clock(), Memory()
    here, there = site(clock=clock, store=store), site(clock=behind, store=store)
    async with visiting(here) as ada, visiting(there) as same:
        same.http.cookies = ada.http.cookies
        first, second = await after_another(here)
        page = await led(ada, first)
        same.http.cookies = ada.http.cookies
        behind.now -= 5
        assert (await click(same, second, page, "accept", {})).status_code == 409
        behind.now += 10
        assert (await click(same, second, page, "accept", {})).status_code == 200


async def test_the_time_cannot_be_changed_in_the_form() -> None:
    at = site(clock=Clock())
    async with visiting(at) as ada:
        first, second = await after_another(at)
        page = await led(ada, first)
        token = dict(controls_of(page.text))["token"]
        made, _from, rest = token.split(".", 2)
        forged = {"token": f"{made}.0.{rest}", "digest": await at.digest(second), "do": "accept"}
        assert (await ada.post(f"/i/{second}", forged)).status_code == 403
        assert await at.action(second) is None


async def test_a_double_click_on_delete_deletes_one() -> None:
    clock = Clock()
    at = site(clock=clock)
    for name in ("one", "two"):
        await at.portal.vault.keep(ADA, name, {"value": "kept-value-0815"}, now=clock.now)
    async with visiting(at) as ada:
        page = await ada.get("/mine")
        controls = dict(controls_of(page.text))
        page = await ada.post("/mine", {**controls, "name": "one", "do": "delete"})
        controls = dict(controls_of(page.text))
        page = await ada.post("/mine", {**controls, "name": "two", "do": "delete"})
        assert (page.status_code, TOO_SOON in page.text) == (409, True)
        assert [name for name, _ in await at.portal.vault.names(ADA)] == ["two"]
        clock.now += 1
        page = await ada.post("/mine", {**dict(controls_of(page.text)), "name": "two", "do": "delete"})
        assert (page.status_code, await at.portal.vault.names(ADA)) == (200, [])


async def test_tests_can_do_without_the_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    for how in ({"pause": 0}, {}):
        at = site(clock=Clock(), **how)
        async with visiting(at) as ada:
            first, second = await after_another(at)
            assert (await click(ada, second, await led(ada, first), "accept", {})).status_code == 200
        monkeypatch.setenv("MIDCALL_PORTAL_PAUSE", "0")


@pytest.mark.parametrize("pause", [-1, float("nan"), float("inf"), True, "1"])
def test_an_impossible_pause_is_refused(pause: Any) -> None:
    with pytest.raises(InstallError, match="pause="):
        Portal("https://mcp.example.com", pause=pause)


# --- a real browser ----------------------------------------------------------------------------------


@needs_chromium()
@pytest.mark.parametrize("js", [True, False], ids=["with scripts", "without"])
async def test_in_a_browser_a_double_click_approves_one_page(js: bool) -> None:
    from playwright.async_api import expect

    clock = Clock()
    async with served(clock=clock) as at, launch() as browser:
        how: dict[str, Any] = {"java_script_enabled": js, "extra_http_headers": {"x-test-user": ADA}}
        page = await (await browser.new_context(**how)).new_page()
        first, second = await after_another(at)
        await page.goto(at.portal.address(first))
        button = page.get_by_role("button", name="Approve", exact=True)
        place = await button.bounding_box()
        x, y = place["x"] + 5, place["y"] + 5
        await page.mouse.move(x, y)
        await page.mouse.down(click_count=1)
        await page.mouse.up(click_count=1)
        await page.wait_for_url(f"**/i/{second}*")
        assert await at.action(first) == "accept"
        await expect(button).to_be_visible()
        async with page.expect_navigation():
            await page.mouse.down(click_count=2)
            await page.mouse.up(click_count=2)
        await expect(page.get_by_role("alert")).to_contain_text(TOO_SOON)
        assert await at.action(second) is None
        clock.now += 1
        async with page.expect_navigation():
            await button.press("Enter")
        assert await at.action(second) == "accept"


@needs_chromium()
async def test_in_a_browser_a_single_page_is_answered_at_once() -> None:
    async with served(clock=Clock()) as at, launch() as browser:
        page = await (await browser.new_context(extra_http_headers={"x-test-user": ADA})).new_page()
        id = await at.begin("approve")
        await page.goto(at.portal.address(id))
        async with page.expect_navigation():
            await page.get_by_role("button", name="Approve", exact=True).click()
        assert await at.action(id) == "accept"


@needs_chromium()
@pytest.mark.parametrize("path", ["an approval", "the account page"])
async def test_a_page_that_was_behind_another_window_takes_no_click_at_once(path: str) -> None:
    """The second click of a double click, in a pop-up that closed at the first one."""
    from playwright.async_api import expect

    async with served(pause=0.7) as at, launch() as browser:
        page = await (await browser.new_context(extra_http_headers={"x-test-user": ADA})).new_page()
        await page.add_init_script("let now = 0; performance.now = () => now; window.pass = (ms) => { now += ms; }")
        await at.portal.vault.keep(ADA, "one", {"value": "kept-value-0815"}, now=time.time())
        id = await at.begin("approve")
        approval = path == "an approval"
        await page.goto(at.portal.address(id) if approval else f"{at.portal.url}/mine")
        button = page.get_by_role("button", name="Approve" if approval else "Delete one", exact=True)
        note = page.locator("#hasty")
        for event in ("window, 'focus'", "document, 'visibilitychange'"):
            await page.evaluate("pass(2000)")
            target, name = event.split(", ")
            await page.evaluate(f"{target}.dispatchEvent(new Event({name}))")
            await page.evaluate("pass(500)")
            await button.click()
            await expect(note).to_be_visible()
            await page.evaluate("pass(100)")
            await button.press("Enter")
        assert await at.ending(id) is None
        assert [name for name, _ in await at.portal.vault.names(ADA)] == ["one"]
        await page.evaluate("pass(200)")
        async with page.expect_navigation():
            await button.click()
        if approval:
            assert await at.action(id) == "accept"
        else:
            assert await at.portal.vault.names(ADA) == []
