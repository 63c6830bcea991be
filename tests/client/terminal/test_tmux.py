"""What a person sees: a real program in a real terminal, asked by a real server."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from midcall.client.terminal.widgets.window import Window
from tests.client.lines.test_screen import environment

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux (apt-get install tmux)")

ROOT = Path(__file__).parents[3]
SECONDS = 20.0
QUICKEST = Window.quickest

PROGRAM = """
import asyncio, logging, sys
from typing import Literal
from mcp import Client
from mcp.client._memory import InMemoryTransport
from mcp.server import MCPServer
from pydantic import BaseModel, Field
import midcall
from midcall import Question, ask, ask_all, visit
from midcall.client import Terminal, callback
from midcall.client.transport.offer import Offer

mcp = MCPServer("hotel", title="Grand Hotel", version="2.0")
midcall.install(mcp)

class Guest(BaseModel):
    name: str = Field(title="Name", min_length=2)
    vip: bool = Field(title="VIP")
    room: Literal["single", "double"] = Field("double", title="Room")

@mcp.tool()
async def check_in() -> str:
    guest = await ask("Who stays with us?", Guest)
    return f"{guest.name}, {guest.vip}, {guest.room}"

@mcp.tool()
async def both() -> str:
    name, nights = await ask_all(Question("Your name?", str), Question("How many nights?", int))
    return f"{name}, {nights}"

@mcp.tool()
async def hurry() -> str:
    return await ask("Quick!", str, timeout=2)

@mcp.tool()
async def pay() -> str:
    await visit("Pay here.", "https://pay.example.com/1")
    return "paid"

async def noise() -> None:
    print("printed meanwhile")
    logging.warning("logged meanwhile")

async def main(tool: str, era: str) -> None:
    logging.basicConfig(format="%(message)s")
    modern = era == "2026-07-28"
    transport = Offer(InMemoryTransport(mcp), version=None if modern else era)
    answers = callback(Terminal(open_url=lambda url: print("opened", url) is None))
    async with Client(transport, mode="auto" if modern else "legacy", elicitation_callback=answers) as client:
        asyncio.get_running_loop().call_later(1.0, lambda: asyncio.ensure_future(noise()))
        result = await client.call_tool(tool, {})
    print("Result:", result.content[0].text)

print("The program begins.")
asyncio.run(main(*sys.argv[1:]))
print("It read:", input("Still a terminal? "))
"""


class Pane:
    """A program in its own tmux terminal."""

    def __init__(self, name: str, size: tuple[int, int] = (80, 24)) -> None:
        self._tmux = ["tmux", "-L", name, "-f", "/dev/null"]
        self._size = size

    def run(self, *command: str, env: dict[str, str]) -> None:
        columns, rows = map(str, self._size)
        shell = ["env", *(f"{key}={value}" for key, value in env.items()), *command]
        self._do("new-session", "-d", "-x", columns, "-y", rows, *shell, ";", "set", "-g", "remain-on-exit", "on")

    def press(self, *keys: str) -> None:
        self._do("send-keys", *keys)

    def type(self, text: str) -> None:
        self._do("send-keys", "-l", text)

    @property
    def screen(self) -> str:
        return self._do("capture-pane", "-p")

    def ask(self, what: str) -> str:
        return self._do("display-message", "-p", what).strip()

    def see(self, *texts: str) -> str:
        """Wait until all of this is on the screen."""
        until = time.monotonic() + SECONDS
        while not all(text in (screen := self.screen) for text in texts):
            assert time.monotonic() < until, f"no {texts} on the screen:\n{screen}"
            assert "Pane is dead" not in screen, screen
            time.sleep(0.05)  # tmux has no event for a changed screen
        return screen

    def agree(self, *texts: str) -> str:
        """Press Ctrl-S once the page has been visible long enough for consent to count, then wait for these texts."""
        time.sleep(2 * QUICKEST)
        self.press("C-s")
        return self.see(*texts)

    def end(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], capture_output=True, check=False)

    def _do(self, *command: str) -> str:
        return subprocess.run([*self._tmux, *command], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def pane(request: pytest.FixtureRequest) -> Iterator[Pane]:
    pane = Pane(f"midcall-{os.getpid()}-{abs(hash(request.node.nodeid))}")
    yield pane
    pane.end()


def start(pane: Pane, tmp_path: Path, tool: str, era: str, **env: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    settings = {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "PYTHONUTF8": "1", **env}
    inherited = {name: value for name, value in environment({}).items() if name in ("PATH", "HOME", "LANG", "LC_ALL")}
    pane.run(sys.executable, str(program), tool, era, env={**inherited, **settings})


def given_back(pane: Pane) -> str:
    """The terminal is as it was: what is typed is seen, and a line can be read."""
    pane.see("Still a terminal?")
    pane.type("yes it is")
    pane.press("Enter")
    screen = pane.see("It read: yes it is")
    assert "Still a terminal? yes it is" in screen
    assert pane.ask("#{cursor_flag} #{alternate_on} #{mouse_any_flag}") == "1 0 0"
    return screen


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
def test_a_form_is_filled_below_the_output_of_a_program_and_leaves_one_line(
    pane: Pane, tmp_path: Path, era: str
) -> None:
    start(pane, tmp_path, "check_in", era)
    screen = pane.see("The program begins.", "Grand Hotel asks", era, "Who stays with us?", "● double", "Send ^S")
    assert "meanwhile" not in screen
    pane.type("A")
    pane.agree("✗ must have at least 2 characters", "✗ is required", "2 answers are not valid yet.")
    pane.type("da")
    pane.press("Enter", "y", "C-s")  # in one burst
    screen = given_back(pane)
    lines = [line for line in screen.splitlines() if line]
    assert lines[0] == "The program begins."
    assert "✓ Grand Hotel: Sent." in lines
    assert "Result: Ada, True, double" in lines
    assert "Who stays with us?" not in screen


def test_what_is_printed_and_logged_meanwhile_neither_tears_the_form_nor_gets_lost(pane: Pane, tmp_path: Path) -> None:
    start(pane, tmp_path, "check_in", "2026-07-28")
    before = pane.see("Who stays with us?", "● double", "Send ^S")
    time.sleep(1.5)  # the program writes after one second
    assert pane.screen == before
    pane.press("C-d")
    screen = given_back(pane)
    assert screen.index("printed meanwhile") < screen.index("logged meanwhile") < screen.index("Grand Hotel: Declined.")


def test_ctrl_c_cancels_the_question_and_the_program_continues(pane: Pane, tmp_path: Path) -> None:
    start(pane, tmp_path, "check_in", "2026-07-28")
    pane.see("Who stays with us?")
    pane.press("C-c")
    screen = given_back(pane)
    assert "✗ Grand Hotel: Cancelled: nothing was sent." in screen
    assert "Result: The user dismissed the question" in screen


def test_questions_of_one_round_are_reviewed_together(pane: Pane, tmp_path: Path) -> None:
    start(pane, tmp_path, "both", "2026-07-28")
    pane.see("1 of 2", "Your name?")
    pane.type("Ada")
    pane.agree("2 of 2", "How many nights?")
    pane.type("3")
    pane.agree("Your answers to 2 questions", "Ada", "3", "Nothing has been sent yet")
    pane.agree("Result: Ada, 3")
    given_back(pane)


def test_a_question_that_the_server_takes_back_closes_its_form(pane: Pane, tmp_path: Path) -> None:
    start(pane, tmp_path, "hurry", "2025-11-25")
    pane.see("Quick!")
    screen = given_back(pane)
    assert "✗ Grand Hotel: The question was withdrawn." in screen
    assert "did not answer in time" in screen


def test_an_address_is_opened_only_after_consent(pane: Pane, tmp_path: Path) -> None:
    start(pane, tmp_path, "pay", "2026-07-28")
    screen = pane.see("Grand Hotel asks you to open a web page", "https://pay.example.com/1", "Open ^S")
    assert "opened https" not in screen
    pane.press("Enter", "Space")
    pane.agree("opened https://pay.example.com/1", "Result: paid")
    given_back(pane)


def test_a_dumb_terminal_gets_line_prompts(pane: Pane, tmp_path: Path) -> None:
    start(pane, tmp_path, "check_in", "2026-07-28", TERM="dumb")
    screen = pane.see("Grand Hotel asks", "Name", ">")
    assert "Send ^S" not in screen
    pane.press("C-c")
    pane.see("Cancelled: nothing was sent.", "Result:")
