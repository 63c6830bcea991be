"""From `midcall call` to the first form on the screen, compared with the bare imports that it needs.

Both run in fresh interpreters and terminals, timed by the wall clock from start to first output. The server is plain
Python and starts immediately, so your own server's start isn't included.
"""

import os
import select
import shlex
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import product
from typing import Final

from bench.candidates import PUSH, ROUNDS
from bench.clients import ROOT, Wrong
from bench.report import Target, milliseconds, row

_IMPORTS: Final = "import click, httpx2, mcp, mcp.client.stdio, textual.app, textual.widgets; print('Imported.')"
_BARE: Final = "the imports alone"
_MESSAGE: Final = "How many days will you stay?"
_SERVER: Final = """
import json, sys
info = {"name": "travel", "version": "1"}
days = {"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]}
ask = {"method": "elicitation/create", "params": {"mode": "form", "message": "MESSAGE", "requestedSchema": days}}
done = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
has = {"capabilities": {"tools": {}}}
results = {
    "initialize": {"protocolVersion": "2025-11-25", "serverInfo": info, **has},
    "server/discover": {
        "supportedVersions": ["2026-07-28"], "_meta": {"io.modelcontextprotocol/serverInfo": info}, **has, **done
    },
    "tools/list": {"tools": [{"name": "book", "inputSchema": {"type": "object", "properties": {}}}], **done},
}
modern = False
for line in sys.stdin:
    request = json.loads(line)
    method = request.get("method")
    modern = modern or method == "server/discover"
    if method in results:
        answer = {"id": request["id"], "result": results[method]}
    elif method == "tools/call" and modern:
        answer = {"id": request["id"], "result": {"resultType": "input_required", "inputRequests": {"days": ask}}}
    elif method == "tools/call":
        answer = {"id": "days", **ask}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", **answer}), flush=True)
""".replace("MESSAGE", _MESSAGE)
_SECONDS: Final = 60.0
_LIMIT: Final = 0.4


def compare(times: int) -> list[Target]:
    if sys.platform == "win32":
        print("\nThe first form was not timed: it needs a POSIX pseudo-terminal")
        return []
    server = shlex.join([sys.executable, "-S", "-E", "-c", _SERVER])
    commands = {_BARE: (["-c", _IMPORTS], ["Imported."])}
    for era in (PUSH, ROUNDS):
        call = ["-m", "midcall", "call", server, "book", "--era", era]
        commands[era] = (call, [_MESSAGE, "days", "Send", "Decline"])
    best = dict.fromkeys(commands, float("inf"))
    for _, name in product(range(times + 1), commands):  # the first turn may compile modules
        best[name] = min(best[name], _seconds(*commands[name]))
    return _told(best, times)


def _told(best: dict[str, float], times: int) -> list[Target]:
    print("\nFrom a command to its output in a terminal, ms")
    print(row(_BARE, [milliseconds(best[_BARE])]))
    targets: list[Target] = []
    for era in (PUSH, ROUNDS):
        print(row(f"midcall call, its first form, {era}", [milliseconds(best[era])]))
        targets.append(Target(f"first form, on top of imports, {era}", best[era] - best[_BARE], _LIMIT, "s"))
    print(row("best of", [str(times + 1)]), flush=True)
    return targets


def _seconds(arguments: Sequence[str], shown: Sequence[str]) -> float:
    """Seconds until the terminal shows all of this."""
    import fcntl
    import pty
    import termios

    here, there = pty.openpty()
    fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    begun = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=_environment(),
        stdin=there,
        stdout=there,
        stderr=there,
        start_new_session=True,
    )
    os.close(there)
    try:
        _see(here, shown)
        return time.perf_counter() - begun
    finally:
        process.kill()
        process.wait()
        os.close(here)


def _environment() -> dict[str, str]:
    plain = ("NO_COLOR", "MIDCALL_PLAIN", "ACCESSIBLE", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if name not in plain}
    return {**kept, "TERM": "xterm-256color", "PYTHONUTF8": "1"}


def _see(terminal: int, shown: Sequence[str]) -> None:
    screen, until = "", time.monotonic() + _SECONDS
    while not all(text in screen for text in shown):
        ready, _, _ = select.select([terminal], [], [], max(0.0, until - time.monotonic()))
        try:
            read = os.read(terminal, 65536) if ready else b""
        except OSError:  # on Linux: the other side has closed
            read = b""
        if not read:
            raise Wrong(f"the terminal did not show {', '.join(shown)}: {screen!r}")
        screen += read.decode("utf-8", "replace")
