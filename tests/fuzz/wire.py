"""A hostile client: raw messages to a real server, over stdio and streamable HTTP, on every version.

In a message, `$STATE`, `$KEY`, `$ASKED` and `$CODE` stand for what the server sent last: the state of the call, the
key of its question, the id of its request, and a resume code. So a conversation gets far, and a failing one can be
pasted into a test.
"""

from __future__ import annotations

import asyncio
import json
import socket
from base64 import urlsafe_b64decode
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from random import Random
from typing import Any, Final

from fastmcp import FastMCP
from mcp.server import MCPServer
from mcp.server.lowlevel.server import Server
from mcp.server.mcpserver import Context
from mcp.server.stdio import stdio_server
from pydantic import BaseModel

import midcall
from midcall import Question, approve, ask, ask_all, choose, confirm, once, secret, visit
from midcall.portal import Portal
from midcall.protocol import CODE, NEWEST, VERSIONS
from midcall.server.resuming import visits
from midcall.stores.memory import Memory
from midcall.testing import fill_vault
from tests.fuzz.fuzzer import CANARY, REJECTED, Finding, Take, Target, check_output
from tests.fuzz.mutation import PIECES, mutate_data, mutate_text

KEY: Final = "a key for fuzzing that is long enough"
SETUPS: Final = ("bare", "store", "fastmcp")
USED: Final = "done with the secret"
INTERNAL: Final = -32603
"""What 500 is in HTTP."""


# --- the servers -------------------------------------------------------------------------------


async def book(destination: str) -> str:
    days = await ask("How many days will you stay?", int)
    seat = await choose("Where do you like to sit?", {"w": "At the window", "a": "On the aisle"})
    if not await confirm(f"Book {days} days in {destination[:50]}?"):
        return "Nothing was booked."
    return await once("charge", lambda: f"{days} {seat}")


async def both() -> str:
    return str(await ask_all(Question("A number?", int), Question("A word?", str)))


async def token() -> str:
    """Uses a secret that the user has entered before, and doesn't return it."""
    found = await secret("github", "A token, to read your repositories.")
    return USED if found == CANARY else "done with another one"


async def enter() -> str:
    return f"done with {len(await secret('fresh', 'Another token.'))} characters"


async def pay(to: str = "ACME") -> str:
    return str(await approve("Pay this invoice", {"to": str(to)[:50], "amount": 40}))


async def connect() -> str:
    return str(await visit("Connect your calendar.", "https://example.com/connect"))


class Word(BaseModel):
    word: str


async def elicits(ctx: Context) -> str:
    answer: Any = await ctx.elicit("A word?", Word)
    return str(answer.action)


TOOLS: Final = (book, both, token, enter, pay, connect)


@asynccontextmanager
async def open_server(setup: str) -> AsyncIterator[Any]:
    """A server with these tools; all but the bare one have a store, a portal, and a secret in the vault."""
    server: Any = FastMCP("fuzzed") if setup == "fastmcp" else MCPServer("fuzzed", log_level="CRITICAL")
    for tool in TOOLS:
        server.tool(tool) if setup == "fastmcp" else server.add_tool(tool)
    if setup != "fastmcp":
        server.add_tool(elicits)
    options: dict[str, Any] = {} if setup == "bare" else {"store": Memory(), "portal": Portal(), "relay": True}
    installation = midcall.install(server, keys=KEY, **options)
    if setup != "bare":
        await fill_vault(server, secrets={"github": CANARY})
    held = {name: value for name, value in vars(visits).items() if name.endswith("HOLD_SECONDS")}
    vars(visits).update(dict.fromkeys(held, 0.001))  # nobody comes to the pages
    try:
        yield server
    finally:
        vars(visits).update(held)
        await installation.close()


def lowlevel(server: Any) -> Server[Any]:
    return server._mcp_server if isinstance(server, FastMCP) else server._lowlevel_server


# --- messages ----------------------------------------------------------------------------------

CAPABILITIES: Final = (
    {"elicitation": {"form": {}, "url": {}}},
    {"elicitation": {}},
    {"elicitation": {"url": {}}},
    {},
    {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}},
)
CALLS: Final = (
    {"name": "book", "arguments": {"destination": "Oslo"}},
    {"name": "book", "arguments": {"destination": "Oslo"}},
    {"name": "both", "arguments": {}},
    {"name": "token"},
    {"name": "enter"},
    {"name": "pay", "arguments": {"to": "ACME"}},
    {"name": "connect"},
    {"name": "elicits"},
    {"name": "midcall_continue", "arguments": {"code": "$CODE"}},
    {"name": "midcall_answer", "arguments": {"code": "$CODE", "action": "accept", "content": {"answer": 4}}},
    {"name": "midcall_app", "arguments": {"action": "find"}},
)
CONTENTS: Final = (
    {"action": "accept", "content": {"answer": 4}},
    {"action": "accept", "content": {"answer": "w"}},
    {"action": "accept", "content": {"answer": True}},
    {"action": "accept", "content": {"word": "x"}},
    {"action": "accept"},
    {"action": "decline"},
    {"action": "cancel"},
)
OTHERS: Final = (
    {"method": "tools/list", "params": {}},
    {"method": "resources/list", "params": {}},
    {"method": "resources/read", "params": {"uri": "ui://midcall/form"}},
    {"method": "notifications/cancelled", "params": {"requestId": 1, "reason": "x"}},
    {"method": "notifications/progress", "params": {"progressToken": 1, "progress": 0.5}},
    {"method": "completion/complete", "params": {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {}}},
    {"method": "logging/setLevel", "params": {"level": "debug"}},
)


def make_message(random: Random, version: str, capabilities: Any) -> dict[str, Any]:
    """A valid message of a client in the middle of a conversation."""
    modern = version == NEWEST
    kind = random.randrange(10)
    call = dict(random.choice(CALLS))
    if kind < 5:
        message: dict[str, Any] = {"method": "tools/call", "params": call}
    elif kind < 8 and modern:
        call = dict(random.choice(CALLS[:8]))
        again = {"inputResponses": {"$KEY": random.choice(CONTENTS)}, "requestState": "$STATE"}
        message = {"method": "tools/call", "params": {**call, **again}}
    elif kind < 8:
        return {"jsonrpc": "2.0", "id": "$ASKED", "result": random.choice(CONTENTS)}
    else:
        message = dict(random.choice(OTHERS))
    if modern and "params" in message:
        message["params"] = {**message["params"], "_meta": _meta(version, capabilities)}
    elif not random.randrange(4):
        message["params"] = {**message["params"], "_meta": {"midcall/retries": 2, CODE: "$CODE", "progressToken": 7}}
    if not message["method"].startswith("notifications/"):
        message["id"] = random.choice((1, 2, 3, "a"))
    return {"jsonrpc": "2.0", **message}


def _meta(version: str, capabilities: Any) -> dict[str, Any]:
    prefix = "io.modelcontextprotocol/"
    info = {"name": "fuzz", "version": "1"}
    return {
        f"{prefix}protocolVersion": version,
        f"{prefix}clientInfo": info,
        f"{prefix}clientCapabilities": capabilities,
    }


def _write(random: Random, message: Any) -> str:
    """The message as a line, mutated as data, and sometimes as text."""
    message = mutate_data(random, message) if random.randrange(2) else message
    line = json.dumps(message, ensure_ascii=bool(random.randrange(2)))
    return line if random.randrange(8) else mutate_text(random, line)


def make_conversation(random: Random) -> tuple[str, str, list[str]]:
    """The server, the version, and the lines that a client sends after the handshake."""
    version, capabilities = random.choice(VERSIONS), random.choice(CAPABILITIES)
    opening = [_initialize(version, capabilities)] if version != NEWEST else []
    if random.randrange(10):
        lines = [json.dumps(each) for each in opening]
    else:
        lines = [_write(random, each) for each in opening]
    if opening:
        lines.append('{"jsonrpc":"2.0","method":"notifications/initialized"}')
    lines += [_write(random, make_message(random, version, capabilities)) for _ in range(random.randint(3, 10))]
    return random.choice(SETUPS), version, lines


def _initialize(version: str, capabilities: Any) -> dict[str, Any]:
    info = {"name": "fuzz", "version": "1"}
    params = {"protocolVersion": version, "capabilities": capabilities, "clientInfo": info}
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}


class Seen:
    """What the server sent last, for the next message."""

    def __init__(self) -> None:
        self.last = {"$STATE": "none", "$KEY": "none", "$ASKED": "none", "$CODE": "none"}
        self.reached: list[str] = []

    def fill_in(self, line: str) -> str:
        """The line with the placeholders replaced."""
        if self.last["$ASKED"].isdigit():
            line = line.replace('"$ASKED"', self.last["$ASKED"])
        for name, value in self.last.items():
            line = line.replace(name, json.dumps(value)[1:-1])
        return line

    def note(self, text: str) -> None:
        """Learn from a message of the server, and check that it shows nothing that it mustn't."""
        check_output(text)
        message = json.loads(text)
        if not isinstance(message, dict):
            return
        result: Any = message.get("result") or {}
        if message.get("error", {}).get("code") == INTERNAL:
            raise Finding(f"an internal error: {text[:1000]}")
        if "method" in message and "id" in message:
            self.last["$ASKED"] = str(message["id"])
            self.reached.append("pushed")
        if "requestState" in result:
            self.last["$STATE"] = result["requestState"]
            self.last["$KEY"] = next(iter(result.get("inputRequests") or {}), "none")
            self.reached.append("round")
        elif "content" in result:
            done = "used a secret" if USED in text else "done"
            self.reached.append("failed call" if result.get("isError") else done)
        elif result and "ping" not in str(message.get("id")):
            self.reached.append("answered")
        code = (result.get("_meta") or {}).get(CODE)
        if isinstance(code, str):
            self.last["$CODE"] = code
            self.reached.append("code")


# --- over stdio --------------------------------------------------------------------------------


class Lines:
    """The standard input of a server: lines, as they are sent."""

    def __init__(self) -> None:
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()

    def send(self, line: str | None) -> None:
        for each in (None,) if line is None else line.split("\n"):
            self._lines.put_nowait(each)

    def __aiter__(self) -> Lines:
        return self

    async def __anext__(self) -> str:
        line = await self._lines.get()
        if line is None:
            raise StopAsyncIteration
        return f"{line}\n".encode("utf-8", "replace").decode()


class Output:
    """Its standard output, checked as it's written."""

    def __init__(self, seen: Seen) -> None:
        self._seen = seen
        self.failure: Exception | None = None
        self._pings: dict[str, asyncio.Event] = {}

    def expect(self, ping: str) -> asyncio.Event:
        return self._pings.setdefault(ping, asyncio.Event())

    async def write(self, text: str) -> None:
        try:
            self._seen.note(text)
        except Exception as error:
            self.failure = error
        for ping, event in self._pings.items():
            if f'"{ping}"' in text:
                event.set()

    async def flush(self) -> None:
        pass


@asynccontextmanager
async def _open_stdio() -> AsyncIterator[Take]:
    async with AsyncExitStack() as stack:
        servers = {setup: await stack.enter_async_context(open_server(setup)) for setup in SETUPS}
        managers = getattr(servers["fastmcp"], "_lifespan_manager", None)
        if managers is not None:
            await stack.enter_async_context(managers())

        async def take(made: tuple[str, str, list[str]]) -> list[str]:
            setup, version, lines = made
            seen = Seen()
            written, shown = Lines(), Output(seen)
            async with stdio_server(written, shown) as (read, write):  # pyright: ignore[reportArgumentType]
                server = lowlevel(servers[setup])
                running = asyncio.create_task(server.run(read, write, server.create_initialization_options()))
                reached: list[str] = []
                for number, line in enumerate(lines):
                    before = len(seen.reached)
                    written.send(seen.fill_in(line))
                    await _ping(written, shown, version, number, running)
                    reached.append(seen.reached[before] if len(seen.reached) > before else REJECTED)
                written.send(None)
                await running
            if shown.failure is not None:
                raise shown.failure
            return reached

        yield take


async def _ping(written: Lines, shown: Output, version: str, number: int, running: asyncio.Task[None]) -> None:
    """The server still answers, and everything before has begun."""
    ping = f"ping {number}"
    event = shown.expect(ping)
    params = {"_meta": _meta(version, {})} if version == NEWEST else {}
    written.send(json.dumps({"jsonrpc": "2.0", "id": ping, "method": "ping", "params": params}))
    waiting = asyncio.create_task(event.wait())
    await asyncio.wait([waiting, running], return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if not event.is_set():
        raise Finding("the connection is gone")
    for _ in range(30):  # let tools that were called get to their questions
        await asyncio.sleep(0)


# --- states and codes --------------------------------------------------------------------------


def make_edit(random: Random) -> tuple[str, int]:
    """What to do with a state or a code: an edit, and a seed for it."""
    kinds = ("flip", "flip", "text", "text", "cut", "swap", "twice", "flood", "other tool", "other arguments", "none")
    return random.choice(kinds), random.randrange(2**32)


def edit(kind: str, seed: int, state: str, other: str) -> str:
    """The state, edited."""
    random = Random(seed)
    match kind:
        case "flip":
            at = random.randrange(len(state))
            return state[:at] + random.choice("ABCxyz019-_.=") + state[at + 1 :]
        case "text":
            return mutate_text(random, state, [other])
        case "cut":
            return state[: random.randrange(len(state))]
        case "swap":
            at = random.randrange(len(state))
            return state[:at] + other[at:]
        case "twice":
            return state + state
        case "flood":
            return state + random.choice(PIECES) * random.choice((1_000, 5_000))
        case _:
            return state


def sendable(text: str) -> str:
    """The SDK doesn't answer a message with half a character: it isn't JSON."""
    return text.encode("utf-8", "replace").decode()


class Calling:
    """A client on 2026-07-28 whose requests have a response each."""

    def __init__(self, written: Lines, answers: Answers) -> None:
        self._written = written
        self._answers = answers
        self._count = 0

    async def call(self, capabilities: Any = CAPABILITIES[0], **params: Any) -> dict[str, Any]:
        self._count += 1
        params["_meta"] = _meta(NEWEST, capabilities)
        message = {"jsonrpc": "2.0", "id": self._count, "method": "tools/call", "params": params}
        future = self._answers.expect(self._count)
        self._written.send(json.dumps(message))
        return await future


class Answers:
    """Standard output, for a client that reads each response first."""

    def __init__(self) -> None:
        self._expected: dict[Any, asyncio.Future[dict[str, Any]]] = {}

    def expect(self, id: int) -> asyncio.Future[dict[str, Any]]:
        return self._expected.setdefault(id, asyncio.get_running_loop().create_future())

    async def write(self, text: str) -> None:
        message = json.loads(text)
        if (future := self._expected.pop(message.get("id"), None)) is not None:
            try:
                check_output(text)
                future.set_result(message)
            except Finding as finding:
                future.set_exception(finding)

    async def flush(self) -> None:
        pass


@asynccontextmanager
async def _calling(setup: str) -> AsyncIterator[Calling]:
    written, answers = Lines(), Answers()
    async with open_server(setup) as made, stdio_server(written, answers) as (read, write):  # pyright: ignore[reportArgumentType]
        server = lowlevel(made)
        running = asyncio.create_task(server.run(read, write, server.create_initialization_options()))
        yield Calling(written, answers)
        written.send(None)
        await running


@asynccontextmanager
async def _open_states() -> AsyncIterator[Take]:
    async with _calling("bare") as client:

        async def take(made: tuple[str, int]) -> str:
            kind, seed = made
            arguments = {"destination": "Oslo"}
            first = (await client.call(name="book", arguments=arguments))["result"]
            other = (await client.call(name="book", arguments={"destination": "Rome"}))["result"]
            state = sendable(edit(kind, seed, first["requestState"], other["requestState"]))
            responses = {key: {"action": "accept", "content": {"answer": 4}} for key in first["inputRequests"]}
            called: dict[str, Any] = {"name": "book", "arguments": arguments}
            if kind == "other tool":
                called = {"name": "both", "arguments": arguments}
            elif kind == "other arguments":
                called = {"name": "book", "arguments": {"destination": "Oslp"}}
            done = await client.call(**called, requestState=state, inputResponses=responses)
            original, own = first["requestState"], called == {"name": "book", "arguments": arguments}
            continued = "result" in done and not done["result"].get("isError")
            if own and state != original and _says_the_same(state, original):
                return "continued" if continued else "refused"  # as strict as the codec is
            same = own and state == original
            if same != continued:
                raise Finding(f"a state that was {'not ' if same else ''}changed came to {json.dumps(done)[:1000]}")
            if not same and done.get("error", {}).get("code") != -32602 and state.startswith("midcall."):
                raise Finding(f"a changed state was not refused as one: {json.dumps(done)[:1000]}")
            return "continued" if same else "refused"

        yield take


def _says_the_same(one: str, other: str) -> bool:
    """Whether both say the same, although spelled differently: the last character of base64 has unused bits."""
    try:
        first, second = (urlsafe_b64decode(each.rpartition(".")[2] + "==") for each in (one, other))
    except ValueError:
        return False
    return first == second and one.rpartition(".")[0] == other.rpartition(".")[0] and len(one) == len(other)


@asynccontextmanager
async def _open_codes() -> AsyncIterator[Take]:
    async with _calling("store") as client:

        async def take(made: tuple[str, int]) -> str:
            kind, seed = made
            codes: list[str] = []
            for _ in range(2):
                result = (await client.call(CAPABILITIES[3], name="pay", arguments={"to": "ACME"}))["result"]
                codes.append(result["_meta"][CODE])
            code = sendable(edit(kind, seed, *codes))
            done = await client.call(CAPABILITIES[3], name="midcall_continue", arguments={"code": code})
            told = json.dumps(done)
            again = CODE in told
            if again != (code in codes):
                raise Finding(f"the code {code!r} of {codes} came to {told[:1000]}")
            if "error" in done and done["error"].get("code") == INTERNAL:
                raise Finding(f"an internal error: {told[:1000]}")
            return "continued" if again else "refused"

        yield take


# --- over HTTP ---------------------------------------------------------------------------------

HEADERS: Final = (
    ("content-type", "application/json"),
    ("accept", "application/json, text/event-stream"),
    ("host", "127.0.0.1:8000"),
    ("origin", "http://127.0.0.1:8000"),
    ("mcp-session-id", "$SESSION"),
    ("mcp-protocol-version", "$VERSION"),
    ("mcp-method", "tools/call"),
    ("mcp-name", "book"),
    ("last-event-id", "1"),
    ("authorization", "Bearer x"),
    ("x-forwarded-for", "203.0.113.5"),
    ("forwarded", "for=203.0.113.5"),
    ("content-length", "5"),
    ("transfer-encoding", "chunked"),
)
USUAL: Final = HEADERS[:7]

Exchange = tuple[str, str, list[tuple[str, str]], str]
"""Method, path, headers, body."""


def make_exchanges(random: Random) -> tuple[str, str, list[Exchange]]:
    """The server, the version, and HTTP requests after the handshake."""
    version, capabilities = random.choice(VERSIONS), random.choice(CAPABILITIES)
    exchanges: list[Exchange] = []
    if version != NEWEST:
        exchanges.append(("POST", "/mcp", list(USUAL[:3]), json.dumps(_initialize(version, capabilities))))
    for _ in range(random.randint(2, 5)):
        message = make_message(random, version, capabilities)
        headers = [(name, message.get("method", value) if name == "mcp-method" else value) for name, value in USUAL]
        if name := message.get("params", {}).get("name"):
            headers.append(("mcp-name", name))
        if not random.randrange(3):
            headers = _mutate_headers(random, headers)
        method = random.choice(("GET", "DELETE", "PUT", "HEAD", "OPTIONS", "X")) if not random.randrange(15) else "POST"
        path = "/mcp" if random.randrange(15) else mutate_text(random, "/mcp")
        exchanges.append((method, path, headers, _write(random, message)))
    return random.choice(SETUPS), version, exchanges


def _mutate_headers(random: Random, headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    headers = [*headers, *random.sample(HEADERS, random.randint(0, 2))]
    at = random.randrange(len(headers))
    name, value = headers[at]
    match random.randrange(3):
        case 0:
            del headers[at]
        case 1:
            headers[at] = (name, mutate_text(random, value))
        case _:
            headers.insert(at, (name, mutate_text(random, value)))
    return headers


@asynccontextmanager
async def _open_http() -> AsyncIterator[Take]:
    async with AsyncExitStack() as stack:
        ends = stack.enter_context(connection())
        apps: dict[str, Any] = {}
        for setup in SETUPS:
            server = await stack.enter_async_context(open_server(setup))
            app = server.http_app() if setup == "fastmcp" else server.streamable_http_app()
            await stack.enter_async_context(app.router.lifespan_context(app))
            apps[setup] = app

        async def take(made: tuple[str, str, list[Exchange]]) -> list[str]:
            setup, version, exchanges = made
            seen, session, reached = Seen(), "none", list[str]()
            for method, path, headers, body in exchanges:
                known = {"$SESSION": session, "$VERSION": version}
                filled = [(name, known.get(value, value)) for name, value in headers]
                before = len(seen.reached)
                status, answered = await _request(apps[setup], (method, path, filled, seen.fill_in(body)), seen, ends)
                session = answered.get("mcp-session-id", session)
                if status >= 500:
                    raise Finding(f"status {status}")
                reached.append(
                    seen.reached[before] if len(seen.reached) > before else REJECTED if status >= 400 else "ok"
                )
            await _request(apps[setup], ("DELETE", "/mcp", [*USUAL[:4], ("mcp-session-id", session)], ""), seen, ends)
            return reached

        yield take


Ends = tuple[tuple[str, int], tuple[str, int]]
"""The addresses of a connection: the client's, and the server's."""


@contextmanager
def connection() -> Iterator[Ends]:
    """A connection of this user: without one, the kernel says that nobody is there, and all is refused at the door."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        with socket.create_connection(listening.getsockname()) as client, listening.accept()[0]:
            yield client.getsockname(), listening.getsockname()


async def _request(app: Any, exchange: Exchange, seen: Seen, ends: Ends) -> tuple[int, dict[str, str]]:
    """Send a request, and leave once the server asks something or has answered."""
    method, path, headers, body = exchange
    sent = body.encode("utf-8", "replace")
    status, answered, text = await request(app, method, path, headers, sent, ends, until=b'"method":')
    _learn(seen, text)
    return status, answered


async def request(
    app: Any, method: str, path: str, headers: list[tuple[str, str]], body: bytes, ends: Ends, until: bytes = b"\0"
) -> tuple[int, dict[str, str], str]:
    """Send a request to an app: the status, the headers and the text of the response.

    Leaves once this is in the response, and doesn't stay for the stream of a GET.
    """
    path, _, query = path.encode("utf-8", "replace").decode().partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode("utf-8", "replace"),
        "query_string": query.encode("utf-8", "replace"),
        "root_path": "",
        "headers": [(name.encode("latin-1", "replace"), value.encode("utf-8", "replace")) for name, value in headers],
        "client": ends[0],
        "server": ends[1],
        "state": {},
    }
    enough, messages = asyncio.Event(), [{"type": "http.request", "body": body}]
    status, answered, text = 0, dict[str, str](), bytearray()

    async def receive() -> dict[str, Any]:
        if messages:
            return messages.pop()
        await enough.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        nonlocal status, answered
        if message["type"] == "http.response.start":
            status = message["status"]
            answered = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in message["headers"]}
            if answered.get("content-type", "").startswith("text/event-stream") and method == "GET":
                enough.set()
        else:
            text.extend(message.get("body", b""))
            if until in text or not message.get("more_body"):
                enough.set()

    running = asyncio.create_task(app(scope, receive, send))
    left = asyncio.create_task(enough.wait())
    await asyncio.wait([running, left], return_when=asyncio.FIRST_COMPLETED, timeout=5)
    enough.set()
    left.cancel()
    await asyncio.wait([running], timeout=5)
    if not running.done():
        running.cancel()
        await asyncio.wait([running])
    if not running.cancelled() and (error := running.exception()) is not None:
        raise error
    shown = text.decode("utf-8", "replace")
    check_output(shown)
    check_output(str(answered))
    return status, answered, shown


def _learn(seen: Seen, text: str) -> None:
    lines = [line[6:] for line in text.split("\n") if line.startswith("data: ")] or [text]
    for line in lines:
        if line.startswith("{"):
            seen.note(line)


TARGETS: Final = (
    Target(
        "stdio",
        make_conversation,
        _open_stdio,
        short=600,
        share=100,
        must=("round", "pushed", "done", "used a secret"),
    ),
    Target("http", make_exchanges, _open_http, short=400, share=50, must=("round", "pushed", "done", "used a secret")),
    Target("states", make_edit, _open_states, short=250, share=20, must=("continued", "refused")),
    Target("codes", make_edit, _open_codes, short=200, share=10, must=("continued", "refused")),
)
