"""What a server that we started writes to its standard error: it steers nothing, and disturbs no question."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from midcall.client import CannotConnect, connect
from tests.client.answerers import Answers
from tests.client.hostile_server import EVIL, MUTTERED
from tests.client.terminal.test_tmux import ROOT, SECONDS, Pane, given_back
from tests.client.terminal.test_tmux import pytestmark as needs_tmux
from tests.warm import PYTHON

SERVER = Path(__file__).parents[1] / "hostile_server.py"
STDIO = [*PYTHON, str(SERVER)]
ERAS = ["2025-11-25", "2026-07-28"]

PROGRAM = """
import asyncio, sys
from mcp import Client, StdioServerParameters
from midcall.client import Headless, Terminal, attach, connect
from contextlib import nullcontext
from midcall.client.lines.screen import TERMINAL

async def main(server, era, folder):
    async with connect([sys.executable, server], Terminal(), era=era) as client:
        result = await client.call_tool("mutters", {"folder": folder})
    print("Result:", result.content[0].text)

async def unseen(server, how):
    parameters = StdioServerParameters(command=sys.executable, args=[server])
    client = attach(Client(parameters), Headless()) if how == "attached" else connect(parameters, Headless())
    with nullcontext() if how == "idle" else TERMINAL.asking():
        async with client as client:
            await client.call_tool("mutters", {})

if len(sys.argv) == 3:
    asyncio.run(unseen(*sys.argv[1:]))
else:
    asyncio.run(main(*sys.argv[1:]))
    print("It read:", input("Still a terminal? "))
"""


@pytest.fixture
def pane(request: pytest.FixtureRequest) -> Iterator[Pane]:
    pane = Pane(f"midcall-log-{os.getpid()}-{abs(hash(request.node.nodeid))}", (100, 30))
    yield pane
    pane.end()


def start(pane: Pane, folder: Path, era: str, **env: str) -> None:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "LC_ALL") if name in os.environ}
    settings = {**kept, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "PYTHONUTF8": "1", **env}
    pane.run(sys.executable, "-c", PROGRAM, str(SERVER), era, str(folder), env=settings)


def let_it_mutter(folder: Path) -> None:
    """Have the server write while its question is open, and return when it has."""
    (folder / "begin").touch()
    until = time.monotonic() + SECONDS
    while not (folder / "over").exists():
        assert time.monotonic() < until, "the server does not get to write"
        time.sleep(0.01)


# --- on a terminal -----------------------------------------------------------------------------


@needs_tmux
@pytest.mark.parametrize("era", ERAS)
def test_lines_of_a_server_wait_until_its_form_is_gone(pane: Pane, tmp_path: Path, era: str) -> None:
    start(pane, tmp_path, era)
    form = pane.see("  │ muttered before redlink", "What do you hear?", "Send ^S")
    let_it_mutter(tmp_path)
    assert pane.screen == form
    pane.press("Escape")
    screen = given_back(pane)
    assert f"  │ muttered during {MUTTERED - 1} redlink" in screen
    assert screen.index(f"during {MUTTERED - 1}") < screen.index("muttered after") < screen.index("Result: ")
    assert "OWNED" not in pane.ask("#{pane_title}")


@needs_tmux
@pytest.mark.parametrize("era", ERAS)
def test_lines_of_a_server_wait_until_a_line_prompt_is_answered(pane: Pane, tmp_path: Path, era: str) -> None:
    start(pane, tmp_path, era, TERM="dumb")
    prompt = pane.see("│ muttered before redlink", "What do you hear?", "name", ">")
    let_it_mutter(tmp_path)
    assert pane.screen == prompt
    pane.type(":cancel")
    pane.press("Enter")
    screen = given_back(pane)
    assert screen.index(f"during {MUTTERED - 1}") < screen.index("muttered after") < screen.index("Result: ")


@needs_tmux
def test_of_very_many_lines_the_last_are_shown_and_the_others_counted(pane: Pane, tmp_path: Path) -> None:
    pane = Pane(f"midcall-log-{os.getpid()}-tall", (100, 300))
    try:
        start(pane, tmp_path, ERAS[0])
        pane.see("Send ^S")
        let_it_mutter(tmp_path)
        pane.press("Escape")
        screen = given_back(pane)
        assert f"… {2 * MUTTERED - 200:,} lines were left out." in screen  # its carriage return ends a line, too
        assert f"during {MUTTERED - 100} " in screen
        assert f"during {MUTTERED - 101} " not in screen
    finally:
        pane.end()


# --- where it goes otherwise -------------------------------------------------------------------


def unseen(how: str) -> str:
    """What a program has on its standard error, where that is a pipe."""
    done = subprocess.run(
        [*PYTHON, "-c", PROGRAM, str(SERVER), how],
        capture_output=True,
        timeout=SECONDS,
        cwd=ROOT,
        env={**os.environ, "PYTHONUTF8": "1"},
    )
    assert done.returncode == 0, done.stderr
    return done.stderr.decode("utf-8", "replace")


def test_into_a_pipe_it_goes_as_it_is() -> None:
    assert f"muttered before {EVIL}\n" in unseen("idle")


@pytest.mark.parametrize("how", ["connected", "attached"])
def test_while_a_form_leads_standard_error_aside_it_is_made_safe_nevertheless(how: str) -> None:
    heard = unseen(how)
    assert "  │ muttered before redlink\n" in heard
    assert "\x1b" not in heard


async def test_a_file_gets_it_as_it_is(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as file:
        async with connect(STDIO, Answers(), errlog=file) as client:
            await client.call_tool("mutters", {})
    assert f"muttered before {EVIL}\n".encode() in (tmp_path / "log").read_bytes()


async def test_a_function_gets_each_line_made_safe() -> None:
    lines: list[str] = []
    async with connect(STDIO, Answers(), errlog=lines.append) as client:
        await client.call_tool("mutters", {})
    assert "muttered before redlink" in lines
    assert not [char for line in lines for char in line if not char.isprintable()]


async def test_a_function_that_fails_stops_neither_the_server_nor_the_call(caplog: pytest.LogCaptureFixture) -> None:
    lines: list[str] = []

    def fail(line: str) -> None:
        lines.append(line)
        raise RuntimeError(line)

    async with connect(STDIO, Answers(), errlog=fail) as client:
        await client.call_tool("noise", {})
    [line] = [line for line in lines if "xxx" in line]
    assert len(line) <= 2_001  # of two hundred megabytes without an end of a line
    [record] = caplog.records
    assert record.getMessage().endswith("failed with RuntimeError; the server keeps running")


async def test_the_last_words_of_a_server_are_heard() -> None:
    lines: list[str] = []
    program = "import sys; sys.exit('no configuration')"
    with pytest.raises(CannotConnect, match="it ended, or closed the connection"):
        async with connect([sys.executable, "-c", program], Answers(), errlog=lines.append):
            pass
    assert lines == ["no configuration"]


async def test_a_line_of_a_log_stays_one_line_despite_other_line_separators() -> None:
    """On the terminal, only its first line would have the bar that says whose it is."""
    taken: list[str] = []
    mutter = "import sys; sys.stderr.buffer.write('a\u2028✓ Sent.\u2029b\\r\\nc\\rd\\n'.encode())"
    with pytest.raises(CannotConnect):
        async with connect([sys.executable, "-c", mutter], Answers(), errlog=taken.append):
            pass
    assert taken == ["a ✓ Sent. b", "c", "d"]
