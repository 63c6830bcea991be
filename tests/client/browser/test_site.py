"""The page of the Browser answerer over plain HTTP: who may come in, what is answered, what is never let out."""

from __future__ import annotations

import asyncio
import gc
import html
import logging
import re
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from midcall.client.answerer import Answerer, Waits, modes_of
from midcall.client.asked import Asked, FormQuestion
from midcall.client.browser import Browser, views
from midcall.core.forms.fields import Choices, Text
from midcall.core.forms.form import Form
from midcall.core.outcome import Accepted, Cancelled, Declined
from tests.auditing import Trail
from tests.budget import cpu_budget
from tests.client.browsing import Desk, a_visit, desk, short, soon, trip
from tests.web.other_user import ASK, another_user, linux, root
from tests.web.submitting import Page, Pairs


@pytest.fixture(autouse=True)
def answers_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests click faster than people."""
    monkeypatch.setattr(views, "PAGE_CONFIRM_SECONDS", 0)


class Visitor:
    """A browser without JavaScript that was let in."""

    def __init__(self, http: httpx2.AsyncClient, home: str) -> None:
        self.http = http
        self.home = home
        self.origin = "{0.scheme}://{0.netloc}".format(urlsplit(home))

    async def see(self, id: str | None = None) -> str:
        answer = await self.http.get(self.home if id is None else f"{self.home}?q={id}")
        assert answer.status_code == 200
        return answer.text

    async def controls(self, id: str) -> Pairs:
        return Page(await self.see(id)).controls

    async def press(self, id: str, button: str, values: dict[str, str] | None = None, **more: Any) -> httpx2.Response:
        controls = dict(await self.controls(id)) | (values or {}) | {"do": button}
        return await self.post(id, controls, **more)

    async def post(self, id: str, controls: dict[str, str], **more: Any) -> httpx2.Response:
        headers = {"origin": self.origin} | more.pop("headers", {})
        return await self.http.post(f"{self.home}q/{id}", data=controls, headers=headers, **more)


@asynccontextmanager
async def let_in(at: Desk) -> AsyncIterator[Visitor]:
    """A browser that opened the address."""
    address = await at.address()
    async with httpx2.AsyncClient() as http:
        entered = await http.get(address)
        assert entered.status_code == 200
        yield Visitor(http, address.partition("/open/")[0] + "/")


# --- answering without JavaScript ------------------------------------------------------------


async def test_a_form_is_filled_in_and_sent() -> None:
    async with desk() as at:
        [task] = at.ask(trip())
        async with let_in(at) as visitor:
            page = await visitor.see()
            assert "Travel asks" in page
            assert "Tell me about the trip." in page
            filled = {"f0": "Ada", "f1": "ada@example.com", "f4": "1", "f6": "no", "f5": "0"}
            sent = await visitor.press("trip", "send", filled)
            assert (sent.status_code, sent.headers["location"]) == (303, urlsplit(visitor.home).path)
            assert await soon(task) == Accepted(
                {"name": "Ada", "mail": "ada@example.com", "days": 4, "seat": "a", "extras": ["bike"], "news": False}
            )
            assert "No questions right now" in await visitor.see()


async def test_what_does_not_fit_is_shown_again_with_its_problems_and_sent_when_it_does() -> None:
    async with desk() as at:
        [task] = at.ask(trip())
        async with let_in(at) as visitor:
            wrong = {"f0": "A", "f1": "no", "f3": "2,5", "f4": "0", "f6": "yes"}
            again = await visitor.press("trip", "send", wrong)
            page = Page(await visitor.see("trip"))
            assert again.headers["location"].endswith("?q=trip")
            assert "Days must be a whole number." in page.text
            assert {("f0", "A"), ("f1", "no"), ("f3", "2,5"), ("f4", "0"), ("f6", "yes")} <= set(page.controls)
            assert not task.done()
            await visitor.press("trip", "send", {"f0": "Ada", "f1": "a@b.co", "f3": "2"})
            assert (await soon(task)).value["days"] == 2


@pytest.mark.parametrize(("button", "outcome"), [("decline", Declined()), ("cancel", Cancelled())])
async def test_decline_and_cancel_are_two_things_and_need_no_valid_form(button: str, outcome: object) -> None:
    async with desk() as at:
        tasks = at.ask(trip(), a_visit())
        async with let_in(at) as visitor:
            for id in ("trip", "visit"):
                await visitor.press(id, button, {"f0": ""})
            assert [await soon(task) for task in tasks] == [outcome] * 2


async def test_a_form_without_fields_is_a_yes_no_question() -> None:
    async with desk() as at:
        [task] = at.ask(Asked(FormQuestion("Go on?", None), "bare", "Travel"))
        async with let_in(at) as visitor:
            assert '<button name="do" value="send" class="primary">Yes</button>' in await visitor.see()
            await visitor.press("bare", "send")
            assert await soon(task) == Accepted({})


async def test_two_servers_are_told_apart_and_answered_in_any_order() -> None:
    async with desk() as at:
        first, second = at.ask(trip(), short())
        async with let_in(at) as visitor:
            page = await visitor.see()
            assert page.index("Travel asks") < page.index("<strong>Deploy</strong><span>Which branch?</span>")
            assert "2 questions" in page
            await visitor.press("short", "send", {"f0": "main"})
            assert await soon(second) == Accepted({"branch": "main"})
            assert not first.done()


async def test_typed_text_is_kept_while_another_question_is_shown() -> None:
    async with desk() as at:
        [task, _] = at.ask(trip(), short())
        async with let_in(at) as visitor:
            controls = dict(await visitor.controls("trip")) | {"f0": "Ad", "to": "short"}
            answer = await visitor.post("trip", controls)
            assert answer.headers["location"].endswith("?q=short")
            page = Page(await visitor.see("trip"))
            assert ("f0", "Ad") in page.controls
            assert "Please look" not in page.text
            assert not task.done()


async def test_a_withdrawn_question_is_marked_and_cannot_be_answered() -> None:
    async with desk() as at:
        [task, _] = at.ask(trip(), short())
        async with let_in(at) as visitor:
            controls = await visitor.controls("trip")
            task.cancel()
            await asyncio.wait([task])
            assert "The question was withdrawn. What you typed was not sent." in await visitor.see("trip")
            late = await visitor.post("trip", dict(controls) | {"do": "send"})
            assert late.headers["location"].endswith("?q=trip")


async def test_an_answer_counts_once() -> None:
    async with desk() as at:
        [task] = at.ask(short())
        async with let_in(at) as visitor:
            controls = dict(await visitor.controls("short")) | {"f0": "main", "do": "send"}
            await visitor.post("short", controls)
            assert (await visitor.post("short", controls | {"f0": "evil"})).status_code == 303
            assert await soon(task) == Accepted({"branch": "main"})


async def test_a_visit_shows_the_whole_address_and_opens_nothing_before_consent() -> None:
    url = "https://accounts.example.com/connect?" + "state=x&" * 1000
    async with desk() as at:
        [task] = at.ask(a_visit(url))
        async with let_in(at) as visitor:
            page = await visitor.see()
            shown = re.search(r"<bdi>(.*?)</bdi>", page)
            assert shown is not None
            assert html.unescape(re.sub("<[^>]*>", "", shown[1])) == url
            assert "<mark>example.com</mark>" in page
            assert 'href="https://accounts' not in page
            assert "It is very long" in page
            agreed = await visitor.press("visit", "send")
            assert await soon(task) == Accepted(None)
            assert f'content="0; url={html.escape(url)}"' in agreed.text
            assert agreed.headers["referrer-policy"] == "no-referrer"
            assert url not in (await visitor.press("visit", "send")).text


async def test_the_reason_for_a_visit_is_shown_above_it() -> None:
    async with desk() as at:
        at.ask(replace(a_visit(), reason="Your <files> are not connected yet."))
        async with let_in(at) as visitor:
            page = await visitor.see()
    why, what = page.find("Your &lt;files&gt; are not connected yet."), page.find("Connect your calendar.")
    assert 0 < why < what


@pytest.mark.parametrize("url", ["javascript:alert(1)", "https://example.com/\u202egpj.exe", "file:///etc/passwd", ""])
async def test_an_address_that_hides_what_it_is_cannot_be_agreed_to(url: str) -> None:
    async with desk() as at:
        [task] = at.ask(a_visit(url))
        async with let_in(at) as visitor:
            page = await visitor.see()
            assert "This address cannot be opened" in page
            assert 'value="send"' not in page
            assert "\u202e" not in page
            forced = await visitor.press("visit", "send")
            assert forced.status_code == 303
            assert not task.done()


@pytest.mark.parametrize(
    ("url", "doubt"),
    [
        ("http://example.com/", "It is plain http"),
        ("https://user@example.com/", "is not the site"),
        ("https://93.184.216.34/", "only the number"),
        ("https://example.com:8443/", "unusual port 8443"),
        ("https://xn--pypal-4ve.example/", "is a name in other letters"),
    ],
)
async def test_every_doubt_about_an_address_is_spelled_out(url: str, doubt: str) -> None:
    async with desk() as at:
        at.ask(a_visit(url))
        async with let_in(at) as visitor:
            page = html.unescape(await visitor.see())
            assert doubt in page
            assert "to be careful" in page


# --- who may come in -------------------------------------------------------------------------


async def test_the_address_works_once_and_only_in_the_browser_that_opened_it() -> None:
    async with desk() as at:
        at.ask(short())
        address = await at.address()
        async with httpx2.AsyncClient() as first, httpx2.AsyncClient() as second:
            entered = await first.get(address)
            cookie = entered.headers["set-cookie"]
            assert re.fullmatch(r"midcall-[0-9a-f]{12}=[\w-]{43}; Path=/[\w-]{22}/; HttpOnly; SameSite=Strict", cookie)
            home = address.partition("/open/")[0] + "/"
            assert (await first.get(home)).status_code == 200
            assert (await first.get(address)).status_code == 200
            for url in (address, home, f"{home}events", f"{home}?q=short"):
                refused = await second.get(url)
                assert refused.status_code == 403
                assert "Which branch" not in refused.text
                assert "set-cookie" not in refused.headers


async def test_a_guess_and_a_head_request_let_nobody_in_and_spend_nothing() -> None:
    async with desk() as at:
        at.ask(short())
        address = await at.address()
        async with httpx2.AsyncClient() as http:
            guess = address.rpartition("/")[0] + "/guess"
            assert (await http.get(guess)).status_code == 403
            assert (await http.head(address)).status_code == 403
            origin = "{0.scheme}://{0.netloc}".format(urlsplit(address))
            assert (await http.get(origin)).status_code == 404
            assert (await http.get(address)).status_code == 200


@linux
@root
async def test_another_user_of_this_machine_who_reads_the_address_first_is_refused_and_spends_nothing() -> None:
    async with desk() as at:
        [task] = at.ask(short())
        address = await at.address()
        assert await another_user(ASK, address, "Which branch") == "403 False"
        async with httpx2.AsyncClient() as http:
            assert (await http.get(address)).status_code == 200
            visitor = Visitor(http, address.partition("/open/")[0] + "/")
            assert "Which branch" in await visitor.see()
            for path in ("", "events", "static/style.css"):
                assert await another_user(ASK, visitor.home + path, "Which branch") == "403 False"
            await visitor.press("short", "send", {"f0": "main"})
        assert await soon(task) == Accepted({"branch": "main"})


async def test_a_cookie_of_many_backslashes_does_not_hang_the_page_and_hides_no_other() -> None:
    async with desk() as at:
        at.ask(short())
        address = await at.address()
        async with httpx2.AsyncClient() as http:
            entered = await http.get(address)
            ours = entered.headers["set-cookie"].partition(";")[0]
        async with httpx2.AsyncClient() as http:
            with cpu_budget(2):
                cookies = f'a="{chr(92) * 50_000}"; {ours}; b=c'
                page = await http.get(address.partition("/open/")[0] + "/", headers={"cookie": cookies})
            assert (page.status_code, "Which branch" in page.text) == (200, True)


async def test_a_request_that_was_forwarded_is_refused() -> None:
    async with desk() as at:
        at.ask(short())
        address = await at.address()
        async with httpx2.AsyncClient() as http:
            assert (await http.get(address, headers={"x-forwarded-for": "192.0.2.1"})).status_code == 403
            assert (await http.get(address)).status_code == 200


async def test_another_host_name_is_refused() -> None:
    async with desk() as at:
        [task] = at.ask(short())
        async with let_in(at) as visitor:
            for host in ("evil.example", "localhost", "evil.example:80", ""):
                for path in ("", "static/style.css", "events"):
                    answer = await visitor.http.get(visitor.home + path, headers={"host": host})
                    assert answer.status_code in (400, 421)
            assert not task.done()


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": ""},
        {"origin": "http://localhost:80"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
async def test_a_post_from_another_origin_is_refused(headers: dict[str, str]) -> None:
    async with desk() as at:
        [task] = at.ask(short())
        async with let_in(at) as visitor:
            answer = await visitor.press("short", "send", {"f0": "main"}, headers=headers)
            assert answer.status_code == 403
            assert "nothing was sent" in answer.text
            assert not task.done()


async def test_a_form_needs_its_own_token() -> None:
    async with desk() as at:
        tasks = at.ask(short(), trip())
        async with let_in(at) as visitor:
            other = dict(await visitor.controls("trip"))["token"]
            for token in ("", "x", other):
                answer = await visitor.press("short", "decline", {"token": token})
                assert answer.status_code == 403
            assert not any(task.done() for task in tasks)


async def test_every_request_that_is_refused_is_in_the_audit_trail() -> None:
    trail = Trail()
    async with desk(audit=trail.audit) as at:
        [task] = at.ask(short())
        async with let_in(at) as visitor, httpx2.AsyncClient() as stranger:
            told: list[list[str]] = []

            async def refused(answer: httpx2.Response, status: int) -> None:
                assert answer.status_code == status
                told.append(await trail.told())
                trail.seen.clear()

            await refused(await visitor.http.get(visitor.home, headers={"host": "evil.example"}), 421)
            await refused(await stranger.get(visitor.home, headers={"x-forwarded-for": "192.0.2.1"}), 403)
            for path in ("open/guessed", "", "events"):
                await refused(await stranger.get(f"{visitor.home}{path}"), 403)
            await refused(await stranger.post(f"{visitor.home}q/short", data={"do": "send"}), 403)
            await refused(await visitor.press("short", "send", headers={"origin": "https://evil.example"}), 403)
            await refused(await visitor.press("short", "send", {"token": "x"}), 403)
            await refused(await visitor.press("short", "send", {"f0": "x" * 5_000_000}), 413)
            assert told == [
                [f"page.refused page {why}"]
                for why in (
                    *("wrong_host", "wrong_user", "unknown", "unknown", "unknown", "unknown"),
                    *("not_from_page", "not_from_page", "too_large"),
                )
            ]
            await visitor.press("short", "send", {"f0": "main"})
            assert await soon(task) == Accepted({"branch": "main"})
    assert await trail.told() == []


async def test_every_answer_forbids_frames_caches_sniffing_and_other_sources() -> None:
    async with desk() as at:
        at.ask(short())
        async with let_in(at) as visitor:
            for url in (visitor.home, f"{visitor.home}static/page.js", f"{visitor.home}nothing", visitor.origin):
                headers = (await visitor.http.get(url)).headers
                assert headers.get_list("cross-origin-resource-policy") == ["same-origin"]
                assert headers.get_list("cross-origin-opener-policy") == ["same-origin"]
                policy = headers["content-security-policy"]
                assert "default-src 'none'" in policy
                assert "frame-ancestors 'none'" in policy
                assert "unsafe" not in policy
                assert headers["cache-control"] == "no-store"
                assert headers["x-content-type-options"] == "nosniff"
                assert headers["referrer-policy"] == "same-origin"


async def test_the_page_has_no_inline_script_or_style_and_names_no_other_place() -> None:
    async with desk() as at:
        at.ask(trip(message="<script>alert(1)</script> https://evil.example <img src=//evil.example/x>"), short())
        async with let_in(at) as visitor:
            page = await visitor.see()
            assert not re.search(r"<script(?! src=\"/)|<style|\son\w+=|style=|javascript:", page)
            assert not re.search(r"""(src|href|action)="(?!/|#)""", page)
            assert "&lt;script&gt;alert(1)" in page


async def test_what_the_server_says_cannot_steer_the_page() -> None:
    said = "pay\x1b[31m\u202e\x07\0 now"
    async with desk() as at:
        at.ask(trip(server=said, message=said), short(server=said, message=said))
        async with let_in(at) as visitor:
            page = await visitor.see()
            assert not any(char in page for char in "\x1b\u202e\x07\0")


async def test_a_form_that_is_too_large_is_refused_and_the_question_stays() -> None:
    async with desk() as at:
        [task] = at.ask(short())
        async with let_in(at) as visitor:
            assert (await visitor.press("short", "send", {"f0": "x" * 5_000_000})).status_code == 413
            assert not task.done()
            await visitor.press("short", "send", {"f0": "main"})
            assert await soon(task) == Accepted({"branch": "main"})


@pytest.mark.parametrize("body", [b"\xff\xfe", b"&&&===", b"token=%ff&do=%00", b"token[]=1", b'{"do":"send"}'])
async def test_rubbish_is_refused_without_a_trace(body: bytes, caplog: pytest.LogCaptureFixture) -> None:
    async with desk() as at:
        [task] = at.ask(short())
        async with let_in(at) as visitor:
            headers = {"origin": visitor.origin}
            answer = await visitor.http.post(f"{visitor.home}q/short", content=body, headers=headers)
            assert answer.status_code == 403
            assert "Traceback" not in answer.text
            assert not task.done()
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


# --- hostile servers -------------------------------------------------------------------------


async def test_ten_thousand_questions_at_once_leave_a_page_that_works() -> None:
    async with desk() as at:
        tasks = at.ask(*(short(str(number), f"Flood {number}") for number in range(10_000)))
        await soon(asyncio.wait(tasks[100:]))
        assert all(task.result() == Cancelled() for task in tasks[100:])
        async with let_in(at) as visitor:
            page = await visitor.see()
            assert "9,900 questions were cancelled without being shown, because 100 were waiting" in page
            assert len(page) < 200_000
            await visitor.press("57", "send", {"f0": "main"})
            assert await soon(tasks[57]) == Accepted({"branch": "main"})
        assert at.opened == 0


async def test_five_megabytes_of_message_five_thousand_choices_and_a_thousand_fields_are_shown_within_bounds() -> None:
    many = Form(Choices("many", [f"option {number}" for number in range(5_000)]))
    wide = Form(*(Text(f"field {number}", required=False) for number in range(1_000)))
    async with desk() as at:
        tasks = at.ask(
            short("long", message="x\x1b]" * 1_700_000),
            Asked(FormQuestion("Choose.", many), "many"),
            Asked(FormQuestion("Fill in.", wide), "wide"),
            Asked(FormQuestion("Too wide.", Form(*(Text(f"{number}") for number in range(3_000)))), "too wide"),
        )
        async with let_in(at) as visitor:
            begun = time.process_time()
            assert "more characters are not shown" in await visitor.see("long")
            assert "This form has 3,000 fields, more than can be shown." in await visitor.see("too wide")
            await visitor.press("too wide", "send")
            await visitor.press("long", "send", {"f0": "x"})
            await visitor.press("many", "send", {"f0": "4999"})
            await visitor.press("wide", "send", {"f999": "last"})
            assert time.process_time() - begun < 10
            assert await soon(tasks[0]) == Accepted({"branch": "x"})
            assert await soon(tasks[1]) == Accepted({"many": ["option 4999"]})
            assert await soon(tasks[2]) == Accepted({"field 999": "last"})
            assert not tasks[3].done()


# --- its life --------------------------------------------------------------------------------


def test_it_is_an_answerer_for_both_modes_that_keeps_the_user_in_charge_of_waiting() -> None:
    browser = Browser()
    assert isinstance(browser, Answerer)
    assert isinstance(browser, Waits)
    assert modes_of(browser) == ("form", "url")


async def test_nothing_is_served_before_the_first_question_and_nothing_after_the_end() -> None:
    async with desk() as at:
        assert len(asyncio.all_tasks()) == 1
        [task] = at.ask(short())
        port = urlsplit(await at.address()).port
    assert await soon(task) == Cancelled()
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0
    assert await at.browser.answer(short()) == Cancelled()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_only_loopback_is_served() -> None:
    for host in ("0.0.0.0", "192.168.1.5", "example.com"):
        with pytest.raises(ValueError, match="served on loopback only"):
            Browser(host=host)


async def test_a_port_that_is_taken_is_an_error_of_this_question_alone() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        async with desk(port=taken.getsockname()[1]) as at:
            with pytest.raises(OSError, match="in use"):
                await at.browser.answer(short())


@pytest.mark.parametrize("open", [None, lambda url: False, lambda url: 1 / 0])
async def test_if_no_browser_starts_the_address_is_shown(open: Any) -> None:
    told: asyncio.Queue[str] = asyncio.Queue()
    async with desk(open=open, tell=told.put_nowait) as at:
        [task] = at.ask(short())
        said = await soon(told.get())
        address = re.search(r"http://127\.0\.0\.1:\d+/\S+", said)
        assert address is not None
        async with httpx2.AsyncClient() as http:
            assert (await http.get(address[0])).status_code == 200
        assert not task.done()


async def test_one_page_is_opened_for_many_questions() -> None:
    async with desk() as at:
        at.ask(*(short(str(number)) for number in range(20)))
        async with let_in(at) as visitor:
            at.ask(*(short(f"later {number}") for number in range(20)))
            assert "40 questions" in await visitor.see()
        assert at.opened == 0


async def test_the_address_is_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        async with desk() as at:
            [task] = at.ask(short())
            async with let_in(at) as visitor:
                await visitor.press("short", "send", {"f0": "a secret branch"})
                await soon(task)
                secret = visitor.home
    ours = [record.getMessage() for record in caplog.records if not record.name.startswith(("http", "asyncio"))]
    assert not any(secret in line or "secret branch" in line for line in ours)


LEFT_ALONE = """
import asyncio, signal, sys, urllib.request
from midcall.client.asked import Asked, FormQuestion
from midcall.client.browser import Browser

async def main():
    before = signal.getsignal(signal.SIGINT)
    opened = asyncio.Queue()
    loop = asyncio.get_running_loop()
    browser = Browser(open=lambda url: loop.call_soon_threadsafe(opened.put_nowait, url))
    asking = asyncio.create_task(browser.answer(Asked(FormQuestion("?", None), "q")))
    address = await opened.get()
    page = await asyncio.to_thread(urllib.request.urlopen, address)
    cookie = page.headers["set-cookie"].partition(";")[0]
    events = urllib.request.Request(address.partition("/open/")[0] + "/events", headers={"cookie": cookie})
    stream = await asyncio.to_thread(urllib.request.urlopen, events)
    assert signal.getsignal(signal.SIGINT) is before
    stream.close() if len(sys.argv) > 1 else None

asyncio.run(main())
print("ended")
"""


@pytest.mark.parametrize("arguments", [[], ["hang up"]])
def test_when_the_loop_ends_it_ends_too_without_a_word(arguments: list[str]) -> None:
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", LEFT_ALONE, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout) == (0, "ended\n")
    assert not [line for line in done.stderr.splitlines() if not line.startswith("Executing <")]


def test_one_browser_serves_one_loop_after_another() -> None:
    browser = Browser(open=None, tell=lambda said: None)

    async def ask_and_leave() -> None:
        task = asyncio.create_task(browser.answer(short()))
        await asyncio.sleep(0)
        assert not task.done()

    asyncio.run(ask_and_leave())
    asyncio.run(ask_and_leave())
    gc.collect()


def test_importing_the_client_loads_neither_starlette_nor_jinja() -> None:
    script = "import sys, midcall.client, midcall.client.pending; print([n for n in sys.modules if 'jinja' in n])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    script = "import sys, midcall.client; print({'starlette', 'jinja2', 'uvicorn'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_without_jinja_the_error_says_what_to_install() -> None:
    script = "import sys; sys.modules['jinja2'] = None; from midcall.client.browser import Browser"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1].endswith('pip install "midcall[browser]"')


def test_templates_style_and_script_are_in_the_package() -> None:
    import midcall

    found = {path.name for path in Path(midcall.__file__).parent.rglob("*") if path.suffix in (".html", ".css", ".js")}
    assert {"page.html", "field.html", "style.css", "page.js"} <= found
