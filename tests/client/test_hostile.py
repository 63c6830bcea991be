"""Servers that mean harm, and programs that answer: nothing hangs, nothing breaks, and memory is bounded."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from midcall.client import Asked, FormQuestion, Pending, Terminal, attach, callback, fastmcp_handler
from midcall.client.connection.callback import outcome_of
from tests.cli.shell import here, midcall, screen
from tests.client.answerers import Answers
from tests.client.hostile import (
    COUNTS,
    FULL,
    MEGABYTES,
    OVER,
    POSTED,
    PUSH,
    SECONDS,
    SERVER,
    STDIO,
    acting,
    answered,
    every_way,
    flood,
    is_too_large,
    pty,
)
from tests.client.hostile_server import EVIL, FLOOD
from tests.client.terminal.test_tmux import ROOT
from tests.serving import serving

PROGRAM = """
import asyncio, json, resource, sys, time
from mcp import MCPError
from midcall import Declined
from midcall.client import Guard, Headless, Pending, Script, connect

class Reader(Pending):
    async def read(self):
        async for asked in self:
            json.dumps(asked.as_data())
            self.decline(asked.id)

def megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)

async def meet(kind, target, era, attacks, before):
    answerer = {
        "script": lambda: Script({"Something else?": 1, "name": 2}, default=Declined()),
        "headless": lambda: Headless("cancel"),
        "defaults": lambda: Headless("defaults"),
        "guard": lambda: Guard(Script(lambda asked: Declined())),
        "pending": Reader,
    }[kind]()
    reading = asyncio.create_task(answerer.read()) if kind == "pending" else None
    async with connect(target, answerer, era=era) as client:
        before = before or megabytes()
        for attack in attacks:
            began = time.monotonic()
            name, *given = attack.split(":")
            try:
                result = await client.call_tool(name, {"count": int(given[0])} if given else {})
                said = result.content[0].text
            except MCPError as error:
                said = f"error {error.code}"
            print(json.dumps([kind, name, said, time.monotonic() - began, megabytes() - before]), flush=True)
    return before

before = 0
for kind in sys.argv[1].split():
    before = asyncio.run(meet(kind, *sys.argv[2:4], sys.argv[4:], before))
"""

resource = pytest.mark.skipif(sys.platform == "win32", reason="needs resource")


def run(kind: str, target: str, era: str, *attacks: str, seconds: float = SECONDS) -> dict[str, str]:
    """Return the result of each attack, after checking time and memory."""
    return run_all([kind], target, era, *attacks, seconds=seconds)[kind]


def run_all(
    kinds: list[str], target: str, era: str, *attacks: str, seconds: float = SECONDS
) -> dict[str, dict[str, str]]:
    """The same for one kind after the other, in one process, each within its time. What it may grow by is for all."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, " ".join(kinds), target, era, *attacks],
        capture_output=True,
        text=True,
        timeout=seconds * len(kinds),
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Traceback" not in done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(grown < MEGABYTES for *_, grown in found), found
    assert all(sum(took for each, _, _, took, _ in found if each == kind) < seconds for kind in kinds), found
    return {kind: {name: said for each, name, said, *_ in found if each == kind} for kind in kinds}


PROGRAMS = ["script", "headless", "defaults", "guard", "pending"]


@pytest.fixture(scope="module")
def attacked() -> Callable[[str, str], dict[str, dict[str, str]]]:
    """What all attacks came to, for each kind of program, at this target on this version."""
    return cache(lambda target, era: run_all(PROGRAMS, target, era, *COUNTS))


@resource
@every_way
@pytest.mark.parametrize("kind", PROGRAMS)
def test_a_program_that_answers_comes_through_every_attack(
    kind: str, over: str, era: str, hostile: str, attacked: Callable[[str, str], dict[str, dict[str, str]]]
) -> None:
    came = attacked(hostile, era)[kind]
    for attack, count in COUNTS.items():
        if is_too_large(attack, over, era):
            assert came[attack] == "error -32000"
        else:
            assert sum(answered(came[attack]).values()) == count, (attack, came[attack])


FLOODED = [("guard", None), ("pending", None), ("script", "accept"), ("headless", "cancel")]
"""`make test` leaves the last two out: there, a script meets as many that are malformed, and Headless those posted."""


@resource
@every_way
@pytest.mark.parametrize(("kind", "how"), FLOODED if FULL else FLOODED[:2])
def test_a_flood_of_questions_is_answered_to_the_last(
    kind: str, how: str | None, over: str, era: str, hostile: str
) -> None:
    count = flood(over, era)
    came = answered(run(kind, hostile, era, f"flood:{count}")["flood"])
    assert sum(came.values()) == count
    if how is not None:
        assert came == {how: count}
    if kind == "guard":
        assert came["decline"] < 30 + SECONDS  # a person would have seen no more


@resource
@pytest.mark.timeout(300)
@pytest.mark.parametrize("count", [FLOOD if FULL else POSTED])
def test_a_flood_of_questions_pushed_over_http_takes_its_time_and_no_more_memory(count: int, hostile_url: str) -> None:
    came = answered(run("headless", hostile_url, PUSH, f"flood:{count}", seconds=280)["flood"])
    assert came == {"cancel": count}


@resource
@every_way
def test_a_flood_of_malformed_questions_is_refused(over: str, era: str, hostile: str) -> None:
    count = flood(over, era)
    came = answered(run("script", hostile, era, f"malformed:{count}")["malformed"])
    assert came == ({"error -32602": count} if era == PUSH else {"cancel": count})


# --- at the command line, without a terminal ---------------------------------------------------


@every_way
@pytest.mark.parametrize("attack", ["controls", "urls", "odd", "noise", "fields", "choices"])
def test_without_a_terminal_every_attack_ends_with_3(attack: str, over: str, era: str, hostile: str) -> None:
    done = here("call", hostile, attack, "--era", era)
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert not acting(done.stderr)


@every_way
def test_a_message_of_five_megabytes_ends_the_call_and_not_more(over: str, era: str, hostile: str) -> None:
    done = here("call", hostile, "long", "--era", era)
    assert done.returncode == (1 if is_too_large("long", over, era) else 3)
    assert len(done.stderr) < 1_000


@every_way
def test_endless_garbage_is_reported_a_few_times_and_ends_with_3(over: str, era: str, hostile: str) -> None:
    count = flood(over, era)
    done = midcall("call", hostile, "malformed", f"count:={count}", "--era", era)
    assert sum(answered(done.stdout).values()) == count
    assert 1 <= len(done.stderr.splitlines()) <= 10
    assert "asked something that cannot be shown: the question is malformed (" in done.stderr
    assert done.returncode == 3  # nobody could be asked


@pty
@pytest.mark.parametrize("over", OVER)
def test_a_server_that_dies_is_distinguished_from_a_user_who_declines(over: str, tmp_path: Path) -> None:
    with serving(SERVER, tmp_path / "log") as url:
        target = STDIO if over == "stdio" else url
        with screen("call", target, "die", "--era", PUSH, NO_COLOR="1") as shown:
            shown.sees("The server is gone")
            assert shown.exit_code() == 1


@pytest.mark.parametrize("over", OVER)
def test_tools_of_a_hostile_server_are_listed_as_text(over: str, hostile: str) -> None:
    done = here("tools", hostile)
    assert (done.returncode, done.stderr) == (0, "")
    assert "controls" in done.stdout
    assert len(done.stdout) < 20_000
    assert not acting(done.stdout)


# --- what was found on the way -----------------------------------------------------------------


@pytest.mark.parametrize("give", [callback, fastmcp_handler, lambda answerer: attach(Client(STDIO), answerer)])
def test_an_answerer_that_cannot_answer_is_refused_before_any_question(give: Any) -> None:
    with pytest.raises(TypeError, match=re.escape("write Terminal() instead of Terminal")):
        give(Terminal)
    with pytest.raises(TypeError, match="needs a method answer"):
        give(object())


async def test_the_log_holds_no_escapes_of_a_servers_name(caplog: pytest.LogCaptureFixture) -> None:
    asked = Asked(FormQuestion("?", None), "1", f"evil{EVIL}")
    pending = Pending()
    pending.limit = 0

    async def fail(asked: Asked) -> None:
        raise RuntimeError

    async def never(asked: Asked) -> None:
        await asyncio.Event().wait()

    await outcome_of(Answers(fail), asked)
    await outcome_of(Answers(never), asked, timeout=0.01)
    await pending.answer(asked)
    assert len(caplog.records) == 3
    assert not acting(caplog.text)


def test_the_audit_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    here("call", STDIO, "nothing", "--audit", str(tmp_path / "audit"))
    assert (tmp_path / "audit").stat().st_mode & 0o077 == 0 or sys.platform == "win32"
