"""One page for all questions: a tab of the browser is led from one question of a call to the next."""

from __future__ import annotations

import asyncio
import html
import re
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import httpx2
import pytest
from mcp_types import CallToolResult

from midcall import Question, approve, ask, ask_all, choose, confirm, install, once, secret
from midcall.portal import Portal
from midcall.server.installation import installation_on
from midcall.server.resuming import visits
from midcall.server.running import beat, handover
from midcall.stores import open_store
from midcall.stores.base import Record
from midcall.stores.interactions import Ending, Next
from midcall.stores.memory import Memory
from midcall.stores.quotas import Quotas, caller, name_user
from midcall.testing import ERAS, Era, connect
from tests.browser import launch
from tests.contract.conftest import place
from tests.kinds import KINDS, Kind, bare_server
from tests.portal.people import Surfer
from tests.portal.sites import ADA, Site, site, visiting
from tests.server.channels import interview_server
from tests.server.channels.test_reach import book
from tests.server.codes import KEYS, code_of, go_on, shown
from tests.server.people import installed
from tests.server.reaching import NOTHING, posted
from tests.server.running.replicas import Wire
from tests.serving import serving, stdio
from tests.skips import needs_chromium

SERVER = Path(interview_server.__file__)

pytestmark = pytest.mark.usefixtures("prompt")


@pytest.fixture
def prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is waited for too long, should something not come. Tests click faster than people."""
    monkeypatch.setattr(visits, "HOLD_SECONDS", 10.0)
    monkeypatch.setenv("MIDCALL_PORTAL_PAUSE", "0")


class Tab(Surfer):
    """A tab of a browser without JavaScript. It goes where pages send it."""

    async def show(self, url: str) -> str:
        await self.open(url)
        return await self.follow()

    async def follow(self) -> str:
        """Go on for as long as pages refresh themselves to another one; the heading of the last one."""
        async with asyncio.timeout(20):
            while found := re.search(r'http-equiv="refresh" content="0; url=([^"]+)"', self.page.text):
                await self._show(await self.http.get(urljoin(str(self.page.url), html.unescape(found[1]))))
        return self.heading

    @property
    def heading(self) -> str:
        return html.unescape(re.findall(r"<h1>(.*?)</h1>", self.page.text)[0])

    @property
    def message(self) -> str:
        found = re.findall(r'<blockquote class="message".*?>(.*?)</blockquote>', self.page.text, re.DOTALL)
        return html.unescape(re.sub("<.*?>", "", found[0])).strip() if found else ""

    async def send(self, **values: Any) -> str:
        """Fill in the form of the page, send it, and go where that leads."""
        await self.press("accept", **posted(self.page.text, values))
        assert self.page.status_code < 400, self.page.text
        return await self.follow()

    async def decide(self, button: str) -> str:
        await self.press(button)
        return await self.follow()


@asynccontextmanager
async def browser() -> AsyncIterator[Tab]:
    async with httpx2.AsyncClient(follow_redirects=True) as http:
        yield Tab(http, "ada")


def links(result: CallToolResult) -> list[str]:
    return re.findall(r"http://\S+/i/\S+", shown(result))


class Trip:
    """A tool that asks three questions."""

    def __init__(self) -> None:
        self.runs = 0
        self.paid: list[str] = []

    async def book(self, city: str = "Oslo") -> str:
        self.runs += 1
        days = await ask("How many days?", int)
        seat = await choose("Which seat?", {"w": "Window", "a": "Aisle"})
        if not await confirm("Really?"):
            return "Nothing was booked."
        await once("pay", self.pay, city)
        return f"{city}: {days} days, seat {seat}"

    def pay(self, city: str) -> str:
        self.paid.append(city)
        return city


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
async def test_three_questions_are_one_link_and_one_tab_and_the_first_code_brings_the_result(
    kind: Kind, era: Era
) -> None:
    trip = Trip()
    async with (
        installed(trip.book, kind=kind) as (server, _),
        connect(server, era=era, modes=NOTHING) as client,
        browser() as tab,
    ):
        first = await client.call_tool("book", {"city": "Oslo"})
        [link] = links(first)
        await tab.show(link)
        assert tab.message == "How many days?"
        await tab.send(answer=3)
        assert tab.message == "Which seat?"
        await tab.send(answer="w")
        assert tab.message == "Really?"
        assert await tab.send(answer="yes") == "You are done here"
        assert trip.paid == ["Oslo"], "the tool has ended before anyone asked for its result"
        done = await go_on(client, first)
        assert (shown(done), bool(done.is_error)) == ("Oslo: 3 days, seat w", False)
        assert shown(await go_on(client, first)) == shown(done), "the same code gives the same result"
    assert (trip.runs, trip.paid) == (1, ["Oslo"])


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("over", ["stdio", "http"])
async def test_the_tab_continues_in_a_separate_server(over: str, era: Era, tmp_path: Path) -> None:
    store, log = f"sqlite://{tmp_path}/store.db", tmp_path / "log"
    async with AsyncExitStack() as stack:
        if over == "stdio":
            server: Any = stdio(SERVER, stack.enter_context(log.open("w")), store)
        else:
            server = stack.enter_context(serving(SERVER, log, store))
        client = await stack.enter_async_context(connect(server, era=era, modes=NOTHING))
        tab = await stack.enter_async_context(browser())
        first = await client.call_tool("book", {"city": "Oslo"})
        [link] = links(first)
        await tab.show(link)
        for answer in ("3", "w", "yes"):
            await tab.send(answer=answer)
        assert tab.heading == "You are done here"
        assert shown(await go_on(client, first)) == "Oslo: 3 days, seat w, True, in 1 run(s)"
    assert log.read_text() == "" if over == "stdio" else True


# --- replicas ------------------------------------------------------------------------------------


async def test_any_replica_serves_the_pages_and_takes_the_code_and_the_run_stays_where_it_is(tmp_path: Path) -> None:
    trips = [Trip(), Trip(), Trip()]
    async with place("postgres", tmp_path) as url, AsyncExitStack() as stack:
        clients: list[Any] = []
        portals: list[Any] = []
        for trip in trips:
            store = open_store(url)
            stack.push_async_callback(store.close)
            server, portal = await stack.enter_async_context(installed(trip.book, store=store))
            clients.append(await stack.enter_async_context(connect(server, modes=NOTHING)))
            portals.append(portal)
            await portal.start()
        tab = await stack.enter_async_context(browser())
        first = await clients[0].call_tool("book", {"city": "Oslo"})
        [link] = links(first)
        await tab.show(portals[1].address(link.rpartition("/")[2]))
        held = asyncio.create_task(go_on(clients[2], first))
        for answer in ("3", "w", "yes"):
            await tab.send(answer=answer)
        assert tab.heading == "You are done here"
        assert shown(await go_on(clients[2], first)) == "Oslo: 3 days, seat w"
        for client in clients:
            assert shown(await go_on(client, first)) == "Oslo: 3 days, seat w"
        await held
        for server_portal in portals:
            await server_portal.close()
    assert [trip.runs for trip in trips] == [1, 0, 0]
    assert [trip.paid for trip in trips] == [["Oslo"], [], []]


async def test_a_page_continues_no_run_for_good_that_was_overtaken_before_it_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(handover, "BEAT_SECONDS", 0.05)
    monkeypatch.setattr(beat, "BEAT_SECONDS", 0.05)
    monkeypatch.setattr(visits, "BRIEF_HOLD_SECONDS", 0.02)
    memory, came, go_on_a, again = Memory(), asyncio.Event(), asyncio.Event(), asyncio.Event()

    def book_at(name: str) -> Any:
        async def book() -> str:
            first = await ask("How many days?", int)
            if name == "a":
                came.set()
                await go_on_a.wait()
            second = await ask("How many nights?", int)
            if name == "a":
                again.set()
                await asyncio.Event().wait()
            return f"{name}: {first} days, {second} nights"

        return book

    wires = [Wire(memory), Wire(memory)]
    async with (
        asyncio.timeout(20),
        installed(book_at("a"), store=wires[0]) as (one, portal),
        installed(book_at("b"), store=wires[1]) as (other, _),
        connect(one, modes=NOTHING) as a,
        connect(other, modes=NOTHING) as b,
    ):
        first = await a.call_tool("book", {})
        answer = Ending("accept", time.time(), {"answer": 3})
        [link] = links(first)
        assert await portal.interactions.finish(link.rpartition("/")[2], answer, owner=None) == "done"
        await came.wait()
        wires[0].is_cut = True
        second = await go_on(b, first)
        [link] = links(second)
        wires[0].is_cut, wires[1].is_cut = False, True
        told, hear = wires[0].hold_reply("change")
        go_on_a.set()
        await told.wait()  # its round can't be settled, and it hasn't heard of that
        assert await portal.interactions.finish(link.rpartition("/")[2], answer, owner=None) == "done"
        await again.wait()
        wires[1].is_cut = False
        hear.set()
        assert shown(await go_on(b, second)) == "b: 3 days, 3 nights"


# --- waiting uses nothing up ---------------------------------------------------------------------


async def ask_one() -> str:
    return f"{await ask('How many days?', int)} days"


async def approve_one() -> bool:
    return await approve("Pay?", {"Amount": "5 EUR"})


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("era", ERAS)
async def test_a_code_that_only_waited_still_works(era: Era, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "BRIEF_HOLD_SECONDS", 0.02)
    async with installed(ask_one) as (server, _), connect(server, era=era, modes=NOTHING) as client, browser() as tab:
        first = await client.call_tool("ask_one", {})
        for _ in range(3):
            early = await go_on(client, first)
            assert "not finished on the web page yet" in shown(early)
            assert code_of(early) == code_of(first)
            assert links(early) == links(first), "it names the address again"
        await tab.show(links(first)[0])
        await tab.send(answer=3)
        assert shown(await go_on(client, first)) == "3 days"


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_gave_up_waiting_loses_nothing(era: Era) -> None:
    async with installed(ask_one) as (server, _), connect(server, era=era, modes=NOTHING) as client, browser() as tab:
        first = await client.call_tool("ask_one", {})
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await go_on(client, first)
        waiting = asyncio.create_task(go_on(client, first))
        await tab.show(links(first)[0])
        await tab.send(answer=3)
        assert shown(await waiting) == "3 days"


async def test_without_a_progress_token_a_code_is_held_briefly_and_with_one_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert visits.BRIEF_HOLD_SECONDS <= 4, "some clients give up after five"
    monkeypatch.setattr(visits, "BRIEF_HOLD_SECONDS", 0.02)
    monkeypatch.setattr(visits, "HOLD_SECONDS", 60.0)

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.set()

    heard = asyncio.Event()
    async with (
        installed(ask_one, heartbeat=0.05) as (server, _),
        connect(server, modes=NOTHING) as client,
        browser() as tab,
    ):
        first = await client.call_tool("ask_one", {})
        async with asyncio.timeout(30):
            assert "not finished on the web page yet" in shown(await go_on(client, first))
        code = {"code": code_of(first)}
        held = asyncio.create_task(client.call_tool("midcall_continue", code, progress_callback=hear))
        await heard.wait()
        await tab.show(links(first)[0])
        await tab.send(answer=3)
        assert shown(await held) == "3 days"


@pytest.mark.usefixtures("either")
async def test_codes_at_the_same_time_continue_once_and_get_the_same_result() -> None:
    paid: list[int] = []

    async def pay() -> str:
        if not await approve("Pay?", {"Amount": "5 EUR"}):
            return "Nothing was paid."
        paid.append(5)
        return "Paid."

    async with installed(pay) as (server, _), connect(server, modes=NOTHING) as client, browser() as tab:
        first = await client.call_tool("pay", {})
        waiting = [asyncio.create_task(go_on(client, first)) for _ in range(3)]
        await tab.show(links(first)[0])
        await tab.decide("accept")
        assert {shown(await each) for each in waiting} == {"Paid."}
        assert shown(await go_on(client, first)) == "Paid."
    assert paid == [5]


# --- every kind of page, in one tab ----------------------------------------------------------------


async def test_secrets_approvals_and_forms_come_in_one_tab() -> None:
    async def deploy() -> str:
        token = await secret("github", "A token, to deploy with.")
        days = await ask("For how many days?", int)
        return f"{len(token)} {days} {await approve('Deploy?', {'Days': days})}"

    async with installed(deploy) as (server, _), connect(server, modes=NOTHING) as client, browser() as tab:
        first = await client.call_tool("deploy", {})
        assert await tab.show(links(first)[0]) == "Enter “github” for test"
        await tab.press("accept", s0="a token")
        await tab.follow()
        assert tab.message == "For how many days?"
        await tab.send(answer=2)
        assert tab.message == "Deploy?"
        assert await tab.decide("accept") == "You are done here"
        assert shown(await go_on(client, first)) == "7 2 True"


@pytest.mark.parametrize("together", [True, False], ids=["ask_all", "gather"])
async def test_questions_that_are_open_at_once_are_led_through_by_one_link(together: bool) -> None:
    async def both() -> str:
        if together:
            days, nights = await ask_all(Question("How many days?", int), Question("How many nights?", int))
            return f"{days} {nights}"
        days, nights = await asyncio.gather(ask("How many days?", int), ask("How many nights?", int))
        return f"{days} {nights}"

    async with installed(both) as (server, _), connect(server, modes=NOTHING) as client, browser() as tab:
        first = await client.call_tool("both", {})
        assert len(links(first)) == 1
        await tab.show(links(first)[0])
        said: list[str] = []
        for _ in range(2):
            said.append(tab.message)
            await tab.send(answer=3 if tab.message == "How many days?" else 2)
        assert sorted(said) == ["How many days?", "How many nights?"]
        assert tab.heading == "You are done here"
        assert shown(await go_on(client, first)) == "3 2"


async def test_an_answer_that_only_the_tool_can_refuse_is_asked_for_again_in_the_same_tab() -> None:
    async with installed(book) as (server, _), connect(server, modes=NOTHING) as client, browser() as tab:
        first = await client.call_tool("book", {})
        await tab.show(links(first)[0])
        await tab.send(city="Nowhere", days=3)
        assert "is not a place" in tab.page.text
        assert await tab.send(city="Oslo", days=3) == "You are done here"
        assert shown(await go_on(client, first)) == "Oslo 3 link"


@pytest.mark.parametrize("button", ["decline", "cancel"])
async def test_after_a_decline_the_tab_says_that_it_is_done(button: str) -> None:
    async with installed(Trip().book) as (server, _), connect(server, modes=NOTHING) as client, browser() as tab:
        first = await client.call_tool("book", {})
        await tab.show(links(first)[0])
        await tab.send(answer=3)
        assert await tab.decide(button) == "You are done here"
        result = await go_on(client, first)
        assert result.is_error
        assert ("declined" if button == "decline" else "without answering") in shown(result)


async def test_a_page_that_expires_ends_the_call_and_its_result_is_kept() -> None:
    async with installed(ask_one, ttl=0.2) as (server, _), connect(server, modes=NOTHING) as client, browser() as tab:
        first = await client.call_tool("ask_one", {})
        result = await go_on(client, first)
        assert result.is_error
        assert "not finished on the web page yet. Call the tool again" in shown(result)
        assert await tab.show(links(first)[0]) == "This page has expired"


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("tool", [ask_one, approve_one])
async def test_a_page_that_is_gone_from_the_store_ends_its_call(tool: Any, caplog: pytest.LogCaptureFixture) -> None:
    store = Memory()
    async with (
        installed(tool, store=store) as (server, _),
        connect(server, modes=NOTHING) as client,
    ):
        first = await client.call_tool(tool.__name__, {})
        records = vars(store)["_records"]
        for id in [id for id, record in records.items() if record.kind in ("form", "approve")]:
            del records[id]
        before = len(records)
        result = await go_on(client, first)
        assert result.is_error
        assert "midcall_continue" not in shown(result)
        assert len(records) <= before + 3, "nothing asks for it again and again"
        assert not installation_on(server).runs.running
    caplog.clear()


async def test_the_first_link_leads_to_the_question_that_is_open_now() -> None:
    async with installed(Trip().book) as (server, _), connect(server, modes=NOTHING) as client, browser() as tab:
        first = await client.call_tool("book", {})
        await tab.show(links(first)[0])
        await tab.send(answer=3)
        await tab.send(answer="w")
        await tab.show(links(first)[0])
        assert tab.message == "Really?"


async def test_two_tabs_on_the_same_question_answer_it_once_and_continue_together() -> None:
    trip = Trip()
    async with (
        installed(trip.book) as (server, _),
        connect(server, modes=NOTHING) as client,
        browser() as one,
        browser() as two,
    ):
        first = await client.call_tool("book", {})
        await one.show(links(first)[0])
        await two.show(links(first)[0])
        await one.send(answer=3)
        await two.press("accept", **posted(two.page.text, {"answer": 9}))
        assert (two.page.status_code, two.heading) == (409, "This was answered already")
        [onwards] = re.findall(r'class="button" href="([^"]+)"', two.page.text)
        await two.show(urljoin(str(two.page.url), onwards))
        assert one.message == two.message == "Which seat?"
        await two.send(answer="a")
        await one.show(links(first)[0])
        await one.send(answer="yes")
        assert shown(await go_on(client, first)) == "Oslo: 3 days, seat a"
    assert trip.runs == 1


# --- the run isn't here ----------------------------------------------------------------------------


async def test_without_live_runs_the_page_sends_the_user_back_and_the_call_is_replayed() -> None:
    trip = Trip()
    async with (
        installed(trip.book, live=False) as (server, _),
        connect(server, modes=NOTHING) as client,
        browser() as tab,
    ):
        result = await client.call_tool("book", {})
        for answer in ("3", "w", "yes"):
            await tab.show(links(result)[0])
            assert await tab.send(answer=answer) == "Sent"
            assert "go back to your assistant" in tab.page.text
            result = await go_on(client, result)
        assert shown(result) == "Oslo: 3 days, seat w"
    assert (trip.runs, trip.paid) == (4, ["Oslo"])


async def test_after_an_eviction_the_page_sends_the_user_back_and_the_call_is_replayed() -> None:
    trip = Trip()
    async with (
        installed(trip.book, max_live=1) as (server, _),
        connect(server, modes=NOTHING) as client,
        browser() as tab,
    ):
        first = await client.call_tool("book", {})
        await tab.show(links(first)[0])
        await tab.send(answer=3)
        other = await client.call_tool("book", {})
        assert tab.message == "Which seat?"
        assert await tab.send(answer="w") == "Go back to your assistant"
        third = await go_on(client, first)
        await tab.show(links(third)[0])
        await tab.send(answer="yes")
        assert shown(await go_on(client, third)) == "Oslo: 3 days, seat w"
        assert shown(await go_on(client, first)) == "Oslo: 3 days, seat w"
        del other
    assert trip.paid == ["Oslo"]


async def test_what_a_run_keeps_without_a_request_counts_for_its_user(monkeypatch: pytest.MonkeyPatch) -> None:
    user: ContextVar[str] = ContextVar("user", default="")
    counted: dict[str, set[str]] = {}

    async def sign_in(ctx: Any, call_next: Any) -> Any:
        user.set("ada")
        return await call_next(ctx)

    async def admit(self: Quotas, record: Record) -> None:
        name = caller.get()
        counted.setdefault(record.kind, set()).add("" if name is None else name())

    monkeypatch.setattr(Quotas, "admit", admit)
    portal = Portal()
    server = bare_server("lowlevel", Trip().book)
    server.middleware.append(sign_in)
    install(server, keys=KEYS, store=Memory(), portal=portal, principal=lambda ctx: user.get())
    async with connect(server, modes=NOTHING) as client:
        first = await client.call_tool("book", {})
        [link] = links(first)
        id, answer = link.rpartition("/")[2], Ending("accept", time.time(), {"answer": 3})
        assert await portal.interactions.finish(id, answer, owner=None) == "done"
        follows = await portal.interactions.next(id, 10)
        assert follows is not None
        assert follows.where == "page"
        assert "Which seat?" in shown(await go_on(client, first))
    await portal.close()
    assert {"code", "turn"} < set(counted)
    assert set.union(*(counted[kind] for kind in ("code", "turn", "form", "next"))) == {name_user("ada")}


async def test_a_client_that_never_comes_back_leaves_nothing_running() -> None:
    async with installed(Trip().book) as (server, _), connect(server, modes=NOTHING) as client, browser() as tab:
        first = await client.call_tool("book", {})
        await tab.show(links(first)[0])
        for answer in ("3", "w", "yes"):
            await tab.send(answer=answer)
        runs = installation_on(server).runs
        assert not runs.running
        assert not [task for task in asyncio.all_tasks() if "_resume_after" in repr(task)]


async def test_a_run_evicted_while_its_page_is_answered_cleans_up_before_another_replica_continues() -> None:
    happened: list[str] = []
    claiming, claimed, given_back = asyncio.Event(), asyncio.Event(), asyncio.Event()

    class Slow(Memory):
        async def create(self, record: Record) -> tuple[Record, bool]:
            if record.kind == "turn":
                claiming.set()
                await claimed.wait()
            return await super().create(record)

        async def change(self, record: Record, version: int) -> tuple[Record | None, bool]:
            if record.kind == "turn" and record.outcome is None:
                happened.append("given back")
                given_back.set()
            return await super().change(record, version)

    async def book() -> str:
        try:
            return f"{await ask('How many days?', int)} days"
        except asyncio.CancelledError:
            await claimed.wait()
            for _ in range(100):
                await asyncio.sleep(0)
            happened.append("cleaned up")
            raise

    async with (
        asyncio.timeout(20),
        installed(book, ask_one, store=Slow(), max_live=1) as (server, portal),
        connect(server, modes=NOTHING) as client,
    ):
        [link] = links(await client.call_tool("book", {}))
        answer = Ending("accept", time.time(), {"answer": 3})
        assert await portal.interactions.finish(link.rpartition("/")[2], answer, owner=None) == "done"
        await claiming.wait()
        await client.call_tool("ask_one", {})
        claimed.set()
        await given_back.wait()
    assert happened == ["cleaned up", "given back"]


# --- nobody else is led on ---------------------------------------------------------------------------


async def test_looking_at_what_comes_next_changes_nothing_and_needs_an_answer_first() -> None:
    async with installed(ask_one) as (server, _), connect(server, modes=NOTHING) as client, browser() as tab:
        first = await client.call_tool("ask_one", {})
        [link] = links(first)
        for _ in range(3):
            await tab.show(f"{link}/next")
            assert (str(tab.page.url), tab.message) == (f"{link}?after=1", "How many days?")
        await tab.send(answer=3)
        assert shown(await go_on(client, first)) == "3 days"


async def led(at: Site, *, owner: str = ADA) -> tuple[str, str]:
    """An answered page of this user, which leads to another one."""
    first, second, now = await at.begin(owner=owner), await at.begin(owner=owner), time.time()
    await at.portal.interactions.expect_next(first, owner, now=now, expires=now + 60)
    await at.portal.interactions.lead(first, Next("page", second), now=now)
    return first, second


@pytest.mark.parametrize("path", ["{}", "{}/next"])
async def test_a_page_leads_nobody_but_its_user(path: str) -> None:
    at = site()
    async with visiting(at) as ada, visiting(at, "eve") as eve, visiting(at, None) as nobody:
        first, second = await led(at)
        assert (await ada.press(first, "decline")).status_code == 200
        assert (await ada.open(path.format(first))).headers["location"] == f"/midcall/i/{second}?after=1"
        for other in (eve, nobody):
            answer = await other.open(path.format(first))
            assert second not in f"{answer.headers}{answer.text}"


async def test_if_the_user_is_unknown_a_page_leads_only_the_browser_that_answered_it() -> None:
    at = site()
    async with visiting(at, None) as one, visiting(at, None) as two:
        first, second = await led(at, owner="")
        said = await one.press(first, "decline")
        [way] = re.findall(r'url=/midcall/i/([^"]+)"', said.text)
        assert (await one.open(html.unescape(way))).headers["location"] == f"/midcall/i/{second}?after=1"
        await two.open(second)  # it has its own mark now
        for path in (first, f"{first}/next", html.unescape(way)):
            answer = await two.open(path)
            assert second not in f"{answer.headers}{answer.text}"


async def test_a_leaked_store_shows_no_next_page() -> None:
    store = Memory()
    at = site(store=store)
    first, second = await led(at)
    assert first not in repr(store.__dict__)
    assert second not in repr(store.__dict__)


# --- a real browser ----------------------------------------------------------------------------------


@needs_chromium()
@pytest.mark.parametrize("js", [True, False], ids=["with scripts", "without"])
async def test_a_real_browser_is_led_from_question_to_question(js: bool) -> None:
    from playwright.async_api import expect

    working = asyncio.Event()

    async def book() -> str:
        days = await ask("How many days?", int)
        await working.wait()
        return f"{days} days, {await confirm('Really?')}"

    async with (
        installed(book) as (server, _),
        connect(server, modes=NOTHING) as client,
        launch() as browser,
    ):
        page = await (await browser.new_context(java_script_enabled=js)).new_page()
        first = await client.call_tool("book", {})
        await page.goto(links(first)[0])
        await page.get_by_role("spinbutton").or_(page.get_by_role("textbox")).fill("3")
        async with page.expect_request(lambda request: request.url.endswith("/next"), timeout=30_000):
            await page.get_by_role("button", name="Send").click(no_wait_after=True)
        working.set()
        await expect(page.locator("blockquote")).to_have_text("Really?", timeout=15_000)
        await page.get_by_text("Yes", exact=True).click()
        await page.get_by_role("button", name="Send").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("You are done here", timeout=15_000)
        assert shown(await go_on(client, first)) == "3 days, True"
