"""A client in plain JSON-RPC, over stdio or HTTP, on any version: what a test sends is what the server gets.

It notes on which stream each message came: that of a request, or the standalone one.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import httpx2

from tests.serving import environment, serving
from tests.warm import PYTHON

Transport = Literal["stdio", "HTTP"]
Answer = Callable[[dict[str, Any]], Mapping[str, Any]]
MODERN = "2026-07-28"
SECONDS = 20.0
META = "io.modelcontextprotocol/"


def agree(params: dict[str, Any]) -> Mapping[str, Any]:
    """Says yes to everything at once, as some hosts do."""
    return {"action": "accept"}


class Plain:
    """One client. `streams` has what the server sent, besides responses, by stream."""

    def __init__(self, version: str, elicitation: Mapping[str, Any] | None, answer: Answer) -> None:
        self.version = version
        self.asked: list[dict[str, Any]] = []
        self.results: list[dict[str, Any]] = []
        """Every response to a call, as it came."""
        self.streams: dict[str, list[dict[str, Any]]] = {}
        self._capabilities: dict[str, Any] = {} if elicitation is None else {"elicitation": dict(elicitation)}
        self._answer = answer
        self._ids = itertools.count(1)
        self._came = asyncio.Condition()
        self._waiting: dict[Any, asyncio.Future[dict[str, Any]]] = {}

    async def begin(self) -> None:
        if self.version != MODERN:
            info = {"name": "plain", "version": "1"}
            params = {"protocolVersion": self.version, "capabilities": self._capabilities, "clientInfo": info}
            done = await self.send("initialize", params)
            assert done["result"]["protocolVersion"] == self.version, done
            await self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def once(self, tool: str, arguments: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        """One request of a call, and its response."""
        params: dict[str, Any] = {"name": tool, "arguments": dict(arguments or {}), **more}
        if self.version == MODERN:
            params["_meta"] = {
                f"{META}protocolVersion": self.version,
                f"{META}clientInfo": {"name": "plain", "version": "1"},
                f"{META}clientCapabilities": self._capabilities,
            }
        done = await self.send("tools/call", params)
        self.results.append(done)
        return done

    async def call(self, tool: str, arguments: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """A whole call with all its rounds, however many, and its last response."""
        more: dict[str, Any] = {}
        while True:
            done = await self.once(tool, arguments, **more)
            result = done.get("result", {})
            if result.get("resultType") != "input_required":
                return done
            more = self.retry(result)

    def retry(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """What the next request brings: the state, and an answer to each question."""
        answers = {key: self.answer(each["params"]) for key, each in result["inputRequests"].items()}
        return {"requestState": result["requestState"], **({"inputResponses": answers} if answers else {})}

    def answer(self, params: dict[str, Any]) -> Mapping[str, Any]:
        self.asked.append(params)
        return self._answer(params)

    async def came(self, stream: str, method: str) -> dict[str, Any]:
        """The first message with this method on this stream, when it has come."""
        async with asyncio.timeout(SECONDS), self._came:
            while True:
                for message in self.streams.get(stream, ()):
                    if message["method"] == method:
                        return message
                await self._came.wait()

    async def take(self, stream: str, message: dict[str, Any]) -> None:
        """Note a message of the server, and answer it if it's a question."""
        async with self._came:
            self.streams.setdefault(stream, []).append(message)
            self._came.notify_all()
        if "id" in message:
            result = self.answer(message["params"])
            await self.post({"jsonrpc": "2.0", "id": message["id"], "result": dict(result)})

    async def send(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """The response to a request."""
        raise NotImplementedError

    async def post(self, message: Mapping[str, Any]) -> None:
        """Send what has no response."""
        raise NotImplementedError


class OverStdio(Plain):
    """Everything comes on one stream, which is called `stdio`."""

    process: asyncio.subprocess.Process

    async def read(self) -> None:
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            message = json.loads(line)
            if "method" in message:
                await self.take("stdio", message)
            else:
                self._waiting.pop(message["id"]).set_result(message)

    async def send(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        id = next(self._ids)
        self._waiting[id] = waiting = asyncio.get_running_loop().create_future()
        await self.post({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        async with asyncio.timeout(SECONDS):
            return await waiting

    async def post(self, message: Mapping[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        await self.process.stdin.drain()


class OverHttp(Plain):
    """Each request has a stream, called by its method and tool; the standalone one is called `GET`."""

    http: httpx2.AsyncClient
    url: str
    session: str | None = None

    def headers(self, message: Mapping[str, Any]) -> dict[str, str]:
        headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": self.version}
        if self.session is not None:
            headers["mcp-session-id"] = self.session
        if self.version == MODERN:
            headers |= {"mcp-method": message["method"], "mcp-name": message["params"].get("name", "")}
        return headers

    async def send(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params}
        stream = f"{method} {params['name']}" if "name" in params else method
        async with (
            asyncio.timeout(SECONDS),
            self.http.stream("POST", self.url, json=message, headers=self.headers(message)) as response,
        ):
            self.session = response.headers.get("mcp-session-id", self.session)
            if "text/event-stream" not in response.headers["content-type"]:
                return json.loads(await response.aread())
            async for found in _events(response):
                if "method" not in found:
                    return found
                await self.take(stream, found)
        raise AssertionError(f"no response to {method}")

    async def post(self, message: Mapping[str, Any]) -> None:
        (await self.http.post(self.url, json=dict(message), headers=self.headers(message))).raise_for_status()

    async def listen(self, listening: asyncio.Event) -> None:
        """Read the standalone stream."""
        async with self.http.stream("GET", self.url, headers=self.headers({})) as response:
            response.raise_for_status()
            listening.set()
            async for found in _events(response):
                await self.take("GET", found)


async def _events(response: httpx2.Response) -> AsyncGenerator[dict[str, Any]]:
    async for line in response.aiter_lines():
        if line.startswith("data:") and line[5:].strip():
            yield json.loads(line[5:])


@asynccontextmanager
async def plain(
    transport: Transport,
    script: Path,
    log: Path,
    version: str,
    elicitation: Mapping[str, Any] | None,
    answer: Answer = agree,
    **env: str,
) -> AsyncGenerator[Any]:
    """Such a client, connected to this server script, which logs to this file."""
    if transport == "stdio":
        client = OverStdio(version, elicitation, answer)
        async with _stdio(client, script, log, env):
            yield client
        return
    with serving(script, log, **env) as url:
        async with httpx2.AsyncClient(timeout=SECONDS) as http:
            over_http = OverHttp(version, elicitation, answer)
            over_http.http, over_http.url = http, url
            await over_http.begin()
            yield over_http


@asynccontextmanager
async def _stdio(client: OverStdio, script: Path, log: Path, env: Mapping[str, str]) -> AsyncGenerator[None]:
    pipe = asyncio.subprocess.PIPE
    with log.open("w") as errors:
        client.process = await asyncio.create_subprocess_exec(
            *PYTHON, str(script), stdin=pipe, stdout=pipe, stderr=errors, env=environment(**env), limit=1 << 22
        )
        reading = asyncio.create_task(client.read())
        try:
            await client.begin()
            yield
        finally:
            assert client.process.stdin is not None
            client.process.stdin.close()
            async with asyncio.timeout(SECONDS):
                await client.process.wait()
            reading.cancel()
            with suppress(asyncio.CancelledError):
                await reading


@asynccontextmanager
async def listening(client: Any) -> AsyncGenerator[None]:
    """Read the standalone stream of a client over HTTP meanwhile. Over stdio there is nothing more to read."""
    if not isinstance(client, OverHttp):
        yield
        return
    ready = asyncio.Event()
    reading = asyncio.create_task(client.listen(ready))
    try:
        async with asyncio.timeout(SECONDS):
            await ready.wait()
        yield
    finally:
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading
