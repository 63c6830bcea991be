"""A round-robin proxy in front of replicas that records which replica served what."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from midcall.web.local_server import LocalServer, bind

METHODS = ["GET", "POST", "DELETE"]
ITS_OWN = {"connection", "keep-alive", "transfer-encoding", "content-length", "date", "server"}


@dataclass(frozen=True)
class Served:
    method: str
    path: str
    by: int


class Proxy:
    """Takes turns. Skips a replica that doesn't answer; one that dies while answering gives a 502.

    Args:
        url: Its public URL.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.replicas: Sequence[str] = ()
        self.served: list[Served] = []
        self.turn = 0
        self._news = asyncio.Condition()
        # Not a client: that would keep one browser's cookies and send them for another.
        self._wire = httpx2.AsyncHTTPTransport(limits=httpx2.Limits(max_keepalive_connections=0))
        self._all_else = Route("/{path:path}", self._pass_on, methods=METHODS)
        self.app = Starlette(routes=[self._all_else])

    def serve(self, path: str, app: ASGIApp) -> None:
        """Serve this path from something other than the replicas."""
        self.app.router.routes[:] = [Mount(path, app), self._all_else]

    async def met(self, method: str, path: str, times: int = 1) -> list[Served]:
        """Wait for this many requests like this one. Returns the replicas that served, or are serving, them."""
        found: list[Served] = []

        def enough() -> bool:
            found[:] = [each for each in self.served if each.method == method and each.path.startswith(path)]
            return len(found) >= times

        async with asyncio.timeout(30), self._news:
            await self._news.wait_for(enough)
        return found

    async def close(self) -> None:
        await self._wire.aclose()

    async def _pass_on(self, request: Request) -> Response:
        body = await request.body()
        for _ in self.replicas:
            number = self.turn % len(self.replicas)
            self.turn += 1
            try:
                return await self._from(number, request, body)
            except httpx2.ConnectError:
                continue
            except httpx2.TransportError:
                return PlainTextResponse("A replica has died.", 502)
        return PlainTextResponse("No replica answers.", 502)

    async def _from(self, number: int, request: Request, body: bytes) -> Response:
        headers = [(name, value) for name, value in request.headers.items() if name not in ITS_OWN]
        url = f"{self.replicas[number]}{request.url.path}" + (f"?{request.url.query}" if request.url.query else "")
        asked = httpx2.Request(request.method, url, content=body, headers=headers)

        async def watch(event: str, _: object) -> None:
            if event == "http11.send_request_body.complete":  # from here on, the replica has it
                await self._note(Served(request.method, request.url.path, number))

        asked.extensions["trace"] = watch
        answer = await self._wire.handle_async_request(asked)
        kept = [(name, value) for name, value in answer.headers.multi_items() if name.lower() not in ITS_OWN]
        response = StreamingResponse(_whole(answer), answer.status_code)
        response.raw_headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in kept]
        return response

    async def _note(self, served: Served) -> None:
        async with self._news:
            self.served.append(served)
            self._news.notify_all()


async def _whole(answer: httpx2.Response) -> AsyncIterator[bytes]:
    """Stream the response. If the replica dies, the browser or client sees the connection end."""
    try:
        async for chunk in answer.aiter_raw():
            yield chunk
    finally:
        await answer.aclose()


@asynccontextmanager
async def proxy() -> AsyncGenerator[Proxy]:
    """A proxy that listens on loopback, without replicas yet."""
    where = bind("127.0.0.1", 0)
    found = Proxy(f"http://127.0.0.1:{where.getsockname()[1]}")
    listening = LocalServer(found.app, where)
    try:
        yield found
    finally:
        await listening.close()
        await found.close()
