"""Serve an app on this machine, in the running event loop."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from midcall.settings import SERVING_GRACE_SECONDS, SERVING_POLL_SECONDS


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens on this port; for 0, on any free one."""
    [(family, kind, proto, _, place), *_] = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    listening = socket.socket(family, kind, proto)
    try:
        listening.bind(place)
        listening.listen(64)
    except OSError:
        listening.close()
        raise
    listening.setblocking(False)
    return listening


class _Config(uvicorn.Config):
    """Leaves the loggers alone: the program may use uvicorn itself."""

    def configure_logging(self) -> None:
        pass


class _Protocol(H11Protocol):
    """Writes no access log: paths hold secrets."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.access_log = False

    def send_400_response(self, msg: str) -> None:
        with suppress(h11.LocalProtocolError):  # the response to a HEAD request has no body
            super().send_400_response(msg)
        self.transport.close()


class _Server(uvicorn.Server):
    """Handles no signals, and logs neither its start nor its end: both belong to the program."""

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
            async with asyncio.timeout(SERVING_GRACE_SECONDS):
                await self._drain()
        except TimeoutError:
            for task in tuple(self.server_state.tasks):
                task.cancel()

    async def _drain(self) -> None:
        while self.server_state.connections or self.server_state.tasks:  # noqa: ASYNC110  (uvicorn has no event for it)
            await asyncio.sleep(SERVING_POLL_SECONDS)


class LocalServer:
    """Serves the app on this socket until `close`, or until the loop ends."""

    def __init__(self, app: ASGIApp, where: socket.socket) -> None:
        config = _Config(app, lifespan="off", ws="none", http=_Protocol, log_config=None, server_header=False)
        self._server = _Server(config)
        self._socket = where
        self._task = asyncio.create_task(self._serve(), name="midcall local server")

    @property
    def has_ended(self) -> bool:
        return self._task.done()

    async def close(self) -> None:
        """Stop, after responses under way."""
        self._server.should_exit = True
        await asyncio.wait([self._task])

    async def _serve(self) -> None:
        try:
            await self._server.serve(sockets=[self._socket])
        finally:
            self._release()

    def _release(self) -> None:
        """Close every socket, even if the loop ends before `close`."""
        servers: list[asyncio.Server] = getattr(self._server, "servers", [])
        for server in servers:
            server.close()
        for connection in tuple(self._server.server_state.connections):
            transport: Any = connection.transport
            transport.abort()
        self._socket.close()
