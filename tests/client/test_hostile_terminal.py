"""Servers that mean harm, and a person at a terminal: nothing reaches it but text, and the user is in charge."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from math import inf
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import Screen, screen
from tests.client.hostile import (
    BASE,
    ERAS,
    FULL,
    MEGABYTES,
    PUSH,
    SECONDS,
    STDIO,
    WAYS,
    acting,
    answered,
    every_way,
    flood,
    is_too_large,
    proc,
    pty,
)
from tests.client.hostile_server import URLS
from tests.client.terminal.test_tmux import ROOT, Pane


def megabytes(pid: int) -> int:
    """The most memory that this process has had; 0 once it has ended."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) // 1024 if found else 0


class Person:
    """Someone who wants out: presses the same keys whenever nothing happens, or so many times."""

    def __init__(self, shown: Screen, keys: str = "\x03", times: float = inf) -> None:
        self._shown = shown
        self._keys = keys
        self._times = times
        self.most = 0

    def leaves(self) -> int:
        """The exit code."""
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            match self._shown.quiet(0.4):
                case True if self._times and "Answered: " not in self._shown.text:  # then it is about to end
                    self.most = max(self.most, megabytes(self._shown.pid))
                    self._shown.press(self._keys)
                    self._times -= 1
                case None:
                    return self._shown.exit_code()
                case _:
                    pass
        raise AssertionError(f"no way out:\n{self._shown.text[-3000:]}")


PLACES: dict[str, dict[str, Any]] = {
    "form": {"size": (100, 30), "TERM": "xterm-256color", "NO_COLOR": ""},
    "lines": {"NO_COLOR": "1"},
}

OFFERS = {"form": ["Cancel"], "lines": ["\n  > ", "] > "]}
"""What is shown once the user can answer."""

ATTACKS = {
    "long": "TTTT",
    "lines": "line",
    "choices": "value-3",
    "fields": "field-0",
    "controls": "desrever",
    "noise": "Noisy",
    "odd": "Odd: numbers",
}
ON_HTTP = ("long", "choices", "fields", "controls")
"""What comes in another way there."""


# --- at the command line -----------------------------------------------------------------------


@pty
@proc
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("attack", "over", "era"),
    [(attack, over, era) for over, era in WAYS for attack in ATTACKS if over == "stdio" or attack in ON_HTTP],
)
def test_at_a_terminal_the_user_sees_text_and_can_cancel(
    attack: str, over: str, place: str, era: str, hostile: str
) -> None:
    with screen("call", hostile, attack, "--era", era, **PLACES[place]) as shown:
        if is_too_large(attack, over, era):
            shown.sees("The server answered with an error")
            assert shown.exit_code() == 1
            return
        shown.sees(ATTACKS[attack])
        shown.sees(*OFFERS[place])
        person = Person(shown, times=inf if attack == "odd" else 1)
        assert person.leaves() in ((3, 130) if attack == "odd" else (3,))
        assert not acting(shown.text)
        assert person.most < BASE + MEGABYTES


@pty
@proc
@every_way
@pytest.mark.parametrize("place", PLACES)
def test_of_a_flood_of_questions_a_user_sees_a_few_and_can_leave(place: str, over: str, era: str, hostile: str) -> None:
    with screen(
        "call", hostile, "flood", f"count:={flood(over, era)}", "--era", era, warm=False, **PLACES[place]
    ) as shown:
        shown.sees("Question 0")
        person = Person(shown, "\x11\x03" if place == "form" else "\x03")  # cancel all, cancel
        assert person.leaves() in (3, 130, -2), shown.text[-1500:]  # -2 where Ctrl-C comes while it is about to end
        assert person.most < BASE + MEGABYTES
        assert len(re.findall(r"Question \d+", shown.text)) < 500


@pty
@proc
@every_way
def test_no_address_opens_automatically_and_none_can_act(over: str, era: str, hostile: str) -> None:
    with screen("call", hostile, "urls", "--era", era, **PLACES["lines"]) as shown:
        shown.sees("Hostile")
        assert Person(shown, ":cancel\n").leaves() == 3
        assert not acting(shown.text)
        assert sum(answered(shown.text).values()) == len(URLS)
        assert "Open this address in your browser?" in shown.text
        assert "javascript:" not in shown.text


@pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux (apt-get install tmux)")
@every_way
def test_a_real_terminal_is_left_as_it_was(over: str, era: str, hostile: str) -> None:
    pane = Pane(f"midcall-hostile-{os.getpid()}-{over}-{era}")
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "LC_ALL") if name in os.environ}
    command = f"{sys.executable} -m midcall call '{hostile}' controls --era {era}; echo code $?; read line"
    try:
        pane.run("sh", "-c", command, env={**kept, "PYTHONUTF8": "1", "PYTHONPATH": str(ROOT)})
        pane.see("Hostile", "Send ^S", "[bold red]markup[/]")
        assert "OWNED" not in pane.ask("#{pane_title}")
        pane.press("C-c")
        pane.see("code 3")
        assert pane.ask("#{cursor_flag} #{alternate_on} #{mouse_any_flag}") == "1 0 0"
        assert "OWNED" not in pane.ask("#{pane_title}")
    finally:
        pane.end()


# --- in a program that has a `Terminal()` without other limits ------------------------------------

PROGRAM = """
import asyncio, sys
from midcall.client import Guard, Terminal, connect

async def main(target, era, attack, count):
    unlimited = Guard(Terminal(), rate=None, most_waiting=None, most_waiting_in_all=None)  # the queue has to cope
    async with connect(target, unlimited, era=era) as client:
        result = await client.call_tool(attack, {"count": int(count)})
    print(result.content[0].text)

asyncio.run(main(*sys.argv[1:]))
"""
CANCEL_ALL = {
    "form": (["were cancelled without being shown: too many came at once.", "Cancel all"], "\x11"),
    "lines": ([":cancel all closes all", "> "], ":cancel all\n"),
}
"""What the user is offered, and their word."""
QUICK = 10.0
"""Seconds from the user's word until they have their terminal back, on a machine that is busy with more."""


@pty
@proc
@every_way
@pytest.mark.parametrize("place", PLACES)
def test_one_word_of_the_user_ends_a_flood_of_questions(place: str, over: str, era: str, hostile: str) -> None:
    count = flood(over, era)
    with screen(hostile, era, "flood", str(count), program=("-c", PROGRAM), **PLACES[place]) as shown:
        shown.sees("Question 0")
        offers, keys = CANCEL_ALL[place]
        if place == "lines" and era != "2026-07-28":  # they come one by one: all of them must be there
            offers = ["99 more questions are waiting. :cancel all closes all", "> "]
        for offer in offers:
            shown.sees(offer)
        said = time.monotonic()
        shown.press(keys)
        shown.sees("100 questions cancelled: nothing was sent.")
        assert time.monotonic() - said < QUICK
        most = megabytes(shown.pid)
        shown.sees("Answered: ")
        assert time.monotonic() - said < SECONDS
        most = max(most, megabytes(shown.pid))
        assert shown.exit_code() == 0
    assert answered(shown.text) == {"cancel": count}
    assert len(set(re.findall(r"Question \d+", shown.text))) == 1  # nothing more was shown
    assert 0 < most < BASE + MEGABYTES


@pty
@proc
@pytest.mark.parametrize("era", ERAS if FULL else [PUSH])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("attack", ["controls", "noise"])
def test_nothing_of_a_server_can_act_on_the_terminal_of_a_program(attack: str, place: str, era: str) -> None:
    """What it says to its standard error is of the server, too."""
    with screen(STDIO, era, attack, "0", program=("-c", PROGRAM), **PLACES[place]) as shown:
        shown.sees(ATTACKS[attack])
        shown.sees(*OFFERS[place])
        person = Person(shown, times=1)
        assert person.leaves() == 0
        assert not acting(shown.text)
        assert len(shown.text) < 1_000_000
        assert person.most < BASE + MEGABYTES


@pty
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("over", ["http"])
def test_what_the_sdk_logs_of_a_server_cannot_act_on_the_terminal_either(over: str, place: str, hostile: str) -> None:
    with screen(hostile, PUSH, "events", "0", program=("-c", PROGRAM), **PLACES[place]) as shown:
        shown.sees("Unknown SSE event: redlink")
        shown.sees("Strange")
        assert Person(shown, times=1).leaves() == 0
        assert not acting(shown.text)


# --- what was found on the way -----------------------------------------------------------------


@pty
def test_ctrl_c_again_and_again_leaves_the_program_and_not_one_more_question() -> None:
    with screen("call", STDIO, "flood", "--era", PUSH, warm=False, **PLACES["lines"]) as shown:
        for number in range(3):
            shown.sees(f"Question {number}")
            shown.sees("> ")
            shown.press("\x03")
        shown.sees("Cancelled.\n")
        assert shown.exit_code() in (130, -2)


@pty
def test_no_color_that_is_set_to_nothing_does_not_draw_black_on_black() -> None:
    with screen("call", STDIO, "slow", "--era", PUSH, warm=False, **PLACES["form"]) as shown:
        shown.sees("Slow")
        shown.sees("Decline")
        assert "48;5;16m" not in shown.text


@pty
def test_a_pattern_cannot_hang_the_form() -> None:
    with screen("call", STDIO, "slow", "--era", PUSH, **PLACES["form"]) as shown:
        shown.sees("Slow")
        shown.sees("Decline")
        shown.press("a" * 40 + "!")
        shown.sees("!")
        shown.press("\x03")
        assert shown.exit_code() == 3
