"""A network that has only loopback, and a process namespace that ends with its first process. Linux only."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import socket
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final, NoReturn

INSIDE: Final = "HOSTS_INSIDE"
_SET_FLAGS, _UP = 0x8914, 0x1
"""The ioctl SIOCSIFFLAGS, and its flag IFF_UP."""


def enter(command: list[str], installed: Path) -> NoReturn:
    """Become this command in namespaces of its own."""
    unshare = shutil.which("unshare")
    if sys.platform != "linux" or unshare is None:
        sys.exit("make hosts needs Linux and the program unshare (util-linux): hosts run in a network of their own.")
    if not (installed / "node_modules").exists():
        sys.exit("No host is installed: run `make hosts`.")
    own = [] if os.geteuid() == 0 else ["--map-root-user"]
    spaces = ["--net", "--pid", "--fork", "--kill-child", "--mount-proc", *own]
    os.execve(unshare, [unshare, *spaces, *command], {**os.environ, INSIDE: "1"})


def raise_loopback() -> None:
    """A new network namespace has a loopback interface that is down."""
    assert [name for _, name in socket.if_nameindex()] == ["lo"], "this is not a network of its own"
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh", b"lo", _UP))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def end_others(*kept: int) -> None:
    """End what a host has left behind: everything in this process namespace but us and these."""
    assert os.getpid() == 1, "this is not a process namespace of its own"
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and int(process.name) not in (1, *kept):
            with suppress(ProcessLookupError):
                os.kill(int(process.name), signal.SIGKILL)
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
