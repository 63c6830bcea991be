"""Call the tool of examples/everywhere.py from every client that we test: `python -m scripts.everywhere`.

Prints a line for each client. If all are installed and succeed, it rewrites the table in docs/everywhere.md. Otherwise
it names the missing ones and leaves the table unchanged.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import socket
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from typing import Any, Final

import fastmcp
from mcp import Client
from mcp.client.extension import advertise
from mcp.client.stdio import StdioServerParameters
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID
from mcp_types import CallToolResult, ElicitResult, TextContent

from midcall.testing import Asked, Era, Script, connect
from scripts.filling import Person
from scripts.peers import PEERS, ROOT, missing, node, package, pinned, python_of

SERVER: Final = ROOT / "examples" / "everywhere.py"
PAGE: Final = ROOT / "docs" / "everywhere.md"
BEGIN, END = "<!-- everywhere: begin -->", "<!-- everywhere: end -->"

TYPESCRIPT: Final = "@modelcontextprotocol/client"
TYPESCRIPT_V1: Final = "@modelcontextprotocol/sdk"
INSPECTOR: Final = "@modelcontextprotocol/inspector"
APPS: Final = advertise(EXTENSION_ID, {"mimeTypes": [APP_MIME_TYPE]})
SECONDS: Final = 60.0

ARGUMENTS: Final = {"city": "Oslo"}
EXTRAS: Final = ["car", "guide"]
ANSWERS: Final[dict[str, Any]] = {
    "Who is travelling?": "Ada",
    "How many days in Oslo?": 3,
    "Which seat?": "a",
    "What shall we add?": EXTRAS,
    "Plan 3 days in Oslo for Ada?": True,
}
ON_PAPER: Final[dict[str, Any]] = {
    "Who is travelling?": "Ada",
    "How many days in Oslo?": "3",
    "Which seat?": "On the aisle",
    "What shall we add?": EXTRAS,
    "Plan 3 days in Oslo for Ada?": "Yes",
}
"""The same answers, as a page shows them."""
EXPECTED: Final = "Ada: 3 days in Oslo. Seat: On the aisle. Added: car, guide. Asked by "


@dataclass(frozen=True)
class Came:
    """The call's result, as the client saw it."""

    text: str
    protocol: str = ""
    """The negotiated version, if the client reports it."""
    questions: int = 0
    """How many questions the client, or its user on a page, answered."""


@dataclass(frozen=True)
class Caller:
    """One client."""

    name: str
    protocol: str
    declares: str
    via: str
    """The expected channel."""
    call: Callable[[str], Awaitable[Came]]
    needs: str | None = None
    """Its npm package."""
    transport: str = "HTTP"
    environment: str | None = None
    """The environment of its own that it runs in, if it is written in Python."""
    stands_for: str = "itself"
    """The hosts that a simulated client stands for."""

    def __str__(self) -> str:
        return f"{self.name}, {self.protocol}, {self.transport}"

    @property
    def missing(self) -> str | None:
        """Why it can't run here."""
        if self.environment is not None and not python_of(self.environment).exists():
            return f"its environment {self.environment} is not installed: run `make everywhere`"
        return None if self.needs is None else missing(self.needs)

    async def wrong(self, url: str) -> str | None:
        """Call the tool. Return what went wrong, or None if all five questions were asked and answered."""
        async with asyncio.timeout(SECONDS):
            came = await self.call(url)
        if came.text != f"{EXPECTED}{self.via}.":
            return came.text
        if came.protocol not in ("", self.protocol):
            return f"it spoke {came.protocol}"
        return None if came.questions == len(ANSWERS) else f"{came.questions} questions were answered"


def text_of(result: CallToolResult) -> str:
    return _joined(result.content)


def _joined(blocks: Sequence[object]) -> str:
    return "\n".join(block.text for block in blocks if isinstance(block, TextContent))


def answer(asked: Asked) -> Any:
    """In the form that the version supports: on an old one, several choices are one line of text."""
    given: Any = ANSWERS[asked.message]
    kinds = [field["type"] for field in (asked.schema or {})["properties"].values()]
    return ", ".join(EXTRAS) if given == EXTRAS and kinds == ["string"] else given


# --- clients that show forms ---------------------------------------------------------------------
def python(era: Era, *, stdio: bool = False) -> Callable[[str], Awaitable[Came]]:
    async def call(url: str) -> Came:
        script = Script(answer)
        async with connect(_process() if stdio else url, script, era=era, max_rounds=10) as client:
            result = await client.call_tool("plan", ARGUMENTS)
            return Came(text_of(result), client.protocol_version, len(script.asked))

    return call


def _process() -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=[str(SERVER)], env=dict(os.environ))


def fastmcp_client(mode: Any) -> Callable[[str], Awaitable[Came]]:
    async def call(url: str) -> Came:
        asked: list[str] = []

        async def handler(message: str, response_type: Any, params: Any, context: Any) -> Any:
            asked.append(message)
            [name] = params.requested_schema["properties"]
            return {name: ANSWERS[message]}

        async with fastmcp.Client(url, elicitation_handler=handler, mode=mode) as client:
            result = await client.call_tool("plan", ARGUMENTS)
            return Came(_joined(result.content), client.protocol_version or "", len(asked))

    return call


def typescript(era: str) -> Callable[[str], Awaitable[Came]]:
    async def call(url: str) -> Came:
        content = {message: {"choice": EXTRAS} if given == EXTRAS else given for message, given in ANSWERS.items()}
        script = str(PEERS / "ts_client.mjs")
        told = await _run(script, url, era, "plan", json.dumps(ARGUMENTS), json.dumps(content))
        said = told["result"]["content"][0]["text"] if "result" in told else str(told["error"])
        return Came(said, told["protocolVersion"], len(told["questions"]))

    return call


def typescript_v1() -> Callable[[str], Awaitable[Came]]:
    async def call(url: str) -> Came:
        script = str(PEERS / "ts_client_v1.mjs")
        told = await _run(script, url, "plan", json.dumps(ARGUMENTS), json.dumps(ANSWERS))
        said = told["result"]["content"][0]["text"] if "result" in told else str(told["error"])
        return Came(said, told["protocolVersion"], len(told["questions"]))

    return call


def in_python(kind: str, environment: str) -> Callable[[str], Awaitable[Came]]:
    """A client in an environment of its own. If it gets links, a person opens them, and it resumes the call."""

    async def call(url: str) -> Came:
        person = Person(ON_PAPER)
        pipe = asyncio.subprocess.PIPE
        command = [str(python_of(environment)), str(PEERS / "py_client.py"), kind, url, json.dumps(ANSWERS)]
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe, env=clean)
        try:
            told = await _told(process, "plan", ARGUMENTS)
            while (code := code_in(told["text"])) is not None:
                for address in addresses_in(told["text"]):
                    await person.stays(address)
                told = await _told(process, "midcall_continue", {"code": code})
        finally:
            assert process.stdin is not None
            process.stdin.close()
            await process.wait()
        return Came(told["text"], questions=told["questions"] + person.filled)

    return call


async def _told(process: asyncio.subprocess.Process, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.write(json.dumps({"tool": tool, "arguments": arguments}).encode() + b"\n")
    while line := await process.stdout.readline():
        if line.startswith(b"{"):  # some print banners
            return json.loads(line)
    raise AssertionError((await process.stderr.read()).decode())


async def _run(*args: str) -> dict[str, Any]:
    """The output of a Node.js program."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        str(node()), *args, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe
    )
    out, err = await process.communicate()
    assert out, err.decode()
    return json.loads(out)


# --- clients that only open URLs -------------------------------------------------------
class Visiting(Script):
    """Agrees to every URL, after a person has filled in its page."""

    def __init__(self, person: Person) -> None:
        super().__init__()
        self._person = person

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        assert params.mode == "url", "it was never to be sent a form"
        await self._person.visits(params.url)
        return ElicitResult(action="accept")


def urls_only(era: Era) -> Callable[[str], Awaitable[Came]]:
    async def call(url: str) -> Came:
        person = Person(ON_PAPER)
        async with connect(url, Visiting(person), era=era, modes=["url"], max_rounds=10) as client:
            result = await _to_the_end(client, await client.call_tool("plan", ARGUMENTS), person)
            return Came(text_of(result), client.protocol_version, person.filled)

    return call


def nothing(era: Era) -> Callable[[str], Awaitable[Came]]:
    async def call(url: str) -> Came:
        person = Person(ON_PAPER)
        async with connect(url, era=era, modes=()) as client:
            result = await _to_the_end(client, await client.call_tool("plan", ARGUMENTS), person)
            return Came(text_of(result), client.protocol_version, person.filled)

    return call


async def _to_the_end(client: Client, result: CallToolResult, person: Person) -> CallToolResult:
    """What a model does with an unfinished result: show the URL, then resume with the code."""
    while (code := code_in(text_of(result))) is not None:
        for address in addresses_in(text_of(result)):
            await person.stays(address)
        result = await client.call_tool("midcall_continue", {"code": code})
    return result


def inspector(era: str) -> Callable[[str], Awaitable[Came]]:
    async def call(url: str) -> Came:
        person = Person(ON_PAPER)
        said = await _inspected(url, era, "plan", ARGUMENTS)
        while (code := code_in(said)) is not None:
            for address in addresses_in(said):
                await person.stays(address)
            said = await _inspected(url, era, "midcall_continue", {"code": code})
        return Came(said, questions=person.filled)

    return call


async def _inspected(url: str, era: str, tool: str, arguments: Mapping[str, Any]) -> str:
    launcher = f"{package(INSPECTOR)}/clients/launcher/build/index.js"
    how = ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments)]
    told = await _run(launcher, "--cli", url, *how, "--protocol-era", era, "--format", "json", "--quiet")
    return "\n".join(block["text"] for block in told["result"]["content"])


def code_in(text: str) -> str | None:
    found = re.search(r'midcall_continue with \{"code": "([\w-]+)"\}', text)
    return found[1] if found else None


def addresses_in(text: str) -> list[str]:
    return re.findall(r"^  (http\S+)$", text, re.M)


# --- a host that shows Apps ------------------------------------------------------------------------
def apps_only(era: Era) -> Callable[[str], Awaitable[Came]]:
    async def call(url: str) -> Came:
        person = Person(ON_PAPER)
        async with connect(url, era=era, modes=(), extensions=[APPS]) as client:
            result = await _beside_its_app(client, person, {}, "plan", ARGUMENTS)
            while (code := code_in(text_of(result))) is not None:
                known = (result.meta or {})["midcall/app"]
                result = await _beside_its_app(client, person, known, "midcall_continue", {"code": code})
            return Came(text_of(result), client.protocol_version, person.filled)

    return call


async def _beside_its_app(
    client: Client, person: Person, known: dict[str, Any], tool: str, arguments: dict[str, Any]
) -> CallToolResult:
    """Call this tool and show its App."""
    ended = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(_app(client, person, known, ended))
        try:
            return await client.call_tool(tool, arguments)
        finally:
            ended.set()


async def _app(client: Client, person: Person, said: dict[str, Any], ended: asyncio.Event) -> None:
    """What the App does in its frame: find its questions, during the call or from the result, and answer."""
    while not ended.is_set():
        if said.get("state") == "asking":
            fields = [list(pair) for pair in person.fills(said["html"])]
            place = {name: said[name] for name in ("nonce", "step", "question")}
            said = await _app_tool(client, action="accept", fields=fields, **place)
        elif "nonce" in said:
            said = await _app_tool(client, action="look", nonce=said["nonce"], step=said["step"])
        else:
            said = await _app_tool(client, action="find", tool="plan", arguments=ARGUMENTS, frame="one")
        await asyncio.sleep(0.02)


async def _app_tool(client: Client, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool("midcall_app", arguments)
    return (result.meta or {})["midcall/app"]


# --- the table -----------------------------------------------------------------------------------
BOTH, FORMS, URLS, UI, NONE = "forms and URLs", "forms", "URLs", "MCP Apps", "nothing"
SDK, FAST = f"Python client (mcp {version('mcp')})", f"FastMCP's client ({version('fastmcp')})"
TS, TS1 = f"TypeScript client ({pinned(TYPESCRIPT)})", f"TypeScript SDK, first line ({pinned(TYPESCRIPT_V1)})"
CLI = f"MCP Inspector's CLI ({pinned(INSPECTOR)})"
LINKS = "Gemini CLI, opencode, Cline, Continue, and chats on the web"
APP_HOSTS = "Claude on the web, Claude Desktop, ChatGPT"
NO_HOST = "what the protocol allows; we know no such host"

CALLERS: Final = (
    Caller(SDK, "2025-06-18", FORMS, "push", python("2025-06-18")),
    Caller(SDK, "2025-11-25", BOTH, "push", python("2025-11-25")),
    Caller(SDK, "2026-07-28", BOTH, "round", python("2026-07-28")),
    Caller(SDK, "2025-11-25", BOTH, "push", python("2025-11-25", stdio=True), transport="stdio"),
    Caller(SDK, "2026-07-28", BOTH, "round", python("2026-07-28", stdio=True), transport="stdio"),
    Caller(FAST, "2025-11-25", BOTH, "push", fastmcp_client("legacy")),
    Caller(FAST, "2026-07-28", BOTH, "round", fastmcp_client("auto")),
    Caller(TS, "2025-11-25", BOTH, "push", typescript("legacy"), TYPESCRIPT),
    Caller(TS, "2026-07-28", BOTH, "round", typescript("2026-07-28"), TYPESCRIPT),
    Caller(TS1, "2025-11-25", BOTH, "push", typescript_v1(), TYPESCRIPT_V1),
    Caller(CLI, "2025-11-25", NONE, "link", inspector("legacy"), INSPECTOR),
    Caller(CLI, "2026-07-28", NONE, "link", inspector("modern"), INSPECTOR),
    Caller("A client with URL mode only", "2025-11-25", URLS, "page", urls_only("2025-11-25"), stands_for=NO_HOST),
    Caller("A client with URL mode only", "2026-07-28", URLS, "page", urls_only("2026-07-28"), stands_for=NO_HOST),
    Caller("A host with Apps only", "2025-11-25", UI, "app", apps_only("2025-11-25"), stands_for=APP_HOSTS),
    Caller("A host with Apps only", "2026-07-28", UI, "app", apps_only("2026-07-28"), stands_for=APP_HOSTS),
    Caller("A client with nothing", "2025-06-18", NONE, "link", nothing("2025-06-18"), stands_for=LINKS),
    Caller("A client with nothing", "2025-11-25", NONE, "link", nothing("2025-11-25"), stands_for=LINKS),
    Caller("A client with nothing", "2026-07-28", NONE, "link", nothing("2026-07-28"), stands_for=LINKS),
)
"""What the tests run. docs/everywhere.md says why a client has no row for an older version, or for stdio."""


def _in_python(name: str, package: str, environment: str, kind: str, declares: str, via: str) -> Caller:
    named = f"{name} ({pinned(package, environment)})"
    return Caller(named, "2025-11-25", declares, via, in_python(kind, environment), environment=environment)


LANGCHAIN: Final = "langchain-mcp-adapters"
LONG: Final = (
    _in_python("FastMCP's client", "fastmcp", "fastmcp2", "fastmcp", BOTH, "push"),
    _in_python("FastMCP's client", "fastmcp", "fastmcp3", "fastmcp", BOTH, "push"),
    _in_python(LANGCHAIN, LANGCHAIN, "agents", "langchain", NONE, "link"),
    _in_python(f"{LANGCHAIN} with `on_elicitation`", LANGCHAIN, "agents", "langchain-forms", BOTH, "push"),
    _in_python("openai-agents", "openai-agents", "agents", "openai-agents", NONE, "link"),
    _in_python("pydantic-ai", "pydantic-ai-slim", "agents", "pydantic-ai", NONE, "link"),
)
"""Clients with large environments of their own, which only `make everywhere` runs."""


def table(callers: tuple[Caller, ...] = (*CALLERS, *LONG)) -> str:
    """The table for the docs."""
    head = ("client", "protocol", "transport", "declares", "asked by", "five questions", "stands for")
    told = "✓ asked and answered"
    rows = [(c.name, c.protocol, c.transport, c.declares, f"`{c.via}`", told, c.stands_for) for c in callers]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ("---",) * len(head), *rows))


@asynccontextmanager
async def serving() -> AsyncGenerator[str]:
    """The example over HTTP, in a separate process with its own store."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = await asyncio.create_subprocess_exec(sys.executable, str(SERVER), "--http", str(port))
    try:
        await _listens(port, process)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _listens(port: int, process: asyncio.subprocess.Process) -> None:
    async with asyncio.timeout(SECONDS):
        while process.returncode is None:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                return
    raise SystemExit("The server did not start.")


async def main() -> int:
    green = True
    with tempfile.TemporaryDirectory() as directory:
        os.environ["MIDCALL_STORE"] = f"sqlite:///{directory}/store.db"
        os.environ["MIDCALL_KEYS"] = secrets.token_hex(32)
        async with serving() as url:
            for caller in (*CALLERS, *LONG):
                green &= await _shown(caller, url)
    if green:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        today = f"Run on {date.today():%d %B %Y}."
        PAGE.write_text(f"{before}{BEGIN}\n{today}\n\n{table()}\n{END}{rest.partition(END)[2]}")
        print(f"All green: {PAGE.relative_to(ROOT)} is up to date.")
    return 0 if green else 1


async def _shown(caller: Caller, url: str) -> bool:
    begun = time.monotonic()
    if caller.missing is not None:
        print(f"  - {caller}: {caller.missing}", flush=True)
        return False
    try:
        wrong = await caller.wrong(url)
    except Exception as error:
        wrong = f"{type(error).__name__}: {error}"
    took = time.monotonic() - begun
    print(f"  {'✗' if wrong else '✓'} {caller}: {wrong or caller.via} ({took:.1f} s)", flush=True)
    return wrong is None


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
