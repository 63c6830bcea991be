"""Run Python programs in separate processes that already have their imports.

Importing the SDK takes longer than most tests. So one process does it (`warm_server.py`), and forks another for each
program. Tests about what a program loads, or about its interpreter's options, start `sys.executable` instead.
"""

from __future__ import annotations

import atexit
import marshal
import os
import secrets
import select
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Final

import midcall

SECONDS: Final = 60
CAN_BE: Final = sys.platform == "linux"
HOME: Final = Path(tempfile.gettempdir()) / f"midcall-warm-{os.getpid()}-{secrets.token_hex(4)}"
SERVER: Final = Path(__file__).with_name("warm_server.py")
STARTER: Final = Path(__file__).with_name("warm_python.py")

PYTHON: Final = [sys.executable, *(["-IS", str(STARTER), str(HOME / "door")] if CAN_BE else [])]
"""A command that starts such a program: for stdio, where the client starts its server."""


def command_of(script: Path) -> str:
    """The same as one line."""
    return shlex.join([*PYTHON, str(script)])


def on_path(home: Path) -> Path:
    """A directory for PATH, in which `python` and `midcall` are such programs."""
    home.mkdir()
    for name, more in {"python": [], "midcall": ["-m", "midcall"]}.items():
        (home / name).write_text(f'#!/bin/sh\nexec {shlex.join([*PYTHON, *more])} "$@"\n')
        (home / name).chmod(0o700)
    return home


@cache
def begin() -> None:
    """Start importing what programs need. It ends with this process."""
    if not CAN_BE:
        return
    HOME.mkdir(mode=0o700)
    ours, its = socket.socketpair()
    with its, socket.socket(socket.AF_UNIX) as door:
        door.bind(str(HOME / "door"))
        door.listen(100)
        fds = [its.fileno(), door.fileno()]
        env = {name: value for name, value in os.environ.items() if name != "PYTHONDEVMODE"}
        env["PYTHONPATH"] = str(Path(midcall.__file__).parents[1])  # of this checkout, even if another is installed
        process = subprocess.Popen([sys.executable, str(SERVER), *map(str, fds)], pass_fds=fds, env=env)

    @atexit.register
    def end() -> None:
        ours.close()
        process.wait(SECONDS)


class Forked:
    """A program whose exit code only its guard knows. Otherwise it works like a `Popen`."""

    def __init__(self, door: socket.socket) -> None:
        self._said = door.makefile("rb", buffering=0)  # unbuffered, because `select` doesn't see buffers
        door.close()
        self.pid = self._number()
        self._code: int | None = None

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float) -> int:
        if self._code is None:
            ready, _, _ = select.select([self._said], [], [], timeout)
            if not ready:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
            self._code = self._number()
            self._said.close()
        return self._code

    def _number(self) -> int:
        line = self._said.readline()
        assert line, "warm_server.py has ended, and said why on its standard error"
        return int(line)

    def send_signal(self, number: int) -> None:
        if self._code is None:  # otherwise the pid may already belong to another process
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


Started = Forked | subprocess.Popen[bytes]
Stream = IO[str] | IO[bytes] | int


def started(
    command: Sequence[str],
    *,
    stdin: Stream = subprocess.DEVNULL,
    stdout: Stream = subprocess.DEVNULL,
    stderr: Stream,
    env: Mapping[str, str],
) -> Started:
    """Like `python *command`: a script, `-m module` or `-c code`, and its arguments."""
    if not CAN_BE:
        return subprocess.Popen([sys.executable, *command], stdin=stdin, stdout=stdout, stderr=stderr, env=env)
    begin()
    told = marshal.dumps((list(command), dict(env), str(Path.cwd())))
    with Path(os.devnull).open("r+b", buffering=0) as nothing:
        streams = [nothing if each == subprocess.DEVNULL else each for each in (stdin, stdout, stderr)]
        fds = [each if isinstance(each, int) else each.fileno() for each in streams]
        door = socket.socket(socket.AF_UNIX)
        door.connect(str(HOME / "door"))
        whole = len(told).to_bytes(4, "big") + told
        sent = socket.send_fds(door, [whole], fds)
        door.sendall(whole[sent:])
    return Forked(door)
