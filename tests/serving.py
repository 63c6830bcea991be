"""Servers in other processes, as in real use."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import uvicorn
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.warm import PYTHON, Started, started

STARTS_WITHIN = 30.0
ENDS_WITHIN = 10.0
GIVEN_BY_NOBODY = range(12_000, 32_000)
"""Ports outside the ephemeral range, so that nothing else takes one before its server listens."""
ROOT = Path(__file__).parent.parent


def environment(**extra: str) -> dict[str, str]:
    """Our environment without Python's development mode, which any non-empty value would turn on.

    Portals don't pause between pages, unless a test asks for it: browsers in tests click faster than people.
    """
    path = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    return {"MIDCALL_PORTAL_PAUSE": "0", **os.environ, "PYTHONPATH": path, "PYTHONDEVMODE": "", **extra}


def stdio(script: Path, log: IO[str], *args: str, warm: bool = True) -> AbstractAsyncContextManager[Any]:
    """A transport for this script, with stderr in a file. `warm` forks it from a warm process."""
    command, *more = [*(PYTHON if warm else [sys.executable]), str(script), *args]
    return stdio_client(StdioServerParameters(command=command, args=more, env=environment()), errlog=log)


def free_port() -> int:
    while True:
        port = secrets.choice(GIVEN_BY_NOBODY)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def end(process: Started, within: float = ENDS_WITHIN) -> None:
    """Let it end on its own. If it doesn't, kill it and fail."""
    process.terminate()
    try:
        process.wait(within)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(within)
        raise


@contextmanager
def serving(script: Path, log: Path, *args: str, flag: str = "--http", warm: bool = True, **env: str) -> Iterator[str]:
    """The URL of this script, served over HTTP in a separate process. `warm` forks it from a warm process."""
    port = free_port()
    command, environ = [str(script), flag, str(port), *args], environment(**env)
    if warm:
        with log.open("w") as stderr, _ending(started(command, stderr=stderr, env=environ), port, log):
            yield f"http://127.0.0.1:{port}/mcp"
    else:
        with listening([sys.executable, *command], port, log, environ):
            yield f"http://127.0.0.1:{port}/mcp"


@contextmanager
def listening(command: list[str], port: int, log: Path, env: dict[str, str]) -> Iterator[None]:
    """A server process that listens on this port."""
    with log.open("w") as stderr:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr, env=env)
        with _ending(process, port, log):
            yield


@contextmanager
def _ending(process: Started, port: int, log: Path) -> Iterator[None]:
    try:
        await_port(port, process, log)
        yield
    finally:
        end(process)


def await_port(port: int, process: Started, log: Path) -> None:
    """Wait until something listens there."""
    until = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < until:
        assert process.poll() is None, log.read_text()
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0 and process.poll() is None:
                return
        time.sleep(0.02)
    raise AssertionError(f"no server on {port}: {log.read_text()}")


@asynccontextmanager
async def served(server: Any, **settings: Any) -> AsyncIterator[str]:
    """The URL of this server, served over HTTP in the test's event loop."""
    app = server.http_app(**settings) if hasattr(server, "http_app") else server.streamable_http_app(**settings)
    port = free_port()
    http = uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning", timeout_graceful_shutdown=1))
    serving = asyncio.create_task(http.serve())
    try:
        async with asyncio.timeout(STARTS_WITHIN):
            while not http.started:
                await asyncio.sleep(0)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        http.should_exit = True
        await serving
