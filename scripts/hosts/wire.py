"""Between a host and its server over stdio: `python wire.py LOG COMMAND...` writes every message to LOG.

Needs only the standard library, since each host starts it.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO


def copy(source: IO[bytes], sink: IO[bytes], way: str, log: IO[str], lock: threading.Lock) -> None:
    for line in iter(source.readline, b""):
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        with lock:
            log.write(json.dumps({"at": time.time(), "way": way, "message": message}) + "\n")
            log.flush()
        try:
            sink.write(line)
            sink.flush()
        except OSError:
            break
    with contextlib.suppress(OSError):
        sink.close()


def main() -> int:
    path, *command = sys.argv[1:]
    with Path(path).open("a") as log, Path(f"{path}.stderr").open("a") as errors:
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
        assert server.stdin is not None
        assert server.stdout is not None
        lock = threading.Lock()
        there = (sys.stdin.buffer, server.stdin, "to the server", log, lock)
        threading.Thread(target=copy, args=there, daemon=True).start()
        copy(server.stdout, sys.stdout.buffer, "to the host", log, lock)
        try:
            return server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            return 1


if __name__ == "__main__":
    sys.exit(main())
