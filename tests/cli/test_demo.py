from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from midcall.cli import ERAS
from midcall.cli.games import GAMES

pty = pytest.importorskip("pty", reason="pseudo-terminals need a POSIX system")

SECONDS = 60
DEMO = [sys.executable, "-m", "midcall", "demo"]


def midcall(*args: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "midcall", *args],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=SECONDS,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **env},
    )


class Terminal:
    """A program in a terminal of its own."""

    def __init__(self, process: subprocess.Popen[bytes], fd: int) -> None:
        self._process = process
        self._fd = fd
        self.screen = ""
        self._seen = 0

    def sees(self, *texts: str) -> str:
        """Wait until one of these is shown, after what was waited for before."""
        until = time.monotonic() + SECONDS
        while True:
            found = [(at, text) for text in texts if (at := self.screen.find(text, self._seen)) >= 0]
            if found:
                at, text = min(found)
                self._seen = at + len(text)
                return text
            ready, _, _ = select.select([self._fd], [], [], max(0.0, until - time.monotonic()))
            if not ready or not self._read():
                raise AssertionError(f"{texts} were not shown:\n{self.screen[self._seen :]}")

    def type(self, *lines: str) -> None:
        """Answer one prompt after the other."""
        for line in lines:
            self.press(f"{line}\n")

    def press(self, key: str, prompt: str = "> ") -> None:
        self.sees(prompt)
        os.write(self._fd, key.encode())

    def exit_code(self) -> int:
        while self._read():
            pass
        return self._process.wait(SECONDS)

    def _read(self) -> bool:
        try:
            data = os.read(self._fd, 65536)
        except OSError:  # how Linux says that the other side is gone
            return False
        self.screen += data.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(data)


TAKES_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-m", "midcall", "demo", *sys.argv[1:]])
"""
"""Makes its terminal the one that Ctrl-C comes from."""


@contextmanager
def terminal(*args: str, **env: str) -> Iterator[Terminal]:
    here, there = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", TAKES_TERMINAL, *args],
        stdin=there,
        stdout=there,
        stderr=there,
        start_new_session=True,
        env={**os.environ, "TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "100", "PYTHONUTF8": "1", **env},
    )
    os.close(there)
    try:
        yield Terminal(process, here)
    finally:
        process.kill()
        process.wait(SECONDS)
        os.close(here)


# --- from a script ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def transcript() -> str:
    demo = midcall("demo")
    assert (demo.returncode, demo.stderr) == (0, "")
    return demo.stdout


@pytest.mark.parametrize("era", ERAS)
def test_without_a_terminal_the_demo_plays_everything_from_a_script(transcript: str, era: str) -> None:
    first, last = ("round 1", "round 4") if era == "2026-07-28" else ("push", "push")
    assert f"[{era} · {first}] Game corner asks: Do you want to play a game?  -> yes" in transcript
    assert f"[{era} · {last}] Fjord Travel asks: Book 4 days in Oslo for 582.00 euros?  -> yes" in transcript
    assert transcript.count("=> You found it with guess 3: it was 7.") == len(ERAS)
    assert transcript.count("=> The user declined to answer") == len(ERAS)
    assert "Every scene ended as it must." in transcript


def test_the_channel_is_never_another_than_the_version_has(transcript: str) -> None:
    shown = set(re.findall(r"^  \[(\S+) · (push|round) ?\d*\]", transcript, re.MULTILINE))
    assert shown == {("2025-06-18", "push"), ("2025-11-25", "push"), ("2026-07-28", "round")}


def test_effects_happen_once_however_often_the_tool_runs(transcript: str) -> None:
    assert "The tool ran once, with 5 questions pushed. The card was charged once." in transcript
    assert "The tool ran 5 times, in 4 rounds. The card was charged once." in transcript
    assert transcript.count("[2026-07-28 · round 1] Fjord Travel asks") == 2 + 2  # two forms a round, two scenes


def test_the_transcript_is_plain_text(transcript: str) -> None:
    assert not [char for char in transcript if char != "\n" and not char.isprintable()]
    assert max(map(len, transcript.splitlines())) <= 110


def test_one_game_on_one_version_can_be_picked() -> None:
    shown = midcall("demo", "guess", "--era", "2025-11-25", "--scripted").stdout
    assert "Game corner" in shown
    assert "Fjord Travel" not in shown
    assert "2026-07-28" not in shown


def test_a_terminal_that_knows_only_ascii_is_no_reason_to_fail() -> None:
    demo = midcall("demo", "guess", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert demo.returncode == 0
    assert "[2026-07-28 ? round 2]" in demo.stdout


def test_a_reader_that_goes_away_is_no_reason_to_fail() -> None:
    with subprocess.Popen(DEMO, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as demo:
        assert demo.stdout is not None
        assert demo.stderr is not None
        demo.stdout.readline()
        demo.stdout.close()
        assert demo.stderr.read() == b""
        assert demo.wait(SECONDS) == 0


# --- the command line ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args", [(), ("dmeo",), ("demo", "chess"), ("demo", "--era", "2024-11-05"), ("demo", "--fast")]
)
def test_bad_usage_is_told_in_a_line_and_exits_with_2(args: tuple[str, ...]) -> None:
    result = midcall(*args)
    assert result.returncode == 2
    assert result.stdout == ""
    assert re.search(r"^midcall.*: error: ", result.stderr.splitlines()[-1])


def test_help_is_there_at_once() -> None:
    program = (
        "import sys; from midcall.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "assert not {'mcp', 'pydantic', 'anyio', 'asyncio', 'starlette'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=SECONDS, stdout=subprocess.DEVNULL)


def test_the_games_of_the_command_line_are_those_that_there_are() -> None:
    from midcall import cli, testing

    assert tuple(game.name for game in GAMES) == cli.GAMES
    assert cli.ERAS == testing.ERAS


# --- at a terminal ---------------------------------------------------------------------------


def test_at_a_terminal_the_game_is_played_by_hand() -> None:
    with terminal() as demo:
        demo.sees("What do you want to play?")
        demo.type("7")
        demo.sees("✗ Type a number from 1 to 2.")
        demo.type("")
        demo.sees("On which protocol version?")
        demo.type("")
        demo.sees("╭─ Game corner asks  2026-07-28 · round 1")
        demo.type("YES", "")
        low, high, rounds = 1, 10, 1
        while rounds < 6:
            rounds += 1
            guess = (low + high) // 2
            demo.type("eleven")
            demo.sees("✗ Your guess must be a whole number.")
            demo.type(str(guess), "")
            match demo.sees("is too low", "is too high", "You found it"):  # shown with the next question
                case "is too low":
                    low = guess + 1
                case "is too high":
                    high = guess - 1
                case _:
                    break
        demo.sees(f"The tool ran {rounds + 1} times, in {rounds} rounds. The number was drawn once.")
        demo.sees("Once more?")
        demo.type("no")
        assert demo.exit_code() == 0
        assert f"╭─ Game corner asks  2026-07-28 · round {rounds}" in demo.screen
        assert "\x1b" not in demo.screen


@pytest.mark.parametrize("era", ERAS)
def test_a_trip_is_booked_by_hand_on_every_version(era: str) -> None:
    with terminal("trip", "--era", era) as demo:
        demo.sees(f"╭─ Fjord Travel asks  {era} · {'round 1' if era == '2026-07-28' else 'push'}")
        demo.type("Ada", "ada@example.com", "", "")
        demo.type("2026-08-01", "4", "120.50", "full board" if era == "2025-06-18" else "3", "bag, skis", "", "")
        demo.type("aisle", "2", "")
        demo.type("ins", "")
        demo.sees("Book 4 days in Oslo")
        demo.type("y", "")
        demo.sees("Booked for Ada: Oslo from 2026-08-01, 4 days, full board.")
        demo.sees("The card was charged once.")
        assert demo.exit_code() == 0


def test_declining_and_cancelling_end_the_tool_politely() -> None:
    with terminal("trip", "--era", "2025-11-25") as demo:
        demo.type(":decline")
        demo.sees("The user declined to answer")
        assert demo.exit_code() == 0
    with terminal("guess", "--era", "2026-07-28") as demo:
        demo.type("yes", "")
        demo.press("\x03")
        demo.sees("✗ Cancelled: nothing was sent.")
        demo.sees("You gave up.")
        assert demo.exit_code() == 0


@pytest.mark.parametrize("key", ["\x03", "\x04", "q\n"])
def test_the_menu_can_be_left(key: str) -> None:
    with terminal() as demo:
        demo.press(key)
        assert demo.exit_code() == 0
        assert "Traceback" not in demo.screen


def test_colours_are_for_terminals_that_want_them() -> None:
    with terminal("guess", "--era", "2025-06-18", NO_COLOR="") as demo:
        demo.sees("\x1b[1mConfirm\x1b[0m")
        demo.press(":cancel\n", prompt="\x1b[36m>\x1b[0m ")
        assert demo.exit_code() == 0


def test_scripted_plays_from_the_script_also_at_a_terminal() -> None:
    with terminal("guess", "--scripted") as demo:
        assert demo.exit_code() == 0
        assert "Every scene ended as it must." in demo.screen
