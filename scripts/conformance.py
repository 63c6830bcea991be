"""Run the official MCP conformance suite against examples/conformance_server.py and conformance_client.py.

    python -m scripts.conformance [PATTERN]      # only the scenarios whose name contains PATTERN

One line per scenario. A check that fails or warns fails the run, as does a scenario that checks nothing.
"""

from __future__ import annotations

import json
import re
import shlex
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scripts.peers import ROOT, missing, node, package

SUITE = "@modelcontextprotocol/conformance"
PUSHED = ["tools-call-elicitation", "elicitation-sep1034-defaults", "elicitation-sep1330-enums"]
CLIENT = [("elicitation-sep1034-client-defaults", "2025-11-25"), ("sep-2322-client-request-state", "2026-07-28")]
TIME_LIMIT = 60.0


def main() -> int:
    if reason := missing(SUITE):
        print(f"The conformance suite cannot run: {reason}")
        return 1
    pattern = sys.argv[1] if len(sys.argv) > 1 else ""
    wanted = [(name, version) for name, version in scenarios() if pattern in name]
    with tempfile.TemporaryDirectory() as folder, served(Path(folder) / "server.log") as url:
        target = ["server", "--url", url]
        passed = [report(name, version, run(name, version, target, Path(folder) / name)) for name, version in wanted]
    with tempfile.TemporaryDirectory() as folder:
        target = ["client", "--command", shlex.join([sys.executable, str(ROOT / "examples/conformance_client.py")])]
        wanted = [(name, version) for name, version in CLIENT if pattern in name]
        passed += [report(name, version, run(name, version, target, Path(folder) / name)) for name, version in wanted]
    print(f"Conformance: {sum(passed)} of {len(passed)} scenarios pass.")
    return 0 if passed and all(passed) else 1


def scenarios() -> list[tuple[str, str]]:
    """The scenarios that we promise to pass, from the suite's own list so that new ones aren't missed."""
    listed = suite("list", "--server", "--spec-version", "2026-07-28").stdout
    rounds: list[str] = re.findall(r"(input-required-result-\S+)", listed)
    if not rounds:
        raise SystemExit(f"The suite lists no input-required-result scenario:\n{listed}")
    return [(name, "2025-11-25") for name in PUSHED] + [(name, "2026-07-28") for name in rounds]


def run(name: str, version: str, target: list[str], folder: Path) -> list[dict[str, Any]] | str:
    """The checks of one scenario, or the error."""
    try:
        done = suite(*target, "--scenario", name, "--spec-version", version, "-o", str(folder))
    except subprocess.TimeoutExpired:
        return f"no result after {TIME_LIMIT:.0f} s"
    found = list(folder.glob("*/checks.json"))
    if not found or "CLIENT EXITED WITH ERROR" in done.stdout + done.stderr:
        return (done.stdout + done.stderr).strip()
    return json.loads(found[0].read_text())


def report(name: str, version: str, checks: list[dict[str, Any]] | str) -> bool:
    if isinstance(checks, str):
        bad, count = [checks], 0
    else:
        bad = [
            f"{c['status']} {c['id']}: {c.get('errorMessage')}"
            for c in checks
            if c["status"] not in ("SUCCESS", "INFO")
        ]
        count = sum(c["status"] == "SUCCESS" for c in checks)
    ok = count > 0 and not bad
    print(f"{'PASS' if ok else 'FAIL'}  {version}  {name}  ({count} checks pass)", *bad, sep="\n      ", flush=True)
    return ok


def suite(*args: str) -> subprocess.CompletedProcess[str]:
    command = [str(node()), str(package(SUITE)) + "/dist/index.js", *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, stdin=subprocess.DEVNULL)


@contextmanager
def served(log: Path) -> Generator[str]:
    """The URL of the example server, which is always stopped."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "examples/conformance_server.py", "--port", str(port)]
    with log.open("w") as out, subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=out) as server:
        try:
            wait_until_open(port, server, log)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            server.terminate()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()


def wait_until_open(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 30
    while server.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit(f"The server did not start:\n{log.read_text()}")


if __name__ == "__main__":
    sys.exit(main())
