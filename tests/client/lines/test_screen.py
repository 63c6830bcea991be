"""The terminal: whether a question is asked by a form, line by line, or not at all, and where other output goes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from midcall.errors import Misuse
from tests.cli.shell import screen

pty = pytest.importorskip("pty", reason="needs pseudo-terminals, which this system has none of")

SECONDS = 30.0
LOOK = (
    "import sys; from midcall.client.lines.screen import find_display; "
    "print(find_display(), file=open(sys.argv[1], 'w'))"
)
CAPABLE = {"TERM": "xterm-256color"}


def environment(env: dict[str, str]) -> dict[str, str]:
    plain = {"NO_COLOR", "MIDCALL_PLAIN", "ACCESSIBLE", "TERM", "COLUMNS", "LINES"}
    return {**{name: value for name, value in os.environ.items() if name not in plain}, **env}


def at_terminal(
    code: str, *arguments: str, env: dict[str, str] = CAPABLE, size: tuple[int, int] = (80, 24), **streams: int
) -> str:
    """Run this with a pseudo-terminal for what is not redirected, and return what the terminal got."""
    import fcntl
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    given = {"stdin": theirs, "stdout": theirs, "stderr": theirs, **streams}
    process = subprocess.Popen([sys.executable, "-c", code, *arguments], env=environment(env), **given)
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 65536):
            shown += chunk
    except OSError:  # the other side is closed
        pass
    assert process.wait(SECONDS) == 0, shown.decode()
    os.close(ours)
    return shown.decode().replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("env", "size", "streams", "expected"),
    [
        (CAPABLE, (80, 24), {}, "form"),
        (CAPABLE, (40, 12), {}, "form"),
        (CAPABLE, (80, 24), {"stdout": subprocess.DEVNULL}, "form"),
        (CAPABLE, (39, 24), {}, "lines"),
        (CAPABLE, (80, 11), {}, "lines"),
        ({"TERM": "dumb"}, (80, 24), {}, "lines"),
        ({}, (80, 24), {}, "lines"),
        ({**CAPABLE, "NO_COLOR": "1"}, (80, 24), {}, "lines"),
        ({**CAPABLE, "MIDCALL_PLAIN": "1"}, (80, 24), {}, "lines"),
        ({**CAPABLE, "ACCESSIBLE": "1"}, (80, 24), {}, "lines"),
        ({**CAPABLE, "ACCESSIBLE": "0"}, (80, 24), {}, "form"),
        (CAPABLE, (80, 24), {"stderr": subprocess.DEVNULL}, "lines"),
        (CAPABLE, (80, 24), {"stdin": subprocess.DEVNULL}, "nowhere"),
        (CAPABLE, (80, 24), {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}, "nowhere"),
    ],
)
def test_forms_are_for_terminals_that_can_show_them(
    tmp_path: Path, env: dict[str, str], size: tuple[int, int], streams: dict[str, int], expected: str
) -> None:
    at_terminal(LOOK, str(tmp_path / "place"), env=env, size=size, **streams)
    assert (tmp_path / "place").read_text().strip() == expected


WRITE_MEANWHILE = """
import logging, os, subprocess, sys
from midcall.client.terminal.output import aside
logging.basicConfig(format="%(message)s")
print("before")
with aside():
    print("printed")
    logging.error("logged")
    os.system("echo by a child")
    late = subprocess.Popen([sys.executable, "-c", "input(); print('a child that lived on')"], stdin=subprocess.PIPE)
    sys.__stderr__.write("<form>")
    sys.__stderr__.flush()
print("after")
late.communicate(b"\\n")
"""


def test_what_the_program_writes_while_a_form_is_shown_comes_after_it_and_in_order() -> None:
    shown = at_terminal(WRITE_MEANWHILE)
    assert shown == "before\n<form>printed\nlogged\nby a child\nafter\na child that lived on\n"


WRITE_VERY_MUCH = """
from midcall.client.terminal.output import aside
with aside():
    for number in range(500_000):
        print(f"line {number:>20}")
"""


def test_of_very_much_that_is_written_meanwhile_the_last_is_kept_and_the_rest_counted() -> None:
    first, *lines = at_terminal(WRITE_VERY_MUCH).splitlines()
    assert re.fullmatch(r"… [0-9,]+ bytes of earlier output were left out\.", first)
    assert lines[-1] == f"line {499_999:>20}"
    assert 7 * 2**20 < sum(len(line) + 1 for line in lines) <= 8 * 2**20


def test_what_goes_into_a_pipe_is_not_kept_back(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w") as out:
        shown = at_terminal(WRITE_MEANWHILE, stdout=out.fileno())
    assert shown == "<form>logged\n"
    assert "before\nprinted\n" in (tmp_path / "out").read_text().replace("by a child\n", "")


def test_textual_is_loaded_with_the_first_form_only() -> None:
    code = "import sys; from midcall.client import Terminal; Terminal(); print('textual' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=SECONDS)
    assert found.stdout.strip() == "False"


def test_without_textual_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from midcall.client.terminal import Terminal

    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(Misuse, match=r'pip install "midcall\[terminal\]"'):
        Terminal()


VISITS = """
import asyncio, sys
from midcall.client import Asked, Terminal, VisitQuestion
terminal = Terminal(open_url=lambda url: print("opened", url) is None, most_waiting=1)
visits = [Asked(VisitQuestion("Go there", f"https://example.com/{number}"), str(number)) for number in range(2)]
async def main():
    return await asyncio.gather(*map(terminal.answer, visits))
print(*(type(each).__name__ for each in asyncio.run(main())))
"""


def test_line_prompts_of_a_terminal_are_set_up_as_it_is() -> None:
    with screen(program=("-c", VISITS), NO_COLOR="1") as shown:
        shown.press("yes\n", prompt="> ")
        shown.sees("opened https://example.com/0")
        shown.sees("1 more question was cancelled without being shown")
        shown.sees("Accepted Cancelled")
        assert shown.exit_code() == 0
