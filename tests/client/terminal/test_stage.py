"""A terminal that is closed while a question is open."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.cli.shell import TAKES_TERMINAL
from tests.client.hostile import STDIO

fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")

SHOWN = {"form": b"Decline", "lines": b"> "}


@contextmanager
def asking(place: str, *, told: bool, output: bool) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A program that shows a question, and our end of its terminal. It is told of its end if it is its own."""
    ours, its = os.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    program = subprocess.Popen(
        [
            *((sys.executable, "-c", TAKES_TERMINAL) if told else (sys.executable,)),
            *("-m", "midcall", "call", STDIO, "slow"),
        ],
        stdin=its,
        stdout=its if output else subprocess.PIPE,
        stderr=its,
        start_new_session=True,
        env={**os.environ, "TERM": "xterm-256color" if place == "form" else "dumb"},
    )
    os.close(its)
    seen = b""
    try:
        while SHOWN[place] not in seen:
            seen += os.read(ours, 65536)
        yield program, ours
    finally:
        program.kill()
        program.communicate()


@pytest.mark.parametrize("output", [False, True], ids=["piped", "shown"])
@pytest.mark.parametrize("told", [False, True], ids=["untold", "signal"])
@pytest.mark.parametrize("place", SHOWN)
def test_when_the_terminal_is_gone_the_question_is_cancelled_and_the_exit_code_shows_it(
    place: str, told: bool, output: bool
) -> None:
    with asking(place, told=told, output=output) as (program, terminal):
        os.close(terminal)
        assert program.wait(timeout=30) == 3
        if not output:
            assert program.stdout is not None
            assert program.stdout.read() == b"Answered: cancel 1\n"  # the server heard of it


def test_a_signal_sent_by_hand_ends_the_program() -> None:
    with asking("lines", told=True, output=False) as (program, terminal):
        program.send_signal(signal.SIGHUP)
        assert program.wait(timeout=30) == -signal.SIGHUP
        os.close(terminal)
