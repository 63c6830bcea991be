"""The page of the Browser answerer in a real browser, as a person uses it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client
from mcp.client._memory import InMemoryTransport
from mcp.server.mcpserver import MCPServer

import midcall
from midcall import Question, ask, ask_all, confirm, visit
from midcall.client.answerer import Waiting
from midcall.client.asked import Asked, FormQuestion
from midcall.client.browser import views
from midcall.client.connection.callback import callback
from midcall.client.transport.offer import Offer
from midcall.core.forms.fields import Choices
from midcall.core.forms.form import Form
from midcall.core.outcome import Accepted, Cancelled, Declined
from tests.client.browsing import TRIP, a_visit, desk, short, soon, trip
from tests.client.chromium import LIVE, PHONE, Seen, looking
from tests.skips import needs_chromium

pytestmark = [needs_chromium(), pytest.mark.asyncio(loop_scope="module")]


@pytest.fixture(autouse=True)
def answers_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests type faster than people read."""
    monkeypatch.setattr(views, "PAGE_CONFIRM_SECONDS", 0)


async def fill(page: Any) -> None:
    await page.get_by_label("Name").fill("Ada")
    await page.get_by_label("Mail").fill("ada@example.com")
    await page.get_by_label("Aisle").check()
    await page.get_by_label("No", exact=True).check()


ANSWERED = {"name": "Ada", "mail": "ada@example.com", "days": 4, "seat": "a", "news": False}


# --- answering -------------------------------------------------------------------------------


@pytest.mark.parametrize("js", [True, False])
async def test_a_form_is_filled_in_and_sent(browser: Any, js: bool) -> None:
    async with desk() as at:
        [task] = at.ask(trip())
        async with looking(browser, at, js=js) as seen:
            assert await seen.page.get_by_role("heading", level=1).inner_text() == "Travel asks"
            await fill(seen.page)
            await seen.page.get_by_label("Moment", exact=True).fill("2026-07-28T09:30:15")
            await seen.page.get_by_label("Offset from UTC").select_option("+05:30")
            await seen.page.get_by_label("Skis").check()
            await seen.press("Send")
            moment = {"at": "2026-07-28T09:30:15+05:30", "extras": ["skis"]}
            assert await soon(task) == Accepted(ANSWERED | moment)
            await seen.says("No questions right now")


@pytest.mark.parametrize("js", [True, False])
async def test_problems_are_shown_at_their_fields_and_input_is_kept(browser: Any, js: bool) -> None:
    async with desk() as at:
        [task] = at.ask(trip())
        async with looking(browser, at, js=js) as seen:
            page = seen.page
            await fill(page)
            await page.get_by_label("Mail").fill("nobody")
            await page.get_by_label("Days").fill("many")
            await seen.press("Send")
            await seen.says("Please check these 2 things again")
            assert await page.locator(".summary").evaluate("node => node === document.activeElement")
            assert await page.locator("[aria-invalid=true]").count() == 2
            assert await page.get_by_label("Days").input_value() == "many"
            await page.get_by_role("link", name="Days must be a whole number.").click()
            assert await page.get_by_label("Days").evaluate("node => node === document.activeElement")
            await page.get_by_label("Days").fill("7")
            await page.get_by_label("Mail").fill("ada@example.com")
            await seen.press("Send")
            assert await soon(task) == Accepted(ANSWERED | {"days": 7})


async def test_an_unanswered_flag_is_not_false(browser: Any) -> None:
    async with desk() as at:
        at.ask(trip())
        async with looking(browser, at) as seen:
            await seen.press("Send")
            await seen.says("News is required.")


@pytest.mark.parametrize(("button", "outcome"), [("Decline", Declined()), ("Cancel", Cancelled())])
@pytest.mark.parametrize("js", [True, False])
async def test_decline_and_cancel_are_always_there(browser: Any, button: str, outcome: object, js: bool) -> None:
    async with desk() as at:
        tasks = at.ask(trip(), a_visit())
        async with looking(browser, at, js=js) as seen:
            for task in tasks:
                await seen.press(button)
                assert await soon(task) == outcome


@pytest.mark.parametrize("name", ["Yes", "Decline", "Cancel"])
@pytest.mark.parametrize("js", [True, False])
async def test_a_double_click_answers_only_the_question_that_it_was_for(
    browser: Any, monkeypatch: pytest.MonkeyPatch, name: str, js: bool
) -> None:
    async with desk() as at:
        first, second = at.ask(Asked(FormQuestion("Fine?", None), "1"), Asked(FormQuestion("Pay 1000 EUR?", None), "2"))
        async with looking(browser, at, js=js) as seen:
            button = seen.page.get_by_role("button", name=name, exact=True)
            await button.click(trial=True)
            monkeypatch.setattr(views, "PAGE_CONFIRM_SECONDS", 3600)
            place = await button.bounding_box()
            await button.click()
            await seen.page.get_by_text("Pay 1000 EUR?").and_(seen.page.locator(".message")).wait_for()
            await soon(first)
            await seen.page.mouse.dblclick(place["x"] + 5, place["y"] + 5)
            await seen.page.keyboard.press("Escape")
            await seen.page.keyboard.press("Enter")
            if js:
                assert not await button.is_enabled()
            else:
                await seen.says("That was not counted")
                seen.errors.clear()  # the status, 409
            assert not second.done()
            monkeypatch.setattr(views, "PAGE_CONFIRM_SECONDS", 0)
            await seen.page.goto(f"{seen.page.url.partition('/q/')[0].rstrip('/')}/")
            await seen.press("Decline")
            assert await soon(second) == Declined()


async def test_two_servers_at_once_are_answered_in_any_order_and_nothing_typed_is_lost(browser: Any) -> None:
    async with desk() as at:
        first, second = at.ask(trip(), short())
        async with looking(browser, at) as seen:
            page = seen.page
            await page.get_by_label("Name").fill("Ada")
            await page.get_by_role("button", name="Deploy Which branch?").click()
            await page.get_by_role("heading", name="Deploy asks").wait_for()
            await page.get_by_label("Branch").fill("main")
            await page.get_by_label("Branch").press("Enter")
            assert await soon(second) == Accepted({"branch": "main"})
            await page.get_by_role("heading", name="Travel asks").wait_for()
            assert await page.get_by_label("Name").input_value() == "Ada"
            await fill(page)
            await seen.press("Send")
            assert await soon(first) == Accepted(ANSWERED)


async def test_the_keyboard_is_enough(browser: Any) -> None:
    async with desk() as at:
        [task] = at.ask(trip())
        async with looking(browser, at) as seen:
            keys = seen.page.keyboard
            await tab_to(seen.page, "f0")
            await keys.type("Ada")
            await keys.press("Tab")
            await keys.type("ada@example.com")
            await tab_to(seen.page, "f4-0")
            await keys.press("ArrowDown")
            await tab_to(seen.page, "f5-0")
            await keys.press("Space")
            await tab_to(seen.page, "f6-0")
            await keys.press("Space")
            focused = "getComputedStyle(document.activeElement).outlineStyle"
            assert await seen.page.evaluate(focused) == "solid"
            await keys.press("Enter")
            extras = {"extras": ["bike"], "news": True}
            assert await soon(task) == Accepted(ANSWERED | extras)
            await seen.says("No questions right now")


async def tab_to(page: Any, id: str) -> None:
    for _ in range(30):
        if await page.evaluate("document.activeElement.id") == id:
            return
        await page.keyboard.press("Tab")
    raise AssertionError(f"{id} cannot be reached by Tab")


@pytest.mark.parametrize("asked", [trip(), a_visit()], ids=["form", "visit"])
async def test_escape_cancels_if_nothing_was_typed(browser: Any, asked: Asked) -> None:
    async with desk() as at:
        [task] = at.ask(asked)
        async with looking(browser, at) as seen:
            await seen.page.keyboard.press("Escape")
            assert await soon(task) == Cancelled()
            await seen.says("No questions right now")


@pytest.mark.parametrize("what", ["text", "yes or no", "one of many", "kept"])
async def test_escape_focuses_cancel_first_if_something_was_typed(browser: Any, what: str) -> None:
    async with desk() as at:
        [task] = at.ask(trip())
        async with looking(browser, at) as seen:
            await enter(seen, what)
            await seen.page.keyboard.press("Escape")
            assert await seen.page.evaluate("document.activeElement.textContent") == "Cancel"
            assert not task.done()
            await seen.page.keyboard.press("Escape")
            assert await soon(task) == Cancelled()
            await seen.says("No questions right now")


async def enter(seen: Seen, what: str) -> None:
    match what:
        case "text":
            await seen.page.get_by_label("Name").fill("Ada")
        case "yes or no":
            await seen.page.get_by_label("No", exact=True).check()
        case "one of many":
            await seen.page.get_by_label("Bicycle").check()
        case _:
            await seen.page.get_by_label("Name").fill("Ada")
            await seen.press("Send")
            await seen.page.wait_for_selector(".summary")


async def test_a_long_list_can_be_filtered_and_five_thousand_options_chosen_from(browser: Any) -> None:
    form = Form(Choices("towns", [f"Town {number}" for number in range(5_000)], title="Towns"))
    async with desk() as at:
        [task] = at.ask(Asked(FormQuestion("Where to?", form), "towns", "Travel"))
        async with looking(browser, at) as seen:
            await seen.page.get_by_label("Filter the options").fill("town 4321")
            assert await seen.page.locator(".option:visible").count() == 1
            await seen.page.get_by_label("Town 4321").check()
            await seen.page.get_by_label("Filter the options").press("Enter")
            assert not task.done()
            await seen.press("Send")
            assert await soon(task) == Accepted({"towns": ["Town 4321"]})


# --- how it looks ----------------------------------------------------------------------------


@pytest.mark.parametrize("asked", [trip(), a_visit("http://user@" + "x" * 63 + ".example.com/" + "y" * 3000), short()])
async def test_on_a_phone_nothing_is_cut_off_and_buttons_are_large_enough(browser: Any, asked: Asked) -> None:
    async with desk() as at:
        at.ask(asked, short("other", "A" * 300, "B" * 300))
        async with looking(browser, at, **PHONE) as seen:
            page = seen.page
            assert await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
            for button in await page.locator(".actions button").all():
                assert (await button.bounding_box())["height"] >= 44
            if asked.form == TRIP:
                await fill(page)
                await seen.press("Send")


CONTRAST = """selector => {
  const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
    .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = node => {
    const colour = numbers(getComputedStyle(node).backgroundColor);
    return colour.length === 4 && colour[3] === 0 ? ground(node.parentElement) : colour;
  };
  return Math.min(...[...document.querySelectorAll(selector)].map(node => {
    const pair = [light(numbers(getComputedStyle(node).color)), light(ground(node))].sort((a, b) => b - a);
    return (pair[0] + 0.05) / (pair[1] + 0.05);
  }));
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_light_and_dark_are_both_easy_to_read(browser: Any, scheme: str) -> None:
    async with desk() as at:
        at.ask(trip(), a_visit("http://example.com/"))
        async with looking(browser, at, color_scheme=scheme) as seen:
            await seen.press("Send")
            await seen.says("Please check")
            ground = await seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (min(map(int, re.findall(r"\d+", ground))) > 128) == (scheme == "light")
            words = "h1, h2, p, label, legend, .star, .optional, input, button, blockquote, .summary a, .entry *"
            assert await seen.page.evaluate(CONTRAST, words) >= 4.5
            await seen.page.get_by_role("button", name="Travel Connect your calendar.").click()
            await seen.says("A reason to be careful")
            assert await seen.page.evaluate(CONTRAST, "mark, .address, .doubts *, .actions button, .site") >= 4.5


async def test_every_control_has_a_name_that_a_screen_reader_can_say(browser: Any) -> None:
    async with desk() as at:
        at.ask(trip(), short())
        async with looking(browser, at) as seen:
            tree = await seen.page.locator("body").aria_snapshot()
            for said in (
                'textbox "Name"',
                'group "Moment optional"',
                'combobox "Offset from UTC"',
                'radiogroup "Seat required"',
                'radio "Window"',
                'checkbox "Bicycle"',
                'button "Send"',
                'heading "Travel asks" [level=1]',
            ):
                assert said in tree
            described = await seen.page.get_by_label("Name").evaluate(
                "node => node.ariaDescribedByElements.map(each => each.textContent)"
            )
            assert described == ["As in the passport", "At least 2 characters"]


# --- live ------------------------------------------------------------------------------------


async def test_a_new_question_appears_automatically_and_disturbs_nothing(browser: Any) -> None:
    async with desk() as at:
        [first] = at.ask(short())
        async with looking(browser, at) as seen:
            await seen.page.get_by_label("Branch").fill("ma")
            [second] = at.ask(trip())
            await seen.page.get_by_role("button", name="Travel Tell me about the trip.").wait_for()
            assert await seen.page.get_by_label("Branch").input_value() == "ma"
            assert await seen.page.get_by_label("Branch").evaluate("node => node === document.activeElement")
            assert await seen.page.title() == "(2) Questions for you"
            await seen.page.keyboard.type("in\n")
            assert await soon(first) == Accepted({"branch": "main"})
            await seen.press("Decline")
            assert await soon(second) == Declined()
            await seen.says("No questions right now")
            await seen.page.wait_for_selector(LIVE)
            at.ask(short("third", "Weather", "Which town?"))
            await seen.says("Weather asks")
            assert at.opened == 0


async def test_a_withdrawn_question_disappears_with_a_notice(browser: Any) -> None:
    async with desk() as at:
        first, second, third = at.ask(short(), trip(), short("third", "Weather"))
        async with looking(browser, at) as seen:
            await seen.page.get_by_label("Branch").fill("main")
            second.cancel()
            await seen.page.get_by_role("button", name="Travel").wait_for(state="detached")
            assert await seen.page.get_by_label("Branch").input_value() == "main"
            first.cancel()
            await seen.says("The question was withdrawn. What you typed was not sent.")
            await seen.page.get_by_role("link", name="Next question").click()
            await seen.says("Weather asks")
            await seen.press("Cancel")
            assert await soon(third) == Cancelled()


async def test_closing_the_page_cancels_what_it_showed(browser: Any) -> None:
    async with desk(grace=0.2) as at:
        tasks = at.ask(trip(), short())
        async with looking(browser, at) as seen:
            await seen.page.close()
            assert [await soon(task) for task in tasks] == [Cancelled()] * 2


async def test_a_question_after_the_page_was_closed_opens_a_new_one(browser: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("midcall.client.browser.PAGE_OPEN_SECONDS", 0.0)
    async with desk(grace=0.2) as at:
        [task] = at.ask(trip())
        async with looking(browser, at) as seen:
            await seen.page.close()
            assert await soon(task) == Cancelled()
        [task] = at.ask(short())
        async with looking(browser, at) as seen:
            await seen.page.get_by_label("Branch").fill("main")
            await seen.press("Send")
            assert await soon(task) == Accepted({"branch": "main"})


async def test_loading_the_page_again_cancels_nothing(browser: Any) -> None:
    async with desk(grace=5.0) as at:
        [task] = at.ask(trip())
        async with looking(browser, at) as seen:
            for _ in range(3):
                await seen.page.reload()
                await seen.page.wait_for_selector(LIVE)
            assert not task.done()
            presence = at.browser._session._presence
            assert presence._timer is None
            await seen.press("Decline")
            assert await soon(task) == Declined()


async def test_with_two_pages_open_closing_one_cancels_nothing(browser: Any) -> None:
    async with desk(grace=0.1) as at:
        [task] = at.ask(short())
        async with looking(browser, at) as seen:
            second = await seen.context.new_page()
            await second.goto(seen.page.url)
            await second.wait_for_selector(LIVE)
            await seen.page.close()
            await second.get_by_label("Branch").fill("main")
            await second.get_by_role("button", name="Send").click()
            assert await soon(task) == Accepted({"branch": "main"})


async def test_the_page_reports_that_the_program_has_ended(browser: Any) -> None:
    async with desk() as at:
        [task] = at.ask(trip())
        async with looking(browser, at) as seen:
            await at.browser.close()
            await seen.says("The program that asked has ended.")
            assert await seen.page.get_by_role("button", name="Send").is_disabled()
            assert await soon(task) == Cancelled()


async def test_a_flood_leaves_the_page_usable(browser: Any) -> None:
    async with desk(limit=50) as at:
        [task] = at.ask(trip())
        async with looking(browser, at) as seen:
            at.ask(*(short(str(number), "Flood") for number in range(10_000)))
            await seen.says("9,951 questions were cancelled without being shown")
            await fill(seen.page)
            await seen.press("Send")
            assert await soon(task) == Accepted(ANSWERED)


# --- who may come in -------------------------------------------------------------------------


async def test_a_second_browser_with_the_same_address_is_refused(browser: Any) -> None:
    async with desk() as at:
        [task] = at.ask(short())
        address = await at.address()
        async with looking(browser, at, address=address):
            other = await browser.new_context()
            page = await other.new_page()
            answer = await page.goto(address)
            assert answer.status == 403
            assert "This page is not for this browser" in await page.inner_text("body")
            assert "Which branch" not in await page.content()
            await other.close()
            assert not task.done()


async def test_another_site_in_the_same_browser_can_neither_post_nor_frame_the_page(browser: Any) -> None:
    async with desk() as at:
        [task] = at.ask(short())
        context = await browser.new_context()
        page = await context.new_page()
        await page.goto(await at.address())
        await page.wait_for_selector(LIVE)
        home = page.url
        token = await page.locator("input[name=token]").get_attribute("value")
        evil = f"""<form id=f method=post action="{home}q/short"><input name=do value=decline><input name=token
            value="{token}"></form><iframe src="{home}"></iframe>"""
        await context.route("http://evil.example/", lambda route: route.fulfill(body=evil, content_type="text/html"))
        other = await context.new_page()
        await other.goto("http://evil.example/")
        frame = other.frames[1] if len(other.frames) > 1 else None
        assert frame is None or "Which branch" not in await frame.content()
        async with other.expect_navigation():
            await other.evaluate("document.getElementById('f').submit()")
        assert "This page is not for this browser" in await other.inner_text("body")
        assert not task.done()
        await context.close()


# --- visits ----------------------------------------------------------------------------------

PAGE = "https://accounts.example.com/connect?state=1&next=%2F"


@asynccontextmanager
async def the_web(seen: Seen, wanted: Callable[[str], bool]) -> AsyncIterator[list[Any]]:
    """The internet, as far as these tests go."""
    visited: list[Any] = []

    async def serve(route: Any) -> None:
        visited.append(route.request)
        await route.fulfill(body="<h1>Welcome</h1>", content_type="text/html")

    await seen.context.route(wanted, serve)
    yield visited
    seen.requests[:] = [request for request in seen.requests if not wanted(request.url)]


@pytest.mark.parametrize("js", [True, False])
async def test_an_address_is_opened_by_the_users_own_click_after_consent_and_not_before(browser: Any, js: bool) -> None:
    async with desk() as at:
        [task] = at.ask(a_visit(PAGE))
        async with looking(browser, at, js=js) as seen:
            async with the_web(seen, lambda url: "example.com" in url) as visited:
                assert await seen.page.locator(".address").inner_text() == PAGE
                assert await seen.page.locator("mark").inner_text() == "example.com"
                assert not visited
                async with seen.context.expect_page() as opening:
                    await seen.press("Agree and open")
                tab = await opening.value
                await tab.wait_for_url(PAGE)
                assert await soon(task) == Accepted(None)
                [request] = visited
                assert "referer" not in await request.all_headers()
                if js:
                    assert await tab.evaluate("[window.opener, document.referrer]") == [None, ""]
                    await seen.says("You agreed, and the address was opened in a new tab.")


async def test_declining_a_visit_opens_nothing(browser: Any) -> None:
    async with desk() as at:
        [task] = at.ask(a_visit(PAGE))
        async with looking(browser, at) as seen:
            await seen.press("Decline")
            assert await soon(task) == Declined()
            assert len(seen.context.pages) == 1


@pytest.mark.parametrize(("button", "again"), [("Try again now", True), ("Give up", False)])
async def test_while_a_call_waits_for_visits_the_user_can_try_again_or_give_up(
    browser: Any, button: str, again: bool
) -> None:
    waiting = Waiting([a_visit(PAGE, "one"), a_visit("https://example.org/", "two")], 1, 3)
    async with desk() as at:
        task = at.wait(waiting)
        async with looking(browser, at) as seen:
            await seen.says("Travel continues when you are done")
            assert await seen.page.locator(".state").all_inner_texts() == ["not done yet", "not done yet"]
            waiting.complete("e-two")
            await seen.page.locator(".state", has_text=re.compile("^done$")).wait_for()
            await seen.press(button)
            assert await soon(task) is again


async def test_the_page_reports_that_all_visits_are_done(browser: Any) -> None:
    waiting = Waiting([a_visit(PAGE, "one")], 1, 3)
    async with desk() as at:
        task = at.wait(waiting)
        async with looking(browser, at) as seen:
            waiting.complete("e-one")
            task.cancel()
            await seen.says("Finished")


async def test_closing_the_page_gives_up_waiting(browser: Any) -> None:
    async with desk(grace=0.2) as at:
        task = at.wait(Waiting([a_visit(PAGE)], 1, 3))
        async with looking(browser, at) as seen:
            await seen.page.close()
            assert await soon(task) is False


# --- end to end ------------------------------------------------------------------------------


def booking() -> MCPServer[Any]:
    server = MCPServer[Any]("Booking", version="1.0")
    midcall.install(server)

    @server.tool()
    async def book() -> str:
        town, days = await ask_all(Question("Where to?", str), Question("How long?", int))
        await visit("Sign in first.", "https://example.com/sign-in")
        room = await ask("Which room?", Form(Choices("rooms", {"s": "Single", "d": "Double"}, title="Rooms")))
        return f"{town} {days} {room}" if await confirm("Book it?") else "no"

    return server


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
async def test_a_whole_call_is_answered_on_the_page(browser: Any, era: str) -> None:
    async with desk() as at:
        modern = era == "2026-07-28"
        transport = Offer(InMemoryTransport(booking()), version=None if modern else era)
        mode: Any = era if modern else "legacy"
        async with Client(transport, mode=mode, elicitation_callback=callback(at.browser)) as client:
            call = asyncio.create_task(client.call_tool("book", {}))
            async with looking(browser, at) as seen, the_web(seen, lambda url: "example.com" in url) as visited:
                for heading, value in (("Where to?", "Oslo"), ("How long?", "3")):
                    await seen.page.locator("blockquote", has_text=heading).wait_for()
                    await seen.page.locator("#f0").fill(value)
                    await seen.press("Send")
                async with seen.context.expect_page() as opening:
                    await seen.press("Agree and open")
                await (await opening.value).wait_for_url("https://example.com/sign-in")
                assert len(visited) == 1
                await seen.page.get_by_role("link", name=re.compile("Next question|Reload this page")).click()
                await seen.page.get_by_label("Double").check()
                await seen.press("Send")
                await seen.page.get_by_label("Yes", exact=True).check()
                await seen.press("Send")
                result = await soon(call)
    assert result.content[0].text == "Oslo 3 {'rooms': ['d']}"
