"""Serve an app on this machine, in the running event loop.

Any program on the machine can connect, and so can every web page that the user has open. So a request has to arrive in
time, and idle connections make room for new ones.
"""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import suppress
from contextvars import Context
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from midcall.settings.web import (
    LOCAL_BACKLOG,
    MAX_CONNECTIONS,
    REQUEST_BODY_SECONDS,
    REQUEST_HEAD_SECONDS,
    REQUEST_IDLE_SECONDS,
    SERVING_GRACE_SECONDS,
    SERVING_POLL_SECONDS,
)
from midcall.web.security import HEADERS


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens on this port; for 0, on any free one."""
    [(family, kind, proto, _, place), *_] = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    listening = socket.socket(family, kind, proto)
    try:
        if port and os.name == "posix":  # connections of the last one that listened there may still linger
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        listening.listen(LOCAL_BACKLOG)
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
    """Closes slow connections, and writes no access log: paths hold secrets."""

    _deadline: asyncio.TimerHandle | None = None
    _awaited: Any = None
    """What the deadline is for: the state of the client's side."""
    since = 0.0
    """When it began to wait for what it waits for."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.access_log = False

    @property
    def is_waiting(self) -> bool:
        """Whether it waits for its client, for the rest of a request or for the next one."""
        return not self.cycle or self.cycle.response_complete or self._awaited is not None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()
        if len(self.connections) > MAX_CONNECTIONS:
            self._make_room()

    def _make_room(self) -> None:
        """Close the connection that has waited longest for its client; that may be this one."""
        open = [each for each in self.connections if not each.transport.is_closing()]
        if len(open) > MAX_CONNECTIONS:
            waiting = [each for each in open if isinstance(each, _Protocol) and each.is_waiting]
            min(waiting, key=lambda each: each.since).transport.abort()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self.since = self.loop.time()

    def connection_lost(self, exc: Exception | None) -> None:
        self._awaited = None
        self._set_deadline(None)
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Give the client's next part a deadline, which more bytes of it don't extend."""
        awaited = self.conn.their_state if self.conn.their_state in (h11.IDLE, h11.SEND_BODY) else None
        if awaited is self._awaited and awaited is not None:
            return
        self._awaited = awaited
        self.since = self.loop.time()
        seconds = REQUEST_HEAD_SECONDS if awaited is h11.IDLE else REQUEST_BODY_SECONDS
        self._set_deadline(None if awaited is None else seconds)

    def _set_deadline(self, seconds: float | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self.transport.abort)

    def send_400_response(self, msg: str) -> None:
        """Even this has our headers. It names no cause, since `msg` never does."""
        head = {"content-type": "text/plain; charset=utf-8", "connection": "close", **HEADERS}
        response = h11.Response(status_code=400, headers=list(head.items()), reason=b"Bad Request")
        with suppress(h11.LocalProtocolError):  # the response to a HEAD request has no body
            for event in (response, h11.Data(data=msg.encode("ascii")), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
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
        config.timeout_keep_alive = REQUEST_IDLE_SECONDS  # pyright: ignore[reportAttributeAccessIssue]  (a float works)
        self._server = _Server(config)
        self._socket = where
        # Not in the context of the call that starts it: pages have nothing to do with that.
        self._task = asyncio.create_task(self._serve(), name="midcall local server", context=Context())

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
