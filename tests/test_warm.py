"""Programs forked from a warm process behave as if started from scratch (`tests/warm.py`)."""

from __future__ import annotations

import marshal
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import midcall
from tests.warm import CAN_BE, HOME, PYTHON, SECONDS, Forked, begin, started

TELLS = """
import os, sys
print(__name__, sys.modules["__main__"].__dict__ is globals(), globals().get("__file__"), sys.argv, sys.path[:2])
print(os.getcwd(), os.environ["TOLD"], sys.stdin.read(), sys.stdout.encoding, sys.stdout.isatty())
print("heard", file=sys.stderr)
sys.exit(7)
"""
WAITS = """
import os, time
print(os.getpid(), flush=True)
while True:  # again and again: a signal between two steps of Python ends no sleep that comes after it
    time.sleep(0.05)
"""


@pytest.mark.parametrize("how", ["script", "-m", "-c"])
def test_a_program_runs_as_under_python_and_keeps_its_exit_code(how: str, tmp_path: Path) -> None:
    script = tmp_path / "tells.py"
    script.write_text(TELLS)
    command = {"script": [str(script)], "-m": ["-m", "tells"], "-c": ["-c", TELLS]}[how]

    def run(python: list[str]) -> tuple[int, bytes, bytes]:
        env = {**os.environ, "TOLD": "so", "PYTHONPATH": "/nowhere", "PYTHONUTF8": "1"}
        done = subprocess.run([*python, *command, "a b"], capture_output=True, input=b"read", cwd=tmp_path, env=env)
        return done.returncode, done.stdout, done.stderr

    assert run(PYTHON) == run([sys.executable])
    assert run(PYTHON)[0] == 7


def test_a_program_has_the_midcall_that_the_tests_have() -> None:
    told = subprocess.run([*PYTHON, "-c", "import midcall; print(midcall.__file__)"], capture_output=True, text=True)
    assert told.stdout.strip() == midcall.__file__


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.skipif(not CAN_BE, reason="programs start from nothing here")
def test_a_signal_reaches_the_program_and_its_end_is_reported(number: signal.Signals) -> None:
    with subprocess.Popen([*PYTHON, "-c", WAITS], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as program:
        assert program.stdout is not None
        program.stdout.readline()
        program.send_signal(number)
        assert program.wait(SECONDS) == -number


@pytest.mark.skipif(not CAN_BE, reason="programs start from nothing here")
def test_an_early_signal_reaches_the_program() -> None:
    begin()
    told = marshal.dumps((["-c", WAITS], dict(os.environ), str(Path.cwd())))
    with Path(os.devnull).open("r+b") as nothing, socket.socket(socket.AF_UNIX) as door:
        door.connect(str(HOME / "door"))
        said = len(told).to_bytes(4, "big") + told + bytes([signal.SIGINT])
        socket.send_fds(door, [said], [nothing.fileno()] * 3)
        program = Forked(door)
    assert program.wait(SECONDS) == -signal.SIGINT


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_killing_a_process_leaves_no_program_behind() -> None:
    with subprocess.Popen([*PYTHON, "-c", WAITS], stdout=subprocess.PIPE) as starter:
        assert starter.stdout is not None
        pid = int(starter.stdout.readline())
        starter.kill()
    until = time.monotonic() + SECONDS
    while is_there(pid):
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.skipif(not CAN_BE, reason="programs start from nothing here")
def test_a_killed_program_has_ended_when_that_is_reported(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as out:
        program: Any = started(["-c", WAITS], stdout=out, stderr=out, env=os.environ)
        assert program.poll() is None
        program.kill()
        assert program.wait(SECONDS) == program.poll() == -signal.SIGKILL
    assert not is_there(program.pid)
