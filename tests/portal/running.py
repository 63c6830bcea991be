"""The portal examples as other processes."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mcp_types import CallToolResult, TextContent

from tests.serving import ENDS_WITHIN, ROOT, await_port, end, environment, free_port
from tests.warm import Started, started

SHORT_HOLDS = ROOT / "tests" / "portal" / "short_holds.py"
SERVER = "portal_server.py"
KEYS = "a key for the tests that is long enough"


@dataclass
class Process:
    """A server, and where it listens."""

    popen: Started
    url: str
    log: Path

    @property
    def mcp(self) -> str:
        return f"{self.url}/mcp"

    def kill(self) -> None:
        """As the machine would: nothing is finished, nothing is said."""
        self.popen.kill()
        self.popen.wait(ENDS_WITHIN)


def start(log: Path, store: str, *options: str, hold: float = 45.0, port: int | None = None) -> Process:
    """Start the HTTP example; `listening` waits for it."""
    port = port or free_port()
    command = [str(SHORT_HOLDS), SERVER, "--port", str(port), "--store", store, *options]
    with log.open("a") as stderr:
        popen = started(command, stderr=stderr, env=environment(MIDCALL_KEYS=KEYS, HOLD=str(hold)))
    return Process(popen, f"http://127.0.0.1:{port}", log)


@contextmanager
def mock_issuer(log: Path) -> Generator[str]:
    """The issuer of the package oidc-provider-mock, in its own process: anyone can sign in under any name."""
    port = free_port()
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(port)]
    with log.open("w") as stderr:
        popen = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr)
    with running([Process(popen, f"http://127.0.0.1:{port}", log)]):
        yield f"http://localhost:{port}"


@contextmanager
def running(processes: Sequence[Process]) -> Generator[None]:
    """Wait until all of them listen; in the end, end them."""
    try:
        for each in processes:
            listening(each)
        yield
    finally:
        for each in processes:
            each.popen.terminate()
        for each in processes:
            end(each.popen, within=15)


def listening(process: Process) -> None:
    await_port(int(process.url.rpartition(":")[2]), process.popen, process.log)


def shown(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


def code_of(result: CallToolResult) -> str:
    assert "NOT FINISHED YET" in shown(result), shown(result)
    found = re.search(r'"code": "([\w-]+)"', shown(result))
    assert found
    return found[1]
