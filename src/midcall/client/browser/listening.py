"""An app served on this machine, in the event loop that runs, for as long as that runs."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.types import ASGIApp

__all__ = ["Listening", "bound"]


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens from now on, on this port or, for 0, any that is free."""
    [(family, kind, proto, _, place), *_] = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    found = socket.socket(family, kind, proto)
    try:
        found.bind(place)
        found.listen(64)
    except OSError:
        found.close()
        raise
    found.setblocking(False)
    return found


class _Server(uvicorn.Server):
    """Leaves the signals to the program that it is a guest in."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


class Listening:
    """Serves the app on this socket until it is closed, or the loop ends."""

    def __init__(self, app: ASGIApp, where: socket.socket) -> None:
        config = uvicorn.Config(
            app,
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        self._server = _Server(config)
        self._socket = where
        self._task = asyncio.create_task(self._serve(), name="midcall browser")

    @property
    def ended(self) -> bool:
        return self._task.done()

    async def close(self) -> None:
        """End it, after the answers that are under way."""
        self._server.should_exit = True
        await asyncio.wait([self._task])

    async def _serve(self) -> None:
        try:
            await self._server.serve(sockets=[self._socket])
        finally:
            self._let_go()

    def _let_go(self) -> None:
        """Where the loop ends before it was closed, nothing may stay open."""
        servers: list[asyncio.Server] = getattr(self._server, "servers", [])
        for server in servers:
            server.close()
        for connection in tuple(self._server.server_state.connections):
            transport: Any = connection.transport
            transport.abort()
        self._socket.close()
