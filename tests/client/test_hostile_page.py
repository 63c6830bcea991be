"""Servers that mean harm, and a person at a page: there is nothing on it but text, and the user is in charge."""

from __future__ import annotations

import asyncio
import re
import time
from typing import Any

import pytest
from mcp_types import CallToolResult, TextContent

from midcall.client import connect
from tests.client.browser.test_site import let_in
from tests.client.browsing import desk
from tests.client.chromium import looking
from tests.client.hostile import (
    ACTS,
    COUNTS,
    SECONDS,
    WAYS,
    answered,
    every_way,
    flood,
    is_too_large,
)
from tests.client.hostile_server import CHOICES, FIELDS
from tests.skips import needs_chromium

pytestmark = pytest.mark.asyncio(loop_scope="module")

USABLE = 15.0
"""Seconds until the largest form can be used, on a machine that is busy with more."""


def told(result: CallToolResult) -> dict[str, int]:
    [block] = result.content
    assert isinstance(block, TextContent)
    return answered(block.text)


SHOWN = [
    (attack, over, era)
    for attack in ("long", "lines", "choices", "fields", "controls", "urls", "flood")
    for over, era in WAYS
    if not is_too_large(attack, over, era)
]


@pytest.mark.parametrize(("attack", "over", "era"), SHOWN)
async def test_on_a_page_the_user_sees_text_and_can_cancel(attack: str, over: str, era: Any, hostile: str) -> None:
    count = flood(over, era) if attack == "flood" else COUNTS[attack]
    async with asyncio.timeout(SECONDS), desk() as at, connect(hostile, at.browser, era=era) as client:
        call = asyncio.create_task(client.call_tool(attack, {"count": count}))
        async with let_in(at) as visitor:
            page = await visitor.see()
            assert "Hostile" in page
            assert len(page) < 3_000_000
            assert not ACTS.search(page)
            assert "<b>&lt;" not in page
            assert not re.search(r'(href|src|action)="(javascript|data|file):', page)
        await at.browser.close()
        assert sum(told(await call).values()) == count


# --- in a real browser -------------------------------------------------------------------------


async def choose(page: Any) -> None:
    """One of very many in each of three fields: two lists to open, and one to search."""
    assert await page.locator("select option").count() >= 2 * CHOICES
    await page.locator("select").nth(0).select_option(label=f"value-{CHOICES - 1}")
    await page.locator("select").nth(1).select_option(label="Title of value-4321")
    assert await page.locator(".option").count() == CHOICES
    await page.get_by_label("Filter the options").fill("value-1234")
    assert await page.locator(".option:visible").count() == 1
    await page.locator(".option:visible input").check()


async def fill_the_last(page: Any) -> None:
    """The only one of a thousand that must be answered."""
    assert await page.locator("input[type=text]").count() == FIELDS
    await page.get_by_label(f"field-{FIELDS - 1}", exact=False).fill("here I am")


async def look_at_controls(page: Any) -> None:
    """Whatever the server tries, it is text."""
    shown = await page.inner_text("body")
    assert "[bold red]markup[/] <b>&lt;</b>" in shown
    assert not ACTS.search(shown)
    assert not ACTS.search(await page.title())
    assert await page.locator("blockquote b, blockquote a, form a[href^=http]").count() == 0
    await page.locator("input[type=text]").first.fill("plain")


DEEDS = {"choices": choose, "fields": fill_the_last, "controls": look_at_controls}


@needs_chromium()
@every_way
@pytest.mark.parametrize("attack", DEEDS)
async def test_in_a_real_browser_the_largest_and_strangest_forms_can_be_used_and_sent(
    browser: Any, attack: str, over: str, era: Any, hostile: str
) -> None:
    async with asyncio.timeout(SECONDS), desk() as at, connect(hostile, at.browser, era=era) as client:
        call = asyncio.create_task(client.call_tool(attack, {}))
        began = time.monotonic()
        async with looking(browser, at) as seen:
            assert time.monotonic() - began < USABLE
            dialogs: list[Any] = []
            seen.page.on("dialog", lambda dialog: dialogs.append(dialog))
            await DEEDS[attack](seen.page)
            await seen.press("Send")
            assert told(await call) == {"accept": 1}
            await seen.says("No questions right now")
            assert not dialogs


@needs_chromium()
@every_way
@pytest.mark.parametrize("button", ["Decline", "Cancel"])
async def test_in_a_real_browser_there_is_always_a_way_out(
    browser: Any, button: str, over: str, era: Any, hostile: str
) -> None:
    async with asyncio.timeout(SECONDS), desk() as at, connect(hostile, at.browser, era=era) as client:
        call = asyncio.create_task(client.call_tool("choices", {}))
        async with looking(browser, at) as seen:
            await seen.press(button)
            assert told(await call) == {button.lower(): 1}
