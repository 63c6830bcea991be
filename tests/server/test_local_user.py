"""Over HTTP without sign-in, a web page in the user's browser isn't the user: real servers, requests byte by byte."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
import uvicorn
from fastmcp import FastMCP
from fastmcp.server import create_proxy
from mcp.server.mcpserver import MCPServer
from mcp.server.sse import SseServerTransport
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from midcall import secret
from midcall.portal import Portal
from midcall.stores.memory import Memory
from midcall.testing import connect, fill_vault
from midcall.web.local_server import bind
from tests.auditing import Trail
from tests.kinds import Kind, server_with
from tests.server.codes import KEYS

TOKEN = "ghp_only_for_the_user_of_this_machine"
WITHIN = 30.0
OPEN = TransportSecuritySettings(enable_dns_rebinding_protection=False)
"""As someone sets it who puts a server behind a proxy."""

Headers = list[tuple[str, str]]


async def read_repo() -> str:
    return await secret("github", "A token, please.")


# --- servers -----------------------------------------------------------------------------------


def streamable(kind: Kind, **how: Any) -> Any:
    server = with_secret(kind, **how)
    stateless: dict[str, Any] = {"json_response": True, "stateless_http": True}
    if isinstance(server, FastMCP):
        return server, server.http_app(host_origin_protection=False, **stateless)
    return server, server.streamable_http_app(transport_security=OPEN, **stateless)


def fastmcp_as_it_comes() -> Any:
    server = with_secret("fastmcp")
    return server, server.http_app(json_response=True, stateless_http=True)


def sse(kind: Kind) -> Any:
    server = with_secret(kind)
    if isinstance(server, FastMCP):
        return server, server.http_app(transport="sse", host_origin_protection=False)
    return server, server.sse_app(transport_security=OPEN) if isinstance(server, MCPServer) else own_sse_app(server)


def own_sse_app(server: Any) -> Starlette:
    """A low-level server in its author's own app."""
    messages = SseServerTransport("/messages/")

    async def listen(request: Request) -> Response:
        async with messages.connect_sse(request.scope, request.receive, request._send) as (incoming, outgoing):  # pyright: ignore[reportPrivateUsage]
            await server.run(incoming, outgoing, server.create_initialization_options())
        return Response()

    return Starlette(routes=[Route("/sse", listen), Mount("/messages/", messages.handle_post_message)])


def proxied() -> Any:
    """A FastMCP server that passes calls on to one in the same process, in memory."""
    inner = with_secret("mcpserver")
    outer: FastMCP[Any] = create_proxy(inner, name="outer")
    return inner, outer.http_app(json_response=True, stateless_http=True, host_origin_protection=False)


def called_by_a_tool() -> Any:
    """A server whose tool is a client of another one in the same process."""
    inner = with_secret("lowlevel")

    async def relay() -> str:
        async with connect(inner, era="2025-11-25") as client:
            result = await client.call_tool("read_repo", {})
        return str(result.content)

    outer = server_with(relay, name="outer")
    app = outer.streamable_http_app(json_response=True, stateless_http=True, transport_security=OPEN)
    return inner, app, "relay"


def with_secret(kind: Kind, **how: Any) -> Any:
    return server_with(read_repo, kind=kind, keys=KEYS, store=Memory(), portal=Portal(), **how)


STREAMABLE: dict[str, Callable[[], Any]] = {
    "MCPServer": lambda: streamable("mcpserver"),
    "Server": lambda: streamable("lowlevel"),
    "FastMCP": lambda: streamable("fastmcp"),
    "FastMCP with defaults": fastmcp_as_it_comes,
    "behind a FastMCP proxy": proxied,
    "called by a tool": called_by_a_tool,
}
SSE: dict[str, Callable[[], Any]] = {
    "MCPServer": lambda: sse("mcpserver"),
    "Server": lambda: sse("lowlevel"),
    "FastMCP": lambda: sse("fastmcp"),
}


@dataclass
class Site:
    """A server under test, and where it listens."""

    host: str
    port: int
    tool: str

    async def call(self, headers: Headers, version: str = "HTTP/1.1") -> str:
        """The response to a call of the tool with exactly these headers."""
        body = json.dumps(tool_call(self.tool)).encode()
        return await self.send("POST /mcp", headers, body, version)

    async def send(self, line: str, headers: Headers, body: bytes, version: str = "HTTP/1.1") -> str:
        async with asyncio.timeout(WITHIN), stream(self) as (incoming, outgoing):
            outgoing.write(head(f"{line} {version}", [*headers, *CONTENT, ("Content-Length", str(len(body)))]) + body)
            return (await incoming.read()).decode()


CONTENT: Headers = [
    ("Content-Type", "application/json"),
    ("Accept", "application/json, text/event-stream"),
    ("Connection", "close"),
]


def head(line: str, headers: Headers) -> bytes:
    return "".join([f"{line}\r\n", *(f"{name}: {value}\r\n" for name, value in headers), "\r\n"]).encode("latin-1")


def tool_call(tool: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": {}}}


@asynccontextmanager
async def serving(make: Callable[[], Any], *, host: str = "127.0.0.1") -> AsyncGenerator[Site]:
    """This server over HTTP, on a free port, with the user's secret in its vault."""
    server, app, *more = make()
    await fill_vault(server, secrets={"github": TOKEN})
    where = bind(host, 0)
    listening = uvicorn.Server(uvicorn.Config(app, http="h11", log_level="critical", timeout_graceful_shutdown=1))
    task = asyncio.create_task(listening.serve(sockets=[where]))
    try:
        async with asyncio.timeout(WITHIN):
            while not listening.started:
                await asyncio.sleep(0)
        yield Site(host, where.getsockname()[1], more[0] if more else "read_repo")
    finally:
        listening.should_exit = True
        await task


# --- what a client of this user sends ------------------------------------------------------------

OWN: dict[str, Headers] = {
    "127.0.0.1": [("Host", "127.0.0.1:{port}")],
    "another loopback address": [("Host", "127.0.0.2:{port}")],
    "localhost": [("Host", "localhost:{port}")],
    "upper case": [("HOST", "LocalHost:{port}")],
    "the full name": [("Host", "localhost.:{port}")],
    "no port": [("Host", "localhost")],
    "IPv6": [("Host", "[::1]:{port}")],
    "a page on this machine": [("Host", "localhost:{port}"), ("Origin", "http://localhost:6274")],
    "its own page": [("Host", "[::1]:{port}"), ("Origin", "http://[::1]:{port}"), ("Sec-Fetch-Site", "same-origin")],
    "a page on another port": [
        ("Host", "localhost:{port}"),
        ("Origin", "https://LOCALHOST:6274"),
        ("Sec-Fetch-Site", "same-site"),
    ],
}

# --- what a web page sends, or someone who pretends ------------------------------------------------

HOME = ("Host", "127.0.0.1:{port}")
FOREIGN: dict[str, Headers] = {
    "a rebound name": [("Host", "evil.example:{port}"), ("Origin", "http://evil.example:{port}")],
    "a rebound name, no origin": [("Host", "evil.example:{port}")],
    "a rebound name, same origin": [("Host", "evil.example:{port}"), ("Sec-Fetch-Site", "same-origin")],
    "a name that begins like loopback": [("Host", "localhost.evil.example:{port}")],
    "a name that ends like loopback": [("Host", "evil-localhost:{port}")],
    "a name below localhost": [("Host", "evil.localhost:{port}")],
    "an address in a name": [("Host", "127.0.0.1.evil.example:{port}")],
    "an address in another spelling": [("Host", "127.1:{port}")],
    "an address as a number": [("Host", "2130706433:{port}")],
    "any address": [("Host", "0.0.0.0:{port}")],
    "any IPv6 address": [("Host", "[::]:{port}")],
    "an address of the network": [("Host", "192.168.1.20:{port}")],
    "a user name": [("Host", "localhost@evil.example:{port}")],
    "a user name and loopback": [("Host", "evil.example@localhost:{port}")],
    "a password": [("Host", "localhost:80@evil.example")],
    "a path": [("Host", "localhost/evil.example")],
    "a query": [("Host", "localhost?evil.example")],
    "two names": [("Host", "localhost, evil.example")],
    "other digits": [("Host", "127.0.0.\xb9:{port}")],
    "two dots": [("Host", "localhost..:{port}")],
    "a zone": [("Host", "[::1%lo]:{port}")],
    "nothing": [("Host", "")],
    "a port alone": [("Host", ":{port}")],
    "a foreign origin": [HOME, ("Origin", "https://evil.example")],
    "a sandboxed page": [HOME, ("Origin", "null")],
    "an empty origin": [HOME, ("Origin", "")],
    "a file": [HOME, ("Origin", "file://")],
    "an extension": [HOME, ("Origin", "chrome-extension://abcdefghijklmnop")],
    "a user name in the origin": [HOME, ("Origin", "http://localhost@evil.example")],
    "an origin with a path": [HOME, ("Origin", "http://localhost/evil.example")],
    "an origin without a scheme": [HOME, ("Origin", "localhost")],
    "two origins": [HOME, ("Origin", "http://localhost"), ("Origin", "https://evil.example")],
    "two origins in one": [HOME, ("Origin", "http://localhost https://evil.example")],
    "another site": [HOME, ("Sec-Fetch-Site", "cross-site")],
    "another site with two headers": [HOME, ("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Site", "cross-site")],
    "a tunnel": [HOME, ("CF-Connecting-IP", "203.0.113.5")],
    "a proxy": [HOME, ("X-Forwarded-Proto", "https")],
}


def at(headers: Headers, port: int) -> Headers:
    return [(name, value.replace("{port}", str(port))) for name, value in headers]


@pytest.mark.parametrize("server", STREAMABLE)
async def test_the_user_of_this_machine_gets_their_secret(server: str) -> None:
    async with serving(STREAMABLE[server]) as site:
        for what, headers in OWN.items():
            if server != "FastMCP with defaults" or what in ("127.0.0.1", "localhost", "IPv6"):
                assert TOKEN in await site.call(at(headers, site.port)), what
        assert TOKEN in await site.call(at([HOME], site.port), "HTTP/1.0")


@pytest.mark.parametrize("server", STREAMABLE)
async def test_a_web_page_and_what_looks_like_one_get_no_secret(server: str) -> None:
    async with serving(STREAMABLE[server]) as site:
        for what, headers in FOREIGN.items():
            answer = await site.call(at(headers, site.port))
            assert answer.startswith("HTTP/1.1 "), what
            assert TOKEN not in answer, what
            assert "/i/" not in answer, f"{what}: nobody is sent to a page"
        assert TOKEN not in await site.call([], "HTTP/1.0"), "no Host at all"
        assert TOKEN in await site.call(at([HOME], site.port)), "the same server still serves its user"


async def test_a_caller_who_only_looks_local_is_in_the_audit_trail_once() -> None:
    trail = Trail()
    async with serving(lambda: streamable("mcpserver", audit=trail.audit)) as site:
        for what in ("a rebound name", "a foreign origin", "another site", "a tunnel", "the user"):
            await site.call(at(FOREIGN.get(what, [HOME]), site.port))
    outcomes = [event.outcome for event in await trail.events("caller.refused")]
    assert outcomes == ["host", "origin", "site", "connection"]


@pytest.mark.parametrize("server", ["MCPServer", "Server", "FastMCP"])
async def test_several_host_headers_or_none_are_not_the_users(server: str) -> None:
    def passed_on() -> Any:
        made, app, *_ = STREAMABLE[server]()
        return made, LikeOtherServers(app)

    async with serving(passed_on) as site:
        for other in ("evil.example", "127.0.0.1"):
            for hosts in (f"127.0.0.1:{site.port} {other}", f"{other} 127.0.0.1:{site.port}"):
                refused = await site.call([("Host", "127.0.0.1"), ("X-Hosts", hosts)])
                assert "would have to do this on a web page" in refused
        assert "would have to do this on a web page" in await site.call([("Host", "127.0.0.1"), ("X-Hosts", "")])
        assert TOKEN in await site.call([("Host", "127.0.0.1"), ("X-Hosts", f"127.0.0.1:{site.port}")])


class LikeOtherServers:
    """Has the Host headers that `X-Hosts` lists: uvicorn with h11 refuses two, and none; others pass them on."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            [listed] = [value for name, value in scope["headers"] if name == b"x-hosts"]
            rest = [(name, value) for name, value in scope["headers"] if name not in (b"host", b"x-hosts")]
            scope = {**scope, "headers": [*((b"host", host) for host in listed.split()), *rest]}
        await self._app(scope, receive, send)


@pytest.mark.parametrize("server", STREAMABLE)
async def test_over_ipv6_it_is_the_same(server: str) -> None:
    async with serving(STREAMABLE[server], host="::1") as site:
        assert TOKEN in await site.call(at([("Host", "[::1]:{port}")], site.port))
        assert TOKEN not in await site.call(at(FOREIGN["a rebound name"], site.port))


@pytest.mark.parametrize("server", SSE)
async def test_over_sse_it_is_the_same(server: str) -> None:
    async with serving(SSE[server]) as site:
        assert TOKEN in await over_sse(site, OWN["localhost"])
        for what in ("a rebound name", "a foreign origin", "a sandboxed page", "another site", "a tunnel"):
            assert TOKEN not in await over_sse(site, FOREIGN[what]), what


async def over_sse(site: Site, headers: Headers) -> str:
    """What the tool returns to a client that listens and posts with these headers.

    Like a browser, it keeps the connection that it posts on: the kernel knows its user as long as it's open.
    """
    headers, answer = at(headers, site.port), ""
    async with asyncio.timeout(WITHIN), stream(site) as (events, listen), stream(site) as (responses, post):
        listen.write(head("GET /sse HTTP/1.1", [*headers, ("Accept", "text/event-stream")]))
        path = await event(events)
        for message in (INITIALIZE, INITIALIZED, tool_call(site.tool)):
            body = json.dumps(message).encode()
            more = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
            post.write(head(f"POST {path} HTTP/1.1", [*headers, *more]) + body)
            assert (await responses.readuntil(b"\r\n")).startswith(b"HTTP/1.1 202")
            await responses.readuntil(b"Accepted")
            answer = await event(events) if "id" in message else ""
    return answer


@asynccontextmanager
async def stream(site: Site) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    incoming, outgoing = await asyncio.open_connection(site.host, site.port)
    try:
        yield incoming, outgoing
    finally:
        outgoing.close()


async def event(incoming: asyncio.StreamReader) -> str:
    """The data of the next event."""
    while True:
        line = (await incoming.readuntil(b"\n")).decode()
        if line.startswith("data: "):
            return line.removeprefix("data: ").strip()


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


async def test_the_log_says_once_why_a_call_is_not_the_users(caplog: pytest.LogCaptureFixture) -> None:
    async with serving(STREAMABLE["Server"]) as site:
        for host in ("evil.example", "worse.example"):
            await site.call([("Host", host)])
        await site.call(at(FOREIGN["a foreign origin"], site.port))
    lines = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    [host, origin] = [line for line in lines if "does not count as this machine's user" in line]
    assert "its Host header is 'evil.example'" in host
    assert "its Origin header is 'https://evil.example'" in origin
    assert "use http://127.0.0.1 or http://localhost" in host
