"""A PgBouncer in transaction mode: each transaction may go to another server connection."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from tests.serving import end, free_port
from tests.skips import without

CONFIG = """\
[databases]
* = host={host} port={port} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen}
unix_socket_dir =
auth_type = any
auth_file = {users}
pool_mode = transaction
default_pool_size = 3
"""


def binary() -> str:
    return shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin") or without("PgBouncer")


@contextmanager
def running(url: str, directory: Path) -> Iterator[int]:
    """The port of a PgBouncer in front of this PostgreSQL."""
    parts, listen = urlsplit(url), free_port()
    users, config = directory / "users", directory / "pgbouncer.ini"
    users.write_text('"postgres" ""\n')
    config.write_text(CONFIG.format(host=parts.hostname, port=parts.port, listen=listen, users=users))
    # It does not run as root, and only root can become somebody else.
    user = ["-u", "nobody"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
    process = subprocess.Popen([binary(), "-q", *user, str(config)], stderr=subprocess.DEVNULL)
    try:
        _wait_for(listen, process)
        yield listen
    finally:
        end(process)


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 10
    while time.monotonic() < until:
        assert process.poll() is None, "PgBouncer exited unexpectedly"
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise AssertionError("PgBouncer did not start")
