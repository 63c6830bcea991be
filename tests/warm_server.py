"""Import what test programs need, and fork a process for each program to run (`warm.py`).

A request has a Python command line, an environment, a directory and the three standard streams. The response is the
pid, and later the exit code. Further bytes from the caller are signals for the program. If the caller is gone, the
program is killed.
"""

from __future__ import annotations

import fcntl
import gc
import marshal
import os
import runpy
import select
import shutil
import signal
import socket
import sys
import termios
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

OWN = sys.path.pop(0)  # drop this script's directory, which no program expects


def imports() -> None:
    """What most test programs import: the SDK, FastMCP, our server and client, the command line and the stores."""
    import asyncpg  # noqa: F401
    import authlib.integrations.starlette_client  # noqa: F401
    import fastmcp  # noqa: F401
    import mcp.client.stdio
    import mcp.client.streamable_http
    import mcp.server.mcpserver  # noqa: F401
    import redis.asyncio  # noqa: F401
    import textual.drivers.linux_driver
    import textual.widgets  # noqa: F401
    import uvicorn  # noqa: F401

    import midcall.cli.call
    import midcall.cli.commands
    import midcall.client.lines.lines
    import midcall.testing  # noqa: F401
    from midcall import install  # noqa: F401
    from midcall.client import Browser, Guard, Headless, Pending, Script, Terminal, attach, connect  # noqa: F401
    from midcall.client.terminal import question_app, stage, wait_app  # noqa: F401
    from midcall.portal import Portal  # noqa: F401


def serve(control: socket.socket, door: socket.socket) -> tuple[list[int], tuple[list[str], dict[str, str], str]]:
    """Returns in each forked process that will be a program, with its streams and its request."""
    while True:
        ready, _, _ = select.select([control, door], [], [])
        with suppress(ChildProcessError):  # reap the guards of ended programs, so that their CPU time counts as ours
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if control in ready:
            shutil.rmtree(Path(door.getsockname()).parent, ignore_errors=True)
            sys.exit()
        caller, _ = door.accept()
        if not os.fork():
            control.close()
            door.close()
            return guarded(caller)
        caller.close()


def guarded(caller: socket.socket) -> tuple[list[int], tuple[list[str], dict[str, str], str]]:
    """Stay behind to report the program's pid and exit code."""
    data, fds, _, _ = socket.recv_fds(caller, 65536, 3)
    size = 4 + int.from_bytes(data[:4], "big")
    while data and len(data) < size:
        more = caller.recv(65536)
        data = data + more if more else b""
    if not data:
        os._exit(0)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # the program couldn't receive them yet
    if not (pid := os.fork()):
        caller.close()
        return fds, marshal.loads(data[4:])
    for fd in fds:
        os.close(fd)
    program = os.pidfd_open(pid)
    with suppress(OSError):
        caller.sendall(b"%d\n" % pid)
    signals = data[size:]
    while True:
        for number in signals:
            os.kill(pid, number)
        if program in select.select([program, caller], [], [])[0]:
            break
        signals = heard(caller) or bytes([signal.SIGKILL])
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with suppress(OSError):
        caller.sendall(b"%d\n" % code)
    os._exit(0)


def heard(caller: socket.socket) -> bytes:
    """Receive data; empty if the other side is gone."""
    try:
        return caller.recv(64)
    except OSError:
        return b""


def take(fds: list[int], env: dict[str, str], home: str) -> None:
    """Set things up as in a process started with this command."""
    os.setsid()
    for at, fd in enumerate(fds):
        os.dup2(fd, at)
    for fd in fds:
        os.close(fd)
    if os.isatty(0):
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    os.chdir(home)
    os.environ.clear()
    os.environ.update(env)
    encoding, _, errors = env.get("PYTHONIOENCODING", "").partition(":")
    for fd, name in enumerate(("stdin", "stdout", "stderr")):
        how = "backslashreplace" if fd == 2 else errors or "strict"
        stream = open(fd, "w" if fd else "r", encoding=encoding or "utf-8", errors=how, closefd=False)  # noqa: SIM115
        if fd:
            stream.reconfigure(line_buffering=fd == 2 or stream.isatty())
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def run(command: list[str], path: str) -> None:
    how, *args = command
    more = [each for each in path.split(os.pathsep) if each]
    if how == "-m":
        what, *args = args
        sys.path[:0] = [str(Path.cwd()), *more]
        sys.argv = [what, *args]
        runpy.run_module(what, run_name="__main__", alter_sys=True)
        return
    if how == "-c":
        text, *args = args
        sys.path[:0], sys.argv = ["", *more], ["-c", *args]
        code, named = compile(text, "<string>", "exec"), {}
    else:
        sys.path[:0], sys.argv = [str(Path(how).resolve().parent), *more], [how, *args]
        code, named = compile(Path(how).read_bytes(), how, "exec"), {"__file__": how}
    main: Any = ModuleType("__main__")
    vars(main).update(named)
    sys.modules["__main__"] = main
    exec(code, vars(main))


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    imports()
    gc.collect()
    gc.freeze()
    fds, (command, env, home) = serve(*(socket.socket(fileno=int(fd)) for fd in sys.argv[1:]))
    take(fds, env, home)
    run(command, env.get("PYTHONPATH", ""))
