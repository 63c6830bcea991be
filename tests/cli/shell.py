"""Run the command line as a new user would, or any program in its own terminal."""

from __future__ import annotations

import logging
import os
import select
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import IO, Any, Protocol
from unittest.mock import patch

from midcall.cli import main
from tests.warm import CAN_BE, PYTHON, command_of, started

SECONDS = 60
BARE = command_of(Path(__file__).with_name("bare_server.py"))


def midcall(*args: str, warm: bool = True, **env: str) -> subprocess.CompletedProcess[str]:
    """Run it without a terminal: `warm`, or from nothing, as each command is once."""
    return subprocess.run(
        [*(PYTHON if warm else [sys.executable]), "-m", "midcall", *args],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=SECONDS,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "100", **env},
    )


def without_columns(printed: str) -> str:
    """On one line, with single spaces: how a report is laid out depends on the longest name in it."""
    return " ".join(printed.split())


def here(*args: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run it in this process: for what a command says, and which code it ends with.

    `midcall` is for what makes it a program: its streams, its terminal, its end.
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
signal.signal(signal.SIGINT, signal.SIG_DFL)  # tests that run in the background inherit SIG_IGN
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
"""Makes its terminal the one that Ctrl-C comes from."""


class Program(Protocol):
    """What runs in a terminal."""

    pid: int

    def kill(self) -> None: ...

    def wait(self, timeout: float) -> int: ...


class Screen:
    """A program in its own terminal. Standard output can go elsewhere."""

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
    warm: bool = True,
    **env: str,
) -> Iterator[Screen]:
    """A terminal of this size (columns and rows); by default its size is unknown, so it counts as too small for forms.

    A `warm` program runs in a separate process that has done its imports; others start cold.
    """
    import fcntl
    import pty
    import struct
    import termios

    here, there = pty.openpty()
    if size is not None:
        fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    environ = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "PYTHONUTF8": "1", **env}
    begin = started if warm and CAN_BE else _from_nothing
    process = begin(
        [*program, *args], stdin=there, stdout=there if stdout is None else stdout, stderr=there, env=environ
    )
    os.close(there)
    try:
        yield Screen(process, here)
    finally:
        process.kill()
        process.wait(SECONDS)
        os.close(here)


def _from_nothing(command: list[str], **given: Any) -> Program:
    return subprocess.Popen([sys.executable, "-c", TAKES_TERMINAL, *command], start_new_session=True, **given)
