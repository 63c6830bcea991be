"""The audit trail itself: where events go, and that no call waits for a sink or fails because of one."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, get_args

import pytest

import midcall
from midcall import InstallError, ask, audit
from midcall.audit import Audit, Event, Name, OpenTelemetry
from midcall.portal.app import Portal
from midcall.server.call import Call
from midcall.server.installation import installation_on
from midcall.testing import ERAS, Era, connect
from tests.auditing import exported
from tests.kinds import bare_server, server_with
from tests.rounds import text
from tests.serving import environment

WITHIN = 20.0


async def book() -> str:
    return f"{await ask('How many days?', int)} days"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


# --- files ---------------------------------------------------------------------------------------


async def test_a_file_gets_a_line_of_json_for_each_event(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    trail = Audit(path)
    trail.write("secret.read", user="ada", call="c", question="", details=None, name="github")
    assert await trail.flush()
    [line] = lines(path)
    assert line.pop("time").endswith("+00:00")
    assert line == {"event": "secret.read", "user": "ada", "call": "c", "details": {"name": "github"}}


@pytest.mark.skipif(sys.platform == "win32", reason="modes are for POSIX systems")
async def test_only_its_owner_can_read_the_file_and_it_can_be_rotated(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    trail = Audit(str(path))
    for number in range(2):
        trail.write("code.used", user=str(number))
        assert await trail.flush()
        path.rename(tmp_path / f"old-{number}")
    assert [lines(tmp_path / f"old-{number}")[0]["user"] for number in range(2)] == ["0", "1"]
    assert stat.S_IMODE((tmp_path / "old-0").stat().st_mode) == 0o600


async def test_names_that_others_choose_stay_on_one_line_and_are_cut(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    trail = Audit(path)
    trail.write("code.used", client='evil\n{"event": "approval.granted"}\x1b[2J\u202e', tool="x" * 100_000)
    assert await trail.flush()
    [line] = lines(path)
    assert line["client"] == 'evil↵{"event": "approval.granted"}⟨U+001B⟩[2J⟨U+202E⟩'
    assert len(line["tool"]) < 1000


def in_a_process(script: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, env=environment(**variables), capture_output=True, text=True, timeout=60, check=True)


def test_a_process_that_ends_writes_what_is_left(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    in_a_process(
        "import sys\nfrom midcall.audit import Audit\ntrail = Audit(sys.argv[1])\n"
        "for n in range(2000): trail.write('code.used', user=str(n))",
        str(path),
    )
    assert [line["user"] for line in lines(path)] == [str(n) for n in range(2000)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only POSIX systems fork")
def test_a_forked_process_has_its_own_queue(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    in_a_process(
        "import os, sys\nfrom midcall.audit import Audit\ntrail = Audit(sys.argv[1])\n"
        "trail.write('code.used', user='parent')\n"
        "if os.fork() == 0:\n"
        "    trail.write('code.used', user='child')\n"
        "    sys.exit()\n"
        "os.wait()",
        str(path),
    )
    assert sorted(line["user"] for line in lines(path)) == ["child", "parent"]


@pytest.mark.parametrize("name", ["-", "stderr"])
def test_the_variable_can_name_standard_error(name: str) -> None:
    done = in_a_process(
        "import midcall\nfrom mcp.server import MCPServer\n"
        "installation = midcall.install(MCPServer('travel'))\ninstallation.audit.write('code.used', user='ada')",
        MIDCALL_AUDIT=name,
    )
    assert json.loads(done.stderr)["user"] == "ada"
    assert done.stdout == ""


# --- sinks that fail, or take their time -----------------------------------------------------------


async def call_with(target: Any) -> tuple[str, Audit]:
    """What a call returns with this sink, and its trail."""
    server = server_with(book, audit=target)
    async with asyncio.timeout(WITHIN), connect(server, {"How many days?": 3}) as client:
        result = text(await client.call_tool("book", {}))
    installation = installation_on(server)
    assert installation is not None
    assert installation.audit is not None
    return result, installation.audit


async def test_a_sink_that_fails_costs_no_call_and_what_it_missed_is_counted(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[Event] = []
    fails = [True]

    def sink(event: Event) -> None:
        if fails[0]:
            raise OSError("the disk is full")
        seen.append(event)

    result, trail = await call_with(sink)
    assert result == "3 days"
    assert not await trail.flush()
    assert trail.lost == 2
    fails[0] = False
    trail.write("code.used")
    assert await trail.flush()
    assert [(event.name, dict(event.details)) for event in seen] == [("audit.lost", {"count": 2}), ("code.used", {})]
    assert trail.lost == 0
    errors = [record.getMessage() for record in caplog.records if record.name == "midcall.audit"]
    assert errors == [
        "An audit sink does not take events (OSError). They are counted as lost until it does.",
        "2 audit events were lost. The sink works again, and the trail reports the loss.",
    ]


async def test_a_sink_that_hangs_delays_no_call_and_what_does_not_fit_is_counted(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(audit, "MAX_AUDIT_EVENTS", 5)
    monkeypatch.setattr(audit, "AUDIT_CLOSE_SECONDS", 0.01)
    goes_on, came = threading.Event(), threading.Event()
    seen: list[Name] = []

    def sink(event: Event) -> None:
        came.set()
        assert goes_on.wait(WITHIN)
        seen.append(event.name)

    result, trail = await call_with(sink)
    assert result == "3 days"
    assert await asyncio.to_thread(came.wait, WITHIN)
    assert not await trail.flush(), "it does not wait for ever"
    for _ in range(10):
        trail.write("code.used")
    assert trail.lost >= 5
    lost = trail.lost
    monkeypatch.setattr(audit, "AUDIT_CLOSE_SECONDS", WITHIN)
    goes_on.set()
    await trail.flush()
    trail.write("code.issued")
    assert await trail.flush()
    assert seen.count("audit.lost") == 1
    assert len(seen) - 1 + lost == 2 + 10 + 1
    assert f"{lost} audit events were lost" in caplog.text


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="only POSIX systems have named pipes")
async def test_a_file_that_blocks_delays_no_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe that nobody reads blocks its writers."""
    monkeypatch.setattr(audit, "AUDIT_CLOSE_SECONDS", 0.01)
    path = tmp_path / "pipe"
    os.mkfifo(path)
    result, trail = await call_with(path)
    assert result == "3 days"
    assert not await trail.flush()
    monkeypatch.setattr(audit, "AUDIT_CLOSE_SECONDS", WITHIN)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert await trail.flush()
        assert os.read(reader, 100_000).count(b"\n") == 2
    finally:
        os.close(reader)


async def test_an_async_sink_runs_in_the_loop_that_serves() -> None:
    loops: list[asyncio.AbstractEventLoop] = []

    async def sink(event: Event) -> None:
        await asyncio.sleep(0)
        loops.append(asyncio.get_running_loop())

    result, trail = await call_with(sink)
    assert result == "3 days"
    assert await trail.flush()
    assert loops == [asyncio.get_running_loop()] * 2


def test_an_async_sink_still_works_when_its_loop_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "AUDIT_POLL_SECONDS", 0.01)
    seen: list[str] = []

    async def sink(event: Event) -> None:
        if event.user == "hangs":
            seen.append("hangs")
            await asyncio.Event().wait()
        seen.append(event.user or event.name)

    trail = Audit(sink)

    async def serve() -> None:
        trail.write("code.used", user="hangs")
        async with asyncio.timeout(WITHIN):
            while not seen:
                await asyncio.sleep(0.001)

    asyncio.run(serve())
    trail.write("code.used", user="later")
    asyncio.run(trail.flush())
    assert seen == ["hangs", "audit.lost", "later"]


async def test_several_sinks_get_every_event_even_if_one_fails(tmp_path: Path) -> None:
    seen: list[Event] = []
    path = tmp_path / "audit.jsonl"
    _, trail = await call_with([lambda event: 1 / 0, path, seen.append])
    await trail.flush()
    names = ["question.asked", "question.answered"]
    assert [event.name for event in seen] == names
    assert [line["event"] for line in lines(path)] == names


# --- OpenTelemetry ---------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
async def test_events_are_on_the_spans_of_their_requests(era: Era) -> None:
    exporter = exported()
    server = server_with(book, audit=OpenTelemetry())
    async with connect(server, {"How many days?": 3}, era=era) as client:
        await client.call_tool("book", {})
    events = [each for span in exporter.get_finished_spans() for each in span.events]
    ours = [each for each in events if each.name in ("midcall.question.asked", "midcall.question.answered")]
    assert sorted(each.name for each in ours) == ["midcall.question.answered", "midcall.question.asked"]
    assert len({(each.attributes or {})["midcall.call"] for each in ours}) == 1
    assert {(each.attributes or {})["midcall.via"] for each in ours} == {"round" if era == "2026-07-28" else "push"}


def test_without_a_span_an_event_is_a_span() -> None:
    exporter = exported()
    Audit(OpenTelemetry()).write("page.refused", outcome="wrong_user", count=3)
    [span] = exporter.get_finished_spans()
    assert span.name == "midcall.page.refused"
    assert dict(span.attributes or {}) == {"midcall.outcome": "wrong_user", "midcall.count": 3}


# --- settings --------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [3, True, Audit, object()])
def test_a_target_that_is_neither_file_nor_function_is_refused(wrong: Any) -> None:
    with pytest.raises(InstallError, match="audit= takes a file, a function"):
        midcall.install(bare_server("mcpserver"), audit=wrong)


def test_an_audit_without_targets_is_refused() -> None:
    with pytest.raises(InstallError, match="needs a target"):
        midcall.install(bare_server("mcpserver"), audit=[])


def test_server_and_portal_share_one_trail() -> None:
    trail = Audit(print)
    for where in ({"audit": trail, "portal": Portal()}, {"portal": Portal(audit=trail)}):
        installation = midcall.install(bare_server("mcpserver"), store="memory://", **where)
        assert installation.audit is trail
        assert installation.portal is not None
        assert installation.portal.audit is trail
    with pytest.raises(InstallError, match="not to both"):
        midcall.install(bare_server("mcpserver"), audit=trail, portal=Portal(audit=print))


@pytest.mark.parametrize(
    ("variable", "value"), [("STORE", "nonsense://"), ("LIVE", "perhaps"), ("REQUIRED", "perhaps")]
)
def test_a_portal_has_no_trail_of_a_server_that_could_not_be_installed(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    trail, portal = Audit(print), Portal()
    monkeypatch.setenv(f"MIDCALL_{variable}", value)
    with pytest.raises(midcall.MidcallError):
        midcall.install(bare_server("mcpserver"), audit=trail, portal=portal)
    monkeypatch.delenv(f"MIDCALL_{variable}")
    assert midcall.install(bare_server("mcpserver"), store="memory://", audit=trail, portal=portal).audit is trail


def test_the_variable_counts_only_if_the_code_says_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert midcall.install(bare_server("mcpserver")).audit is None
    monkeypatch.setenv("MIDCALL_AUDIT", str(tmp_path / "x"))
    assert midcall.install(bare_server("mcpserver")).audit is not None
    trail = Audit(print)
    assert midcall.install(bare_server("mcpserver"), audit=trail).audit is trail


@pytest.mark.parametrize("era", ERAS)
async def test_without_an_audit_trail_a_question_costs_one_look(era: Era, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise AssertionError("the path of a question came here")

    for where, name in ((Call, "audit"), (Call, "_observe"), (audit, "_make"), (Audit, "write")):
        monkeypatch.setattr(where, name, fail)
    async with connect(server_with(book), {"How many days?": 3}, era=era) as client:
        assert text(await client.call_tool("book", {})) == "3 days"


def test_the_docs_list_every_event() -> None:
    page = (Path(__file__).parents[1] / "docs" / "audit.md").read_text()
    listed = re.findall(r"^\| `([a-z]+\.[a-z]+)` \|", page, re.MULTILINE)
    assert sorted(listed) == sorted(get_args(Name))


def test_the_log_of_a_broken_fact_names_the_event(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(str):
        def __getitem__(self, _: Any) -> Any:
            raise ValueError("broken")

    with caplog.at_level(logging.ERROR, "midcall.audit"):
        Audit(print).write("code.used", user=Broken("x"))
    assert "Could not make the audit event code.used" in caplog.text
