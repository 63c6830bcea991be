"""An app served on this machine, in the event loop that runs, for as long as that runs."""

from __future__ import annotations

import asyncio
import socket
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["Listening", "bound"]

_GRACE: Final = 1.0
"""Seconds that the answers that are under way have when it is closed."""
_BETWEEN_LOOKS: Final = 0.05


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


class _Config(uvicorn.Config):
    """Leaves the loggers alone: they belong to the program, which may serve with uvicorn itself."""

    def configure_logging(self) -> None:
        pass


class _Protocol(H11Protocol):
    """Writes no access log: what is asked for here is a secret, and not the program's."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.access_log = False


class _Server(uvicorn.Server):
    """A guest in its program: it takes no signals, and does not tell when it starts and ends."""

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        self.config.load()
        self.lifespan = self.config.lifespan_class(self.config)
        await self.startup(sockets=sockets)
        await self.main_loop()
        await self.shutdown(sockets=sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for connection in tuple(self.server_state.connections):
            connection.shutdown()
        try:
            async with asyncio.timeout(_GRACE):
                await self._answered()
        except TimeoutError:
            for task in tuple(self.server_state.tasks):
                task.cancel()

    async def _answered(self) -> None:
        while self.server_state.connections or self.server_state.tasks:  # noqa: ASYNC110  (uvicorn has no event for it)
            await asyncio.sleep(_BETWEEN_LOOKS)


class Listening:
    """Serves the app on this socket until it is closed, or the loop ends."""

    def __init__(self, app: ASGIApp, where: socket.socket) -> None:
        config = _Config(app, lifespan="off", ws="none", http=_Protocol, log_config=None, server_header=False)
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
