"""Our own HTTP server against clients that take their time, over real sockets."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import pytest
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from midcall.web import local_server
from midcall.web.local_server import LocalServer, bind
from midcall.web.security import HEADERS

WITHIN = 30.0
SOON = 0.1
"""A limit that a test waits for."""
LATE = 3_600.0
"""One that no test reaches."""
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class App:
    """Answers at once, or when it may; and notes which bodies never came."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.busy = asyncio.Semaphore(0)
        self.posted = asyncio.Event()
        self.cut_off = asyncio.Event()
        self.app = Starlette(
            routes=[
                Route("/", self._read, methods=["GET", "POST"]),
                Route("/slow", self._slow),
                Route("/early", self._early, methods=["POST"]),
            ]
        )

    async def _read(self, request: Request) -> Response:
        if request.method == "POST":
            self.posted.set()
        try:
            return PlainTextResponse(f"{len(await request.body())} bytes")
        except ClientDisconnect:
            self.cut_off.set()
            raise

    async def _slow(self, request: Request) -> Response:
        self.busy.release()
        await self.go_on.wait()
        return PlainTextResponse("at last")

    async def _early(self, request: Request) -> Response:
        return PlainTextResponse("not read")


class Client:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def send(self, data: bytes) -> None:
        self._writer.write(data)

    async def closed(self) -> bytes:
        """What still came, when the server has closed the connection."""
        came = b""
        with suppress(ConnectionError):
            while more := await self._reader.read(1024):
                came += more
        return came

    async def trickle(self, byte: bytes) -> bytes:
        """The same, while it sends a byte again and again."""
        closing = asyncio.create_task(self.closed())
        while not closing.done():
            with suppress(ConnectionError):
                self._writer.write(byte)
                await self._writer.drain()
            await asyncio.wait([closing], timeout=SOON / 20)
        return closing.result()

    async def response(self) -> str:
        """The next response; it has a short body."""
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode()
        [length] = [int(line[15:]) for line in head.lower().splitlines() if line.startswith("content-length:")]
        return head + (await self._reader.readexactly(length)).decode()

    def close(self) -> None:
        self._writer.close()


class Place:
    """A server under test, and clients that connect to it."""

    def __init__(self, app: App, port: int) -> None:
        self.app = app
        self._port = port
        self._clients: list[Client] = []

    async def connect(self, data: bytes = b"") -> Client:
        """A client that has sent this before the server knows of it, so that no pause of this process makes it late."""
        opened = socket.create_connection(("127.0.0.1", self._port), WITHIN)
        opened.sendall(data)
        client = Client(*await asyncio.open_connection(sock=opened))
        self._clients.append(client)
        return client

    def close(self) -> None:
        for client in self._clients:
            client.close()


@asynccontextmanager
async def serving(
    *, head: float = LATE, body: float = LATE, idle: float = LATE, connections: int = 100
) -> AsyncGenerator[Place]:
    app, where = App(), bind("127.0.0.1", 0)
    place = Place(app, where.getsockname()[1])
    with pytest.MonkeyPatch.context() as limits:
        limits.setattr(local_server, "REQUEST_HEAD_SECONDS", head)
        limits.setattr(local_server, "REQUEST_BODY_SECONDS", body)
        limits.setattr(local_server, "REQUEST_IDLE_SECONDS", idle)
        limits.setattr(local_server, "MAX_CONNECTIONS", connections)
        server = LocalServer(app.app, where)
        try:
            async with asyncio.timeout(WITHIN):
                yield place
        finally:
            app.go_on.set()
            place.close()
            await server.close()


@pytest.mark.parametrize(
    "sent", [b"", b"G", b"GET / HTTP/1.1\r\nHost: x\r\n", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "], ids=repr
)
async def test_a_head_that_does_not_come_closes_the_connection(sent: bytes) -> None:
    async with serving(head=SOON) as place:
        client = await place.connect(sent)
        assert await client.closed() == b""


async def test_a_head_that_comes_byte_by_byte_closes_the_connection() -> None:
    async with serving(head=SOON) as place:
        client = await place.connect(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        assert await client.trickle(b"a") == b""


async def test_the_second_request_of_a_connection_has_to_come_in_time_too() -> None:
    async with serving(head=SOON) as place:
        client = await place.connect(GET)
        assert "0 bytes" in await client.response()
        client.send(b"GET / HTTP/1.1\r\nHo")
        assert await client.closed() == b""


@pytest.mark.parametrize(
    ("kind", "part"), [("Content-Length: 1000000", b"a"), ("Transfer-Encoding: chunked", b"1\r\na\r\n")]
)
@pytest.mark.parametrize("trickles", [False, True])
async def test_a_missing_body_closes_the_connection_and_the_app_is_notified(
    kind: str, part: bytes, trickles: bool
) -> None:
    async with serving(body=SOON) as place:
        client = await place.connect(f"POST / HTTP/1.1\r\nHost: x\r\n{kind}\r\n\r\n".encode())
        assert await (client.trickle(part) if trickles else client.closed()) == b""
        await place.app.cut_off.wait()


async def test_a_body_that_nobody_waits_for_has_to_come_in_time_too() -> None:
    async with serving(body=SOON) as place:
        client = await place.connect(b"POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
        await client.closed()  # with its response, unless this process paused


async def test_an_idle_connection_is_closed() -> None:
    async with serving(idle=SOON) as place:
        client = await place.connect(GET)
        assert "0 bytes" in await client.response()
        assert await client.closed() == b""


async def test_a_request_that_came_in_time_may_take_as_long_as_it_needs() -> None:
    async with serving(head=SOON, body=SOON, idle=SOON) as place:
        slow = await place.connect(GET.replace(b"/ ", b"/slow ", 1))
        await place.app.busy.acquire()
        late = await place.connect()
        assert await late.closed() == b"", "so every limit has passed"
        place.app.go_on.set()
        assert "at last" in await slow.response()


async def test_beyond_the_limit_the_connection_that_waited_longest_makes_room() -> None:
    async with serving(connections=3) as place:
        first, second, third = [await place.connect(GET) for _ in range(3)]
        for each in (first, second, third):
            assert "0 bytes" in await each.response()
        second.send(GET)
        assert "0 bytes" in await second.response()
        first.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345")
        await place.app.posted.wait()
        fourth = await place.connect(GET)
        assert "0 bytes" in await fourth.response()
        assert await third.closed() == b""
        first.send(b"67890")
        assert "10 bytes" in await first.response()


async def test_a_crowd_of_silent_connections_keeps_nobody_out() -> None:
    async with serving(connections=5) as place:
        crowd = [await place.connect(b"GET / HTTP/1.1\r\n") for _ in range(30)]
        user = await place.connect(GET)
        assert "0 bytes" in await user.response()
        for each in crowd[:25]:
            assert await each.closed() == b""


async def test_if_all_connections_are_busy_the_new_one_is_closed() -> None:
    async with serving(connections=2) as place:
        busy = [await place.connect(GET.replace(b"/ ", b"/slow ", 1)) for _ in range(2)]
        for _ in busy:
            await place.app.busy.acquire()
        assert await (await place.connect(GET)).closed() == b""
        place.app.go_on.set()
        for each in busy:
            assert "at last" in await each.response()
        assert "0 bytes" in await (await place.connect(GET)).response()


NOT_HTTP = [b"\x16\x03\x01\x02\x00\r\n\r\n", GET.replace(b"Host: x\r\n", b""), GET.replace(b"x", b"a\r\nHost: b")]


@pytest.mark.parametrize("sent", NOT_HTTP, ids=["TLS", "no Host", "two Hosts"])
async def test_what_is_not_http_gets_an_error_with_our_headers(sent: bytes) -> None:
    async with serving() as place:
        client = await place.connect(sent)
        answer = (await client.closed()).decode()
        assert answer.startswith("HTTP/1.1 400 ")
        for name, value in HEADERS.items():
            assert f"{name}: {value}\r\n" in answer
