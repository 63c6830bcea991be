"""The App in a real browser, in the frame of a host built on the official client and AppBridge."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import pytest
import pytest_asyncio
import uvicorn
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel, Field
from starlette.responses import FileResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

import midcall
from midcall import Accepted, Question, ask, ask_all, elicit
from midcall.server.channels.apps import channel
from midcall.server.resuming import visits
from midcall.stores.memory import Memory
from scripts.peers import PEERS
from tests.browser import launch
from tests.skips import needs_chromium, needs_peer

pytestmark = [
    needs_chromium(),
    needs_peer("@modelcontextprotocol/ext-apps"),
    needs_peer("@modelcontextprotocol/client"),
    pytest.mark.asyncio(loop_scope="module"),
]

SECONDS = 15_000
WHOLE = """main => new Promise(done => {
    const look = () => (innerHeight >= main.offsetHeight ? setTimeout(done, 0) : setTimeout(look, 20));
    look();
})"""
"""Waits until the host has given the frame the height of its form: before that, Send only scrolls."""
FITS = """html => new Promise(done => {
    const look = () => (html.scrollHeight - html.clientHeight <= 1 ? done() : setTimeout(look, 20));
    look();
})"""
"""Waits until nothing has to be scrolled."""
FRAME = "document.querySelector('iframe')"
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine, a browser may need longer than a user's would. Tests of a late App set this themselves."""
    monkeypatch.setattr(channel, "APP_SECONDS", 40.0)


class Trip(BaseModel):
    city: str = Field(min_length=2, title="City", description="Where it goes")
    days: int = Field(ge=1, le=30, title="Days")
    seat: Literal["window", "aisle"] = Field("window", title="Seat")


async def book(to: str = "") -> str:
    match await elicit(f"Tell me about the trip{to}. <b>Please.</b>", Trip):
        case Accepted(value=trip, via=via):
            return f"{trip.city} {trip.days} {trip.seat} {via}"
        case other:
            return f"{type(other).__name__} {other.via}"


async def two() -> str:
    return f"{await ask('First?', int)} {await ask('Second?', str)}"


async def together() -> str:
    return str(await ask_all(Question("One?", int), Question("Two?", int)))


async def quiet() -> str:
    return "nothing to ask"


def app() -> Any:
    server: MCPServer[Any] = MCPServer("Travel desk", log_level="WARNING")
    for tool in (book, two, together, quiet):
        server.add_tool(tool)
    midcall.install(server, store=Memory(), keys=["k key of the tests: 0123456789abcdef"])
    served = server.streamable_http_app()
    served.router.routes += [
        Route("/", lambda request: FileResponse(PEERS / "app_host.html")),
        Route("/app_host.mjs", lambda request: FileResponse(PEERS / "app_host.mjs")),
        Mount("/npm", StaticFiles(directory=PEERS / "node_modules")),
    ]
    return served


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def url() -> AsyncIterator[str]:
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app(), log_level="warning", timeout_graceful_shutdown=1))
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    await serving


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def browser() -> AsyncIterator[Any]:
    async with launch() as browser:
        yield browser


class Host:
    """The host's page and its frames."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.clipped = False
        """Whether the host keeps the frame smaller than the form."""
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    def call(self, tool: str, arguments: dict[str, Any] | None = None, **how: Any) -> asyncio.Task[str]:
        """Call a tool, as the model does."""
        run = "([tool, args, how]) => host.call(tool, args, how)"
        self.clipped = "height" in how
        return asyncio.create_task(self.page.evaluate(run, [tool, arguments or {}, how]))

    def frame(self, number: int = 0) -> Any:
        return self.page.frame_locator("iframe").nth(number)

    async def fill(self, number: int = 0, **values: str) -> None:
        for label, value in values.items():
            await self.frame(number).get_by_label(re.compile(f"^{label}", re.IGNORECASE)).fill(value)

    async def press(self, button: str, number: int = 0) -> None:
        if not self.clipped:
            await self.frame(number).locator("main").evaluate(WHOLE)
        found = self.frame(number).get_by_role("button", name=button, exact=True, disabled=False)
        await found.wait_for()  # to click a disabled one, Playwright would scroll the form until it works
        await found.click()

    async def sees(self, text: str, number: int = 0) -> None:
        await self.frame(number).get_by_text(text).first.wait_for()

    async def of(self, expression: str) -> Any:
        return await self.page.evaluate(f"() => {expression}")


@pytest.fixture
def hosted(browser: Any, url: str) -> Any:
    @asynccontextmanager
    async def opened(era: str = "", **options: Any) -> AsyncIterator[Host]:
        context = await browser.new_context(**options)
        context.set_default_timeout(SECONDS)
        page = await context.new_page()
        host = Host(page)
        await page.goto(f"{url}/?era={era}")
        await page.wait_for_function("window.host")
        yield host
        assert not host.errors
        assert all(request.startswith((url, "about:", "data:")) for request in host.requests)
        await context.close()

    return opened


# --- shown during the call ----------------------------------------------------------------------


async def test_the_form_is_filled_in_and_the_call_returns(hosted: Any) -> None:
    async with hosted() as host:
        call = host.call("book", {"to": " there"})
        await host.sees("Tell me about the trip there. <b>Please.</b>")
        await host.fill(city="Oslo", days="3")
        await host.frame().get_by_label("aisle").check()
        await host.press("Send")
        assert await call == "Oslo 3 aisle app"
        await host.sees("Sent. The tool continues.")
        assert await host.of("host.messages") == []
        await host.page.wait_for_function(f"{FRAME}.clientHeight < 70")  # what is finished takes little room


async def test_problems_appear_at_the_fields_and_input_stays(hosted: Any) -> None:
    async with hosted() as host:
        call = host.call("book")
        await host.fill(city="O", days="99")
        await host.press("Send")
        await host.sees("Days must be at most 30.")
        frame = host.frame()
        assert await frame.get_by_label("Days").get_attribute("aria-invalid") == "true"
        assert await frame.get_by_label("Days").input_value() == "99"
        assert await frame.locator(".summary").evaluate("each => each === document.activeElement")
        await frame.get_by_role("link", name=re.compile("Days")).click()
        assert await frame.get_by_label("Days").evaluate("each => each === document.activeElement")
        await host.fill(city="Oslo", days="3")
        await frame.get_by_label("Days").press("Enter")
        assert await call == "Oslo 3 window app"


@pytest.mark.parametrize(("button", "expected"), [("Decline", "Declined app"), ("Cancel", "Cancelled app")])
async def test_a_decline_is_a_decline(hosted: Any, button: str, expected: str) -> None:
    async with hosted() as host:
        call = host.call("book")
        await host.press(button)
        assert await call == expected


async def test_the_next_question_comes_to_the_same_frame(hosted: Any) -> None:
    async with hosted() as host:
        call = host.call("two")
        await host.sees("First?")
        await host.fill(answer="7")
        await host.press("Send")
        await host.sees("Second?")
        await host.fill(answer="x")
        await host.press("Send")
        assert await call == "7 x"


async def test_concurrent_questions_are_counted(hosted: Any) -> None:
    async with hosted() as host:
        call = host.call("together")
        for number in (1, 2):
            await host.sees(f"{number} of 2")
            await host.fill(answer=str(number))
            await host.press("Send")
        assert await call == "(1, 2)"


async def test_two_calls_at_once_never_mix(hosted: Any) -> None:
    async with hosted() as host:
        calls = [host.call("book", {"to": f" {to}"}) for to in "AB"]
        await host.sees("the trip", 0)
        await host.sees("the trip", 1)
        for number in (1, 0):
            text = await host.frame(number).locator(".message").inner_text()
            await host.fill(number, city="Aden" if "trip A" in text else "Bonn", days="3")
            await host.press("Send", number)
        assert [await call for call in calls] == ["Aden 3 window app", "Bonn 3 window app"]


async def test_a_tool_that_asks_nothing_leaves_only_a_line(hosted: Any) -> None:
    async with hosted() as host:
        assert await host.call("quiet") == "nothing to ask"
        await host.page.wait_for_function("host.sizes.length")
        assert {size["height"] for size in await host.of("host.sizes")} == {1}


# --- shown with the result ------------------------------------------------------------------------


async def go_on(host: Host, told: str) -> asyncio.Task[str]:
    await host.page.wait_for_function("host.messages.length")
    [message] = await host.of("host.messages.splice(0)")
    assert message["role"] == "user"
    [block] = message["content"]
    code = re.search(r'"code": "([\w-]+)"', block["text"])
    assert code
    assert code[1] in told
    return host.call("midcall_continue", {"code": code[1]}, when="after")


async def test_a_late_form_answers_and_tells_the_model(hosted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "APP_SECONDS", 0.05)
    async with hosted() as host:
        told = await host.call("two", when="after")
        assert told.startswith("NOT FINISHED YET")
        await host.fill(answer="7")
        await host.press("Send")
        told = await (await go_on(host, told))
        await host.sees("The assistant was told to continue.", 0)
        await host.fill(1, answer="x")
        await host.press("Send", 1)
        assert await (await go_on(host, told)) == "7 x"


async def test_over_http_without_a_session_the_form_comes_with_the_result(
    hosted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "APP_SECONDS", 1.0)
    async with hosted(era="2026-07-28") as host:
        told = await host.call("book")
        assert told.startswith("NOT FINISHED YET")
        await host.fill(city="Oslo", days="3")
        await host.press("Send")
        assert await (await go_on(host, told)) == "Oslo 3 window app"


async def test_without_messages_to_the_host_the_user_asks_the_model_to_resume(
    hosted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "APP_SECONDS", 0.05)
    async with hosted() as host:
        await host.call("book", when="after", says=False)
        await host.press("Decline")
        await host.sees("tell the assistant in the chat to continue")


async def test_a_finished_form_cannot_be_sent_again(hosted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "APP_SECONDS", 0.05)
    async with hosted() as host:
        told = await host.call("book", when="after")
        await host.fill(city="Oslo", days="3")
        await host.press("Send")
        assert await (await go_on(host, told)) == "Oslo 3 window app"
        tool = "host.tools.find((each) => each.name === 'book')"
        await host.of(f"host.show({tool}, {{}}, {{}}).then((bridge) => bridge.sendToolResult(host.results[0]))")
        await host.sees("This form was answered.", 2)
        assert await host.frame(2).get_by_role("button").count() == 0
        assert await host.of("host.messages") == []


async def test_input_survives_the_end_of_the_held_call(hosted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "HOLD_SECONDS", 1.5)
    async with hosted() as host:
        call = host.call("book")
        await host.fill(city="Oslo")
        told = await call
        assert told.startswith("NOT FINISHED YET")
        assert await host.frame().get_by_label("City").input_value() == "Oslo"
        await host.fill(days="3")
        await host.press("Send")
        assert await (await go_on(host, told)) == "Oslo 3 window app"


# --- what hosts do with frames ----------------------------------------------------------------------


async def test_the_frame_gets_the_height_that_the_form_needs(hosted: Any) -> None:
    async with hosted() as host:
        call = host.call("book")
        await host.sees("Tell me about")
        await host.page.wait_for_function(f"{FRAME}.clientHeight > 300")
        await host.frame().locator("html").evaluate(FITS)
        await host.press("Cancel")
        await call


async def test_it_fits_a_phone(hosted: Any) -> None:
    async with hosted(**PHONE) as host:
        call = host.call("book")
        await host.sees("Tell me about")
        wide = await host.frame().locator("html").evaluate("each => each.scrollWidth - each.clientWidth")
        assert wide <= 0
        await host.press("Cancel")
        await call


@pytest.mark.parametrize(("theme", "seen"), [("dark", "light"), ("light", "dark")])
async def test_the_form_follows_the_hosts_theme_not_the_systems(hosted: Any, theme: str, seen: str) -> None:
    async with hosted(color_scheme=seen) as host:
        call = host.call("book", context={"theme": theme})
        await host.sees("Tell me about")
        assert await _brightness(host) == theme
        other = "light" if theme == "dark" else "dark"
        await host.of(f"host.bridges[0].setHostContext({{theme: '{other}'}})")
        async with asyncio.timeout(5):
            while await _brightness(host) != other:
                await asyncio.sleep(0.01)
        await host.press("Cancel")
        await call


async def _brightness(host: Host) -> str:
    color = await host.frame().locator(".card").evaluate("each => getComputedStyle(each).backgroundColor")
    return "light" if int(re.findall(r"\d+", color)[0]) > 128 else "dark"


async def test_everything_is_reachable_in_a_small_frame(hosted: Any) -> None:
    async with hosted() as host:
        call = host.call("book", height=160)
        await host.sees("Tell me about")
        send = host.frame().get_by_role("button", name="Send", exact=True)
        assert await send.evaluate("each => each.getBoundingClientRect().bottom <= innerHeight"), "in sight at once"
        assert not await host.frame().get_by_role("button", name="Open larger").is_visible()
        await host.fill(city="Oslo", days="3")
        await host.press("Send")
        await host.frame().get_by_label("aisle").check()
        await host.press("Send")
        assert await call == "Oslo 3 aisle app"


async def test_a_small_frame_sends_nothing_before_everything_was_visible(hosted: Any) -> None:
    async with hosted() as host:
        call = host.call("book", height=160)
        await host.press("Send")
        city = host.frame().get_by_label("City")
        assert await city.evaluate("each => each.closest('.field').getBoundingClientRect().top < 60")
        assert await host.frame().locator(".summary").count() == 0
        await host.press("Send")
        await host.sees("City is required.")
        await host.press("Cancel")
        await call


async def test_the_user_can_enlarge_the_form_if_the_host_supports_it(hosted: Any) -> None:
    async with hosted() as host:
        call = host.call("book", height=160, context={"availableDisplayModes": ["inline", "fullscreen"]})
        await host.press("Open larger")
        await host.page.wait_for_function("host.modes.length === 1")
        await host.frame().get_by_role("button", name="Open larger").wait_for(state="hidden")
        await host.press("Cancel")
        await call


async def test_a_closed_frame_shows_the_form_when_it_opens(hosted: Any) -> None:
    async with hosted() as host:
        call = host.call("book", height=0)
        frame = host.page.locator("iframe")
        await frame.wait_for(state="attached")
        await frame.evaluate("each => { each.style.display = 'none' }")
        await frame.evaluate("each => { each.style.display = 'block'; each.style.height = '400px' }")
        await host.fill(city="Oslo", days="3")
        await host.press("Send")
        assert await call == "Oslo 3 window app"


async def test_only_the_hosts_messages_are_accepted(hosted: Any) -> None:
    async with hosted() as host:
        call = host.call("book")
        await host.sees("Tell me about")
        heard = "new Promise((done) => addEventListener('message', () => setTimeout(done)))"
        forged = "{jsonrpc: '2.0', method: 'ui/notifications/tool-cancelled', params: {}}"
        await host.frame().locator("main").evaluate(f"() => [window.postMessage({forged}, '*'), {heard}][1]")
        await host.sees("Tell me about")
        await host.press("Cancel")
        await call
