from __future__ import annotations

import asyncio
import json
import logging
import stat
import sys
import time
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.server import MCPServer

import midcall
from midcall import Accepted, Cancelled, Declined, Question, ask, ask_all, visit
from midcall.audit import Audit, Event
from midcall.client import connect
from midcall.client.answerer import Answerer, CannotAnswer, Waiting, Waits, modes_of
from midcall.client.asked import Asked, FormQuestion, VisitQuestion
from midcall.client.automatic.headless import Headless
from midcall.client.automatic.script import Script
from midcall.client.guard import Guard, Rate
from midcall.core.forms.fields import Number
from midcall.core.forms.form import Form
from midcall.core.outcome import Outcome
from midcall.testing import ERAS
from tests.client.answerers import result_of

YES = Accepted({"days": 3})


def form(server: str = "travel", message: str = "How many days?") -> Asked:
    return Asked(FormQuestion(message, Form(Number("days"))), id="1", server=server)


def to(url: str) -> Asked:
    return Asked(VisitQuestion("Please sign in", url, "v1"), id="2", server="travel")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Held:
    """Answers when it is told to."""

    def __init__(self) -> None:
        self.waiting = 0
        self.go = asyncio.Event()

    async def answer(self, asked: Asked) -> Outcome[Any]:
        self.waiting += 1
        await self.go.wait()
        return YES


def guarded(answerer: Answerer | None = None, **options: Any) -> tuple[Guard, list[str]]:
    told: list[str] = []
    return Guard(answerer or Script(lambda asked: YES if asked.form else True), tell=told.append, **options), told


# --- how often -------------------------------------------------------------------------------


async def test_questions_beyond_the_rate_are_cancelled_and_the_user_is_notified_once() -> None:
    clock = Clock()
    guard, told = guarded(rate=Rate(3, per=60), clock=clock)
    outcomes = [await guard.answer(form()) for _ in range(10)]
    assert outcomes == [YES] * 3 + [Cancelled()] * 7
    assert told == ["travel asks too often: its questions are cancelled until it slows down."]
    clock.now += 20
    assert [await guard.answer(form()) for _ in range(2)] == [YES, Cancelled()]
    assert len(told) == 1  # still the same burst
    clock.now += 60
    assert [await guard.answer(form()) for _ in range(4)] == [YES] * 3 + [Cancelled()]
    assert len(told) == 2


async def test_each_server_has_its_own_rate() -> None:
    guard, _ = guarded(rate=Rate(1), clock=Clock())
    assert [await guard.answer(form(server)) for server in ("a", "b", "a")] == [YES, YES, Cancelled()]


async def test_a_server_cannot_take_the_rate_of_another_one_by_its_name() -> None:
    guard, _ = guarded(rate=Rate(1, per=60), most_waiting=1)
    same = [replace(form("travel"), connection=connection) for connection in ("one", "one", "other")]
    assert [await guard.answer(asked) for asked in same] == [YES, Cancelled(), YES]


async def test_a_server_cannot_take_the_places_of_another_one_by_its_name() -> None:
    held = Held()
    guard, _ = guarded(held, most_waiting=1)
    same = [replace(form("travel"), connection=connection) for connection in ("one", "one", "other")]
    tasks = [asyncio.create_task(guard.answer(asked)) for asked in same]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED, timeout=20)
    held.go.set()
    assert await asyncio.gather(*tasks) == [YES, Cancelled(), YES]


@given(st.lists(st.floats(0, 100), max_size=60), st.integers(1, 5), st.floats(0.1, 60))
def test_a_rate_is_never_exceeded(pauses: list[float], count: int, per: float) -> None:
    async def passed() -> list[float]:
        clock = Clock()
        guard, _ = guarded(rate=Rate(count, per), clock=clock)
        times: list[float] = []
        for pause in pauses:
            clock.now += pause
            if await guard.answer(form()):
                times.append(clock.now)
        return times

    times = asyncio.run(passed())
    for first, last in zip(times, times[2 * count :], strict=False):
        assert last - first >= per * 0.999  # as many at once, and as many in the time after it


@pytest.mark.parametrize(("count", "per"), [(0, 60), (-1, 60), (1, 0), (1, -1), (1, float("nan"))])
def test_a_rate_that_makes_no_sense_is_refused(count: int, per: float) -> None:
    with pytest.raises(ValueError, match="at least one question"):
        Rate(count, per)


async def test_ten_thousand_questions_in_a_second_stay_bounded(tmp_path: Path) -> None:
    held = Held()
    guard, told = guarded(held, audit=tmp_path / "audit.jsonl", clock=lambda: 0.0)  # all in one second, however slow
    tracemalloc.start()
    began = time.process_time()  # a busy machine takes longer
    tasks = [asyncio.create_task(guard.answer(form(message=f"{n}?"))) for n in range(10_000)]
    await asyncio.wait(tasks, timeout=1)
    while sum(task.done() for task in tasks) < 10_000 - 30:
        await asyncio.sleep(0.05)
    assert time.process_time() - began < 15
    assert held.waiting == 30
    assert len(told) == 1
    held.go.set()
    outcomes = await asyncio.gather(*tasks)
    assert outcomes.count(YES) == 30
    await guard.close()
    assert len((tmp_path / "audit.jsonl").read_text().splitlines()) == 10_000
    del tasks, outcomes
    assert tracemalloc.get_traced_memory()[0] < 20_000_000
    tracemalloc.stop()


async def test_ten_thousand_names_stay_bounded_too() -> None:
    guard, told = guarded(rate=Rate(1), deny_hosts=["example.com"])
    for number in range(10_000):
        await guard.answer(Asked(VisitQuestion("?", "https://example.com/"), id="1", server=str(number)))
    assert len(guard._rates._buckets) <= 1_000
    assert len(guard._told) <= 1_000
    assert len(told) == 10_000


# --- how many wait ---------------------------------------------------------------------------


async def settled(held: Held, tasks: list[asyncio.Task[Outcome[Any]]], waiting: int) -> None:
    async with asyncio.timeout(20):
        while held.waiting < waiting or sum(task.done() for task in tasks) < len(tasks) - waiting:
            await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("options", "servers", "waiting"),
    [
        ({"most_waiting": 2}, "aaaa", 2),
        ({"most_waiting": 2}, "aaabbb", 4),
        ({"most_waiting": 2, "most_waiting_in_all": 3}, "aaabbb", 3),
        ({"most_waiting": None, "most_waiting_in_all": None}, "a" * 200, 200),
    ],
)
async def test_only_so_many_wait_at_once(options: dict[str, Any], servers: str, waiting: int) -> None:
    held = Held()
    guard, told = guarded(held, rate=None, **options)
    tasks = [asyncio.create_task(guard.answer(form(server))) for server in servers]
    await settled(held, tasks, waiting)
    assert len(told) == len({s for s, t in zip(servers, tasks, strict=True) if t.done()})
    held.go.set()
    outcomes = await asyncio.gather(*tasks)
    assert (outcomes.count(YES), outcomes.count(Cancelled())) == (waiting, len(servers) - waiting)
    assert await guard.answer(form("a")) == YES


async def test_what_is_withdrawn_or_fails_waits_no_longer() -> None:
    class Failing:
        async def answer(self, asked: Asked) -> Outcome[Any]:
            raise RuntimeError

    guard, _ = guarded(Failing(), most_waiting=1)
    for _ in range(3):
        with pytest.raises(RuntimeError):
            await guard.answer(form())
    held = Held()
    guard, _ = guarded(held, most_waiting=1)
    for number in range(3):
        task = asyncio.create_task(guard.answer(form()))
        await settled(held, [task], number + 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


# --- who, and where --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lists", "server", "allowed"),
    [
        ({}, "anyone", True),
        ({"servers": ["travel"]}, "travel", True),
        ({"servers": ["travel"]}, "Travel", True),
        ({"servers": ["travel"]}, "other", False),
        ({"servers": []}, "travel", False),
        ({"deny_servers": ["evil"]}, "travel", True),
        ({"deny_servers": ["evil"]}, "EVIL", False),
        ({"deny_servers": ["evil"]}, "ev\u200bil\x1b[0m ", False),
        ({"deny_servers": ["evil"]}, "ev\u180bi\ufe0f\u034fl\u3164", False),
        ({"deny_servers": ["evil"]}, "evil" + " " * 100_000, False),
        ({"servers": ["evil"], "deny_servers": ["evil"]}, "evil", False),
    ],
)
async def test_servers_are_allowed_and_denied_by_name(lists: dict[str, Any], server: str, allowed: bool) -> None:
    guard, told = guarded(**lists)
    outcomes = [await guard.answer(form(server)) for _ in range(2)]
    assert outcomes == [YES if allowed else Cancelled()] * 2
    assert len(told) == (not allowed)


@pytest.mark.parametrize(
    ("lists", "url", "allowed"),
    [
        ({}, "https://example.com/", True),
        ({"hosts": ["example.com"]}, "https://example.com/x", True),
        ({"hosts": ["example.com"]}, "https://login.EXAMPLE.com:8443/", True),
        ({"hosts": ["example.com"]}, "https://example.com.evil.org/", False),
        ({"hosts": ["example.com"]}, "https://example.com@evil.org/", False),
        ({"hosts": ["login.example.com"]}, "https://login.example.com/", True),
        ({"hosts": ["login.example.com"]}, "https://a.login.example.com/", False),
        ({"hosts": ["login.example.com"]}, "https://example.com/", False),
        ({"hosts": ["*.example.com"]}, "https://a.b.example.com/", True),
        ({"hosts": ["*.example.com"]}, "https://example.com/", False),
        ({"hosts": ["*.example.com"]}, "https://notexample.com/", False),
        ({"hosts": ["münchen.de"]}, "https://xn--mnchen-3ya.de/", True),
        ({"hosts": ["127.0.0.1"]}, "http://2130706433:8000/", True),
        ({"hosts": ["[::1]"]}, "http://[0:0::1]/", True),
        ({"hosts": []}, "https://example.com/", False),
        ({"hosts": ["github.io"]}, "https://someone.github.io/", False),
        ({"deny_hosts": ["evil.org"]}, "https://example.com/", True),
        ({"deny_hosts": ["evil.org"]}, "https://evil.org/", False),
        ({"deny_hosts": ["evil.org"]}, "https://a.b.evil.org./", False),
        ({"deny_hosts": ["a.evil.org"]}, "https://x.a.evil.org/", False),
        ({"deny_hosts": ["a.evil.org"]}, "https://evil.org/", True),
        ({"deny_hosts": ["*.evil.org"]}, "https://evil.org/", True),
        ({"deny_hosts": ["*.evil.org"]}, "https://x.evil.org/", False),
        ({"deny_hosts": ["127.0.0.1"]}, "http://0x7f.1/", False),
        ({"deny_hosts": ["127.0.0.1"]}, "http://[::ffff:127.0.0.1]/", False),
        ({"deny_hosts": ["127.0.0.1"]}, "http://127.1:8000/", False),
        ({"deny_hosts": ["127.0.0.1"]}, "http://2130706433/", False),
        ({"deny_hosts": ["127.0.0.1"]}, "http://0.0.0.0/", False),
        ({"deny_hosts": ["127.0.0.1"]}, "http://0/", False),
        ({"deny_hosts": ["127.0.0.1"]}, "http://127.0.0.2/", False),
        ({"deny_hosts": ["127.0.0.1"]}, "http://localhost:8000/", False),
        ({"deny_hosts": ["127.0.0.1"]}, "http://app.localhost./", False),
        ({"deny_hosts": ["127.0.0.1"]}, "http://[::1]/", False),
        ({"deny_hosts": ["127.0.0.1"]}, "http://[::]/", False),
        ({"deny_hosts": ["127.0.0.1"]}, "http://[64:ff9b::7f00:1]/", False),
        ({"deny_hosts": ["127.0.0.1"]}, "http://128.0.0.1/", True),
        ({"deny_hosts": ["localhost"]}, "http://127.0.0.1/", False),
        ({"deny_hosts": ["[::1]"]}, "http://127.0.0.1/", False),
        ({"deny_hosts": ["10.0.0.5"]}, "http://[2002:a00:5::]/", False),
        ({"deny_hosts": ["10.0.0.5"]}, "http://[64:ff9b::10.0.0.5]/", False),
        ({"deny_hosts": ["10.0.0.5"]}, "http://167772165/", False),
        ({"deny_hosts": ["[::ffff:10.0.0.5]"]}, "http://10.0.0.5/", False),
        ({"deny_hosts": ["10.0.0.5"]}, "http://10.0.0.6/", True),
        ({"hosts": ["127.0.0.1"]}, "http://127.0.0.2/", False),
        ({"hosts": ["127.0.0.1"]}, "http://localhost/", False),
        ({"hosts": ["127.0.0.1"]}, "http://[::ffff:127.0.0.1]/", False),
        ({"deny_hosts": ["evil.org"]}, "https://ev%69l.org/", False),
        ({"deny_hosts": ["evil.org"]}, "https://ev\u180bil.org/", False),
        ({"deny_hosts": ["evil.org"]}, "https://ev\u180fil.org\u3002/", False),
        ({"deny_hosts": ["il.org"]}, "https://ev\u33c2il.org/", False),  # ev, a.m., il
        ({"deny_hosts": ["\U0001f600.org"]}, "https://\U0001f600\u180d.org/", False),
        ({"deny_hosts": ["faß.org"]}, "https://FA\u1e9e.org/", False),
        ({"hosts": ["example.com"], "deny_hosts": ["login.example.com"]}, "https://login.example.com/", False),
    ],
)
async def test_hosts_are_allowed_and_denied(lists: dict[str, Any], url: str, allowed: bool) -> None:
    guard, told = guarded(**lists)
    assert await guard.answer(to(url)) == (Accepted(None) if allowed else Cancelled())
    assert len(told) == (not allowed)
    assert await guard.answer(form()) == YES


@pytest.mark.parametrize("answerer", [None, "terminal", 5, Headless, lambda asked: YES])
def test_what_cannot_answer_is_not_guarded(answerer: Any) -> None:
    with pytest.raises(TypeError, match="answerer"):
        Guard(answerer)


def test_lists_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match=r"'https://example\.com' is not a host: write example\.com"):
        guarded(hosts=["https://example.com"])
    with pytest.raises(TypeError, match=r"Write \['example.com'\]"):
        guarded(hosts="example.com")
    with pytest.raises(TypeError, match=r"Write \['travel'\]"):
        guarded(deny_servers="travel")


async def test_notices_for_the_user_are_safe_to_show() -> None:
    guard, told = guarded(rate=Rate(1), deny_hosts=["evil.org"], clock=Clock())
    evil = "\x1b[2J\n" + "x" * 1_000_000
    await guard.answer(Asked(VisitQuestion(evil, "https://evil.org/"), id="1", server=evil))
    await guard.answer(form(evil))
    assert len(told) == 2
    assert all(len(sentence) < 500 and sentence.isprintable() for sentence in told)


async def test_if_telling_the_user_fails_the_question_is_still_answered(caplog: pytest.LogCaptureFixture) -> None:
    def tell(sentence: str) -> None:
        raise OSError("secret")

    guard = Guard(Headless(), servers=[], tell=tell)
    assert await guard.answer(form()) == Cancelled()
    assert "could not tell the user" in caplog.text
    assert "secret" not in caplog.text


async def test_without_a_callback_notices_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "midcall.client"):
        await Guard(Headless(), servers=[]).answer(form())
    assert [record.getMessage() for record in caplog.records] == [
        "travel may not ask questions here: they are cancelled."
    ]


# --- the audit log ---------------------------------------------------------------------------


async def test_each_question_is_a_line_of_json_without_content(tmp_path: Path) -> None:
    path, clock = tmp_path / "audit.jsonl", Clock()

    async def answer(asked: Asked) -> Any:
        clock.now += 1.5
        return {"How many days?": YES, "No?": Declined()}.get(asked.message, "does not fit")

    guard, _ = guarded(Script(answer), audit=path, deny_servers=["evil"], clock=clock)
    asked = [form(), form(message="No?"), form("evil"), form(message="Unfit?")]
    for each in asked:
        await guard.answer(each)
    await guard.close()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line.pop("time")[:2] for line in lines] == ["20"] * 4
    common = {"server": "travel", "question": asked[0].digest, "via": "push"}
    took, none = {"mode": "form", "seconds": 1.5}, {"mode": "form", "seconds": 0.0}
    unfit = {"question": asked[3].digest, "outcome": "cancel", "details": took}
    assert lines == [
        common | {"event": "question.answered", "outcome": "accept", "details": took},
        common | {"event": "question.declined", "question": asked[1].digest, "outcome": "decline", "details": took},
        common | {"event": "question.refused", "server": "evil", "outcome": "server", "details": none},
        common | {"event": "question.declined", **unfit},
    ]
    assert "How many" not in path.read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="modes are for POSIX systems")
async def test_the_audit_log_is_for_its_owner_alone_and_is_added_to(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    for _ in range(2):
        guard, _ = guarded(audit=str(path))
        await guard.answer(form())
        await guard.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(path.read_text().splitlines()) == 2


async def test_what_has_no_answer_fails_or_is_withdrawn_is_recorded_too() -> None:
    events: list[Event] = []
    audit = Audit(events.append)
    for unanswered in (Script({}, strict=True), Headless("fail")):
        guard, _ = guarded(unanswered, audit=audit)
        with pytest.raises(CannotAnswer):
            await guard.answer(form())
    guard, _ = guarded(Script(lambda asked: 1 / 0), audit=audit)
    with pytest.raises(ZeroDivisionError):
        await guard.answer(form())
    held = Held()
    guard, _ = guarded(held, audit=audit)
    task = asyncio.create_task(guard.answer(form()))
    await settled(held, [task], 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await audit.flush()
    assert [event.outcome for event in events] == ["unanswered", "unanswered", "error", "withdrawn"]


async def test_a_record_that_cannot_be_written_costs_no_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    guard, _ = guarded(audit=tmp_path / "none" / "audit.jsonl")
    assert await guard.answer(form()) == YES
    await guard.close()
    assert "An audit sink does not take events (FileNotFoundError)" in caplog.text


# --- the guarded answerer --------------------------------------------------------------------


async def test_modes_and_waiting_are_those_of_the_answerer() -> None:
    class Patient(Headless):
        async def wait(self, waiting: Waiting) -> bool:
            return True

        def completed(self, id: str) -> None: ...

    assert isinstance(Guard(Headless()), Answerer)
    assert not isinstance(Guard(Headless()), Waits)
    assert not hasattr(Guard(Headless()), "completed")
    guard = Guard(Patient("defaults"))
    assert isinstance(guard, Waits)
    assert await guard.wait(Waiting([], 1, 3))
    assert modes_of(guard) == ("form",)
    assert hasattr(guard, "completed")


def travel() -> MCPServer:
    mcp = MCPServer("travel")
    midcall.install(mcp)

    @mcp.tool()
    async def book() -> str:
        return str(await ask_all(Question("How many days?", int), Question("How many nights?", int)))

    @mcp.tool()
    async def nag() -> str:
        for number in range(5):
            await ask(f"Really {number}?", bool)
        return "nagged"

    @mcp.tool()
    async def pay() -> str:
        await visit("Pay here", "https://pay.example.com/1")
        return "paid"

    return mcp


@pytest.mark.parametrize("era", ERAS)
async def test_a_guard_serves_real_clients_on_every_version(era: Any) -> None:
    events: list[Event] = []
    script = Script(lambda asked: 3 if "many" in asked.message else True)
    guard, told = guarded(script, rate=Rate(4, per=3600), audit=events.append)
    said: list[str] = []
    server = travel()
    for tool in ("book", "nag"):  # a new connection to the same server doesn't get a new rate
        async with connect(server, guard, era=era) as client:
            said.append(str((await client.call_tool(tool, {})).content))
    assert "(3, 3)" in said[0]
    assert "dismissed the question" in said[1]
    await guard.close()
    assert [event.outcome for event in events] == ["accept"] * 4 + ["rate"]
    assert {event.via for event in events} == {"round" if era == "2026-07-28" else "push"}
    assert len(told) == 1


@pytest.mark.parametrize("era", ERAS[1:])
async def test_a_host_that_is_not_allowed_is_not_visited(era: str) -> None:
    guard, told = guarded(Script({"Pay here": True}), hosts=["example.org"])
    assert "dismissed the question" in await result_of(travel(), guard, "pay", era)
    assert told == ["travel wanted to send you to pay.example.com, which is not allowed here: it was cancelled."]
