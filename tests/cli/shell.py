"""The command line, run as a stranger would; and any program, in a terminal of its own."""

from __future__ import annotations

import atexit
import json
import logging
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from typing import IO, Protocol
from unittest.mock import patch

from midcall.cli import main

SECONDS = 60
BARE = f"{sys.executable} {Path(__file__).with_name('bare_server.py')}"


def midcall(*args: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run it without a terminal."""
    return subprocess.run(
        [sys.executable, "-m", "midcall", *args],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=SECONDS,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "100", **env},
    )


def here(*args: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run it in this process: for what a command says, and which code it ends with.

    A process of its own takes a second to import what the tests have already. `midcall` is for what makes it a program:
    its streams, its terminal, its end.
    """
    root, ours = logging.getLogger(), logging.getLogger("midcall.client.connection")
    before = [(logger, logger.handlers[:], logger.propagate) for logger in (root, ours)]
    kept = tempfile.TemporaryFile
    with (
        kept("w+", encoding="utf-8", newline="") as out,
        kept("w+", encoding="utf-8", newline="") as err,
        Path(os.devnull).open() as nothing,
        patch.dict(os.environ, {"COLUMNS": "100", **env}),
        patch("sys.stdin", nothing),
        redirect_stdout(out),
        redirect_stderr(err),
        warnings.catch_warnings(),
        imports_of_its_own(),
    ):
        try:
            code = main(list(args))
        finally:
            for logger, handlers, propagate in before:
                logger.handlers[:], logger.propagate = handlers, propagate
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(["midcall", *args], code, out.read(), err.read())


@contextmanager
def imports_of_its_own() -> Generator[None]:
    """Where a command looks for code is forgotten with what it found there: the next one may mean another `server`."""
    path, modules = sys.path[:], dict(sys.modules)
    try:
        yield
    finally:
        added = {Path(place) for place in sys.path if place not in path}
        sys.path[:] = path
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None)
            if module is modules.get(name) or file is None or Path(file).parent not in added:
                continue
            if name in modules:
                sys.modules[name] = modules[name]
            else:
                del sys.modules[name]


TAKES_TERMINAL = """
import signal, fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGINT, signal.SIG_DFL)  # whoever runs the tests in the background has it ignored
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
"""Makes its terminal the one that Ctrl-C comes from."""


class Program(Protocol):
    """What runs in a terminal."""

    pid: int

    def kill(self) -> None: ...

    def wait(self, timeout: float) -> int: ...


class Screen:
    """A program in a terminal of its own. Standard output can go elsewhere."""

    def __init__(self, process: Program, fd: int) -> None:
        self._process = process
        self._fd = fd
        self.text = ""
        self._seen = 0

    def sees(self, *texts: str) -> str:
        """Wait until one of these is shown, after what was waited for before."""
        until = time.monotonic() + SECONDS
        while not (found := [(at, text) for text in texts if (at := self.text.find(text, self._seen)) >= 0]):
            ready, _, _ = select.select([self._fd], [], [], max(0.0, until - time.monotonic()))
            assert ready, f"{texts} were not shown:\n{self.text[self._seen :]}"
            assert self._read(), f"{texts} were not shown:\n{self.text[self._seen :]}"
        at, text = min(found)
        self._seen = at + len(text)
        return text

    def press(self, keys: str, prompt: str = "") -> None:
        """Press these keys, once the prompt is shown."""
        if prompt:
            self.sees(prompt)
        os.write(self._fd, keys.encode())

    def type(self, *lines: str) -> None:
        """Answer one line prompt after the other."""
        for line in lines:
            self.press(f"{line}\n", prompt="> ")

    @property
    def pid(self) -> int:
        return self._process.pid

    def quiet(self, seconds: float) -> bool | None:
        """Whether nothing more is shown for so long; None once nothing can be."""
        ready, _, _ = select.select([self._fd], [], [], seconds)
        if not ready:
            return True
        return False if self._read() else None

    def exit_code(self) -> int:
        while self._read():
            pass
        return self._process.wait(SECONDS)

    def _read(self) -> bool:
        try:
            data = os.read(self._fd, 65536)
        except OSError:  # how Linux says that the other side is gone
            return False
        self.text += data.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(data)


@contextmanager
def screen(
    *args: str,
    program: tuple[str, ...] = ("-m", "midcall"),
    stdout: IO[str] | None = None,
    size: tuple[int, int] | None = None,
    warm: bool = False,
    **env: str,
) -> Iterator[Screen]:
    """A terminal that does not tell its size, and so is too small for forms; or of this size, columns and rows.

    The program starts from nothing; or it is `warm`, a process of its own all the same, that has its imports already.
    """
    import fcntl
    import pty
    import struct
    import termios

    here, there = pty.openpty()
    if size is not None:
        fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    command, streams = [*program, *args], (there, there if stdout is None else stdout.fileno(), there)
    environ = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "PYTHONUTF8": "1", **env}
    process = (_forked if warm and sys.platform == "linux" else _started)(command, streams, environ)
    os.close(there)
    try:
        yield Screen(process, here)
    finally:
        process.kill()
        process.wait(SECONDS)
        os.close(here)


def _started(command: list[str], streams: tuple[int, int, int], env: dict[str, str]) -> Program:
    return subprocess.Popen(
        [sys.executable, "-c", TAKES_TERMINAL, *command],
        stdin=streams[0],
        stdout=streams[1],
        stderr=streams[2],
        start_new_session=True,
        env=env,
    )


# --- programs that have their imports already ----------------------------------------------------

WARM = """
import fcntl, gc, json, os, runpy, signal, socket, sys, termios
import midcall.cli.call, midcall.cli.commands, midcall.client.lines
import mcp.client.stdio, mcp.client.streamable_http, textual.drivers.linux_driver, textual.widgets
from midcall.client import Terminal, connect
from contextlib import suppress
from midcall.client.terminal import app, stage, waits

def streams():
    for fd, name in enumerate(("stdin", "stdout", "stderr")):
        errors = "backslashreplace" if fd == 2 else "strict"
        stream = open(fd, "w" if fd else "r", encoding="utf-8", errors=errors, closefd=False)
        if fd:
            stream.reconfigure(line_buffering=fd == 2 or stream.isatty())
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)

def take(fds, given):
    os.setsid()
    for at in range(3):
        os.dup2(fds[at], at)
    for fd in {*fds, control.fileno()}:
        os.close(fd)
    control.detach()
    if os.isatty(0):
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(given["cwd"])
    os.environ.clear()
    os.environ.update(given["env"])
    streams()

def guard(fds, given):
    # tells who the program is, and how it ended; true in the program itself
    reply = socket.socket(fileno=fds.pop())
    pid = os.fork()
    if not pid:
        reply.close()
        return True
    for fd in fds:
        os.close(fd)
    reply.sendall(b"%d\\n" % pid)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    reply.sendall(b"%d\\n" % code)
    os._exit(0)

def asked():
    # the guards of those that have ended, so that their time counts as ours
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    data, fds, _, _ = socket.recv_fds(control, 65536, 4)
    while data and not data.endswith(b"\\n"):
        data += control.recv(65536)
    return (fds, json.loads(data)) if data else sys.exit()

def run(command):
    how, what, *args = command
    sys.argv = [what if how == "-m" else "-c", *args]
    if how == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})

control = socket.socket(fileno=int(sys.argv[1]))
signal.signal(signal.SIGINT, signal.SIG_IGN)
gc.freeze()
while True:
    fds, given = asked()
    if not os.fork() and guard(fds, given):
        break
    for fd in fds:
        os.close(fd)
take(fds, given)
run(given["command"])
"""
"""Forks a process for each program that it is told to run. What has imported nothing takes a second to begin."""


class Forked:
    """A program of which only its guard knows how it ended."""

    def __init__(self, reply: socket.socket) -> None:
        self._reply = reply.makefile("rb")
        reply.close()
        self.pid = int(self._reply.readline())
        self._code: int | None = None

    def wait(self, timeout: float) -> int:
        if self._code is None:
            ready, _, _ = select.select([self._reply], [], [], timeout)
            assert ready, f"the program did not end within {timeout} s"
            self._code = int(self._reply.readline())
            self._reply.close()
        return self._code

    def kill(self) -> None:
        if self._code is None:  # else the number may be another's by now
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


@cache
def _warm() -> socket.socket:
    """Ends when this process does."""
    ours, its = socket.socketpair()
    with its:
        env = {**os.environ, "PYTHONUTF8": "1"}
        process = subprocess.Popen([sys.executable, "-c", WARM, str(its.fileno())], pass_fds=[its.fileno()], env=env)

    @atexit.register
    def end() -> None:
        ours.close()
        process.wait(SECONDS)

    return ours


def _forked(command: list[str], streams: tuple[int, int, int], env: dict[str, str]) -> Program:
    ours, its = socket.socketpair()
    told = json.dumps({"command": command, "env": env, "cwd": str(Path.cwd())}).encode() + b"\n"
    with its:
        socket.send_fds(_warm(), [told], [*streams, its.fileno()])
    return Forked(ours)
