from __future__ import annotations

import http.server
import shlex
import sys
import threading
from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from fastmcp import FastMCP
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters
from mcp.server import MCPServer
from mcp_types import Implementation, TextContent

import midcall
import midcall.client
from midcall import ask
from midcall.client import CannotConnect, callback, connect
from midcall.core.outcome import Accepted
from tests.client.answerers import Answers
from tests.client.raw import MODERN, Raw, final, told
from tests.rounds import text
from tests.serving import environment, free_port, serving
from tests.warm import PYTHON, command_of

STDIO = Path(__file__).parents[1] / "stdio_server.py"
ERAS = ["2025-06-18", "2025-11-25", "2026-07-28"]


def yes(asked: Any) -> Any:
    return Accepted(dict.fromkeys(asked.form.names, 3))


async def nothing(raw: Raw, call: dict[str, Any]) -> dict[str, Any]:
    return told()


async def nothing_new(raw: Raw, call: dict[str, Any]) -> dict[str, Any]:
    return final()


def server() -> MCPServer:
    mcp = MCPServer("travel", title="Fjord Travel", log_level="ERROR")
    midcall.install(mcp)

    @mcp.tool()
    async def book(destination: str) -> str:
        days = await ask("How many days?", int)
        return f"{days} days in {destination}"

    return mcp


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(STDIO, tmp_path_factory.mktemp("served") / "log") as url:
        yield url


def test_every_public_name_is_there() -> None:
    for name in midcall.client.__all__:
        assert getattr(midcall.client, name) is not None
    assert sorted(midcall.client.__all__) == midcall.client.__all__
    assert callable(midcall.client.connect)


# --- targets -----------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ["auto", "legacy", *ERAS])
async def test_a_server_object_is_connected_to_on_every_version(era: Any) -> None:
    answerer = Answers(yes)
    async with connect(server(), answerer, era=era) as client:
        assert client.protocol_version == {"auto": MODERN, "legacy": "2025-11-25"}.get(era, era)
        assert text(await client.call_tool("book", {"destination": "Oslo"})) == "3 days in Oslo"
    assert answerer.asked[0].server == "Fjord Travel"


@pytest.mark.parametrize("era", ERAS)
async def test_a_low_level_server_and_fastmcp_are_server_objects_too(era: Any) -> None:
    entered: list[str] = []

    @asynccontextmanager
    async def lifespan(app: Any) -> Any:
        entered.append("begin")
        yield {}
        entered.append("end")

    fast = FastMCP("fast", lifespan=lifespan)
    midcall.install(fast)

    @fast.tool
    async def book() -> str:
        return f"{await ask('How many days?', int)} days"

    async with connect(fast, Answers(yes), era=era) as client:
        assert text(await client.call_tool("book")) == "3 days"
    assert entered == ["begin", "end"]
    async with connect(server()._lowlevel_server, Answers(yes), era=era) as client:
        assert text(await client.call_tool("book", {"destination": "Oslo"})) == "3 days in Oslo"


@pytest.mark.parametrize("era", ERAS)
async def test_a_url_is_connected_to_on_every_version(era: Any, url: str) -> None:
    async with connect(url, Answers(yes), era=era) as client:
        assert text(await client.call_tool("book", {"destination": "Oslo"})) == "3 days in Oslo"


@pytest.mark.parametrize("how", ["line", "list", "parameters"])
async def test_a_command_is_started(how: str, tmp_path: Path) -> None:
    parts = [*([sys.executable] if how == "line" else PYTHON), str(STDIO)]
    target: Any = {
        "line": shlex.join(parts),
        "list": parts,
        "parameters": StdioServerParameters(command=parts[0], args=parts[1:]),
    }[how]
    with (tmp_path / "err").open("w") as errlog:
        async with connect(target, Answers(yes), env=environment(), cwd=tmp_path, errlog=errlog) as client:
            assert text(await client.call_tool("book", {"destination": "Oslo"})) == "3 days in Oslo"
            assert text(await client.call_tool("where")) == str(tmp_path)
    assert (tmp_path / "err").read_text() == "The server is ready.\n"


async def test_an_invalid_target_is_reported() -> None:
    with pytest.raises(TypeError, match="a target is a URL, a command, a server object or a transport"):
        async with connect(42, Answers()):
            pass


async def test_an_unknown_era_is_reported() -> None:
    with pytest.raises(ValueError, match="era must be one of auto, legacy, 2025-06-18"):
        async with connect(server(), Answers(), era="2024-11-05"):  # type: ignore[arg-type]
            pass


# --- what is declared --------------------------------------------------------------------------


async def declared(answerer: Any, version: str, era: Any = "auto") -> Any:
    raw = Raw(nothing_new if version == MODERN else nothing, version)
    async with connect(raw.transport(), answerer, era=era) as client:
        await client.call_tool("it")
    if version == MODERN:
        ads = [message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] for message in raw.received]
        assert all(ad == ads[0] for ad in ads)
        return ads[0].get("elicitation")
    [begin] = raw.calls("initialize")
    assert begin["protocolVersion"] == (era if era in ERAS else "2025-11-25")
    return begin["capabilities"].get("elicitation")


@pytest.mark.parametrize("version", ["2025-11-25", MODERN])
async def test_only_the_modes_that_the_answerer_can_serve_are_declared(version: str) -> None:
    assert await declared(Answers(), version) == {"form": {}, "url": {}}
    assert await declared(Answers(modes=("form",)), version) == {"form": {}}
    assert await declared(Answers(modes=("url",)), version) == {"url": {}}
    assert await declared(Answers(modes=()), version) is None


async def test_the_first_version_with_questions_knows_no_modes() -> None:
    assert await declared(Answers(), "2025-06-18", "2025-06-18") == {}
    assert await declared(Answers(modes=("url",)), "2025-06-18", "2025-06-18") is None


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25", MODERN])
async def test_the_client_says_who_it_is(version: str) -> None:
    async def handle(raw: Raw, call: dict[str, Any]) -> dict[str, Any]:
        return final() if version == MODERN else told()

    for options, who in (
        ({}, ("midcall", midcall.__version__)),
        ({"client_info": Implementation(name="desk", version="1.2")}, ("desk", "1.2")),
    ):
        raw = Raw(handle, version)
        era: Any = "auto" if version == MODERN else version
        async with connect(raw.transport(), Answers(), era=era, **options) as client:
            await client.call_tool("it")
        key = "io.modelcontextprotocol/clientInfo"
        info = raw.calls()[0]["_meta"][key] if version == MODERN else raw.calls("initialize")[0]["clientInfo"]
        assert (info["name"], info["version"]) == who


# --- failures ----------------------------------------------------------------------------------


async def why(target: Any, **options: Any) -> str:
    with pytest.raises(CannotConnect) as caught:
        async with connect(target, Answers(), **options):
            raise AssertionError("connected")
    return str(caught.value)


async def test_a_missing_command_is_reported() -> None:
    assert (await why("no-such-program --flag")).startswith(
        "Cannot connect to no-such-program --flag: there is no such command."
    )
    assert "there is no such command" in await why("")
    assert "there is no such command" in await why([])
    assert "the command cannot be parsed (No closing quotation)" in await why("python 'server.py")
    assert f"Name the program that runs it: python {STDIO}" in await why(str(STDIO))
    assert "it cannot be run" in await why("/etc/passwd")
    assert "there is no folder /no/such/folder" in await why("true", cwd="/no/such/folder")


async def test_a_command_that_is_not_a_server_is_reported(tmp_path: Path) -> None:
    assert "it ended, or closed the connection, before it answered" in await why("true")
    assert "no answer within 0.2 s" in await why([sys.executable, "-c", "input(); input()"], connect_timeout=0.2)


@contextmanager
def answering(status: int) -> Iterator[str]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(status)
            self.send_header("content-type", "text/html")
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"hi")

        def log_message(self, *args: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as web:
        thread = threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{web.server_port}/mcp"
        finally:
            web.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (401, "it wants to know who you are (HTTP 401)"),
        (404, "there is no MCP server at this path (HTTP 404)"),
        (500, "it answered with HTTP 500"),
        (200, "it does not answer like an MCP server (Unexpected content type: text/html)"),
    ],
)
async def test_a_web_server_that_is_not_an_mcp_server_is_reported(status: int, told: str) -> None:
    with answering(status) as url:
        assert told in await why(url)


async def test_an_address_without_a_server_is_reported() -> None:
    told = await why(f"http://someone:hunter2@127.0.0.1:{free_port()}/mcp")
    assert "nothing answers there" in told
    assert "hunter2" not in told
    assert "it is not a web address" in await why("ftp://example.com/mcp")
    assert "it is not a web address" in await why("http://")
    assert "hunter2" not in await why("http://ann:hunter2@example.com:99999/mcp")


async def test_a_version_that_the_server_does_not_support_is_reported() -> None:
    told = await why(Raw(nothing).transport(), era=MODERN)
    assert "it speaks 2025-11-25, not 2026-07-28" in told
    assert "it speaks 2025-06-18" in await why(Raw(nothing, "2025-06-18").transport(), era="2025-11-25")


async def test_an_error_in_the_body_comes_out_as_itself() -> None:
    class Mine(Exception):
        pass

    with pytest.raises(Mine):
        async with connect(server(), Answers()):
            raise Mine
    with pytest.raises(MCPError):
        async with connect(server(), Answers()) as client:
            await client.get_prompt("none")


async def test_a_server_that_dies_in_the_middle_is_an_error_of_the_call() -> None:
    async with connect([sys.executable, str(STDIO)], Answers(yes), env=environment()) as client:
        with pytest.raises(MCPError, match="Connection closed"):
            await client.call_tool("die")


async def test_headers_reach_the_server(url: str) -> None:
    async with connect(url, Answers(), headers={"X-Who": "Ada"}) as client:
        result = await client.call_tool("who")
    assert isinstance(result.content[0], TextContent)
    assert result.content[0].text == "Ada"


@pytest.mark.parametrize("how", ["http", "stdio"])
async def test_a_required_visit_is_made_and_its_end_heard_over_real_transports(how: str, url: str) -> None:
    target, made = url if how == "http" else command_of(STDIO), list[Any]()

    async def answer(asked: Any) -> Any:
        made.append(asked.question.id)
        await client.call_tool("finish", {"id": asked.question.id})
        return Accepted(None)

    async with connect(target, Answers(answer), era="legacy", env=environment(), patience=20) as client:
        assert text(await client.call_tool("needs", {"id": "a"})) == "a is done"
    assert made == ["a"]


@pytest.mark.parametrize("era", ERAS)
async def test_servers_that_have_the_same_name_are_told_apart_and_one_server_stays_one(era: Any) -> None:
    answerer, one, other = Answers(yes), server(), server()
    for target in (one, other, one):
        async with connect(target, answerer, era=era) as client:
            await client.call_tool("book", {"destination": "Oslo"})
    first, second, again = (asked.sender for asked in answerer.asked)
    assert [asked.server for asked in answerer.asked] == ["Fjord Travel"] * 3
    assert first == again != second
    assert "Fjord Travel" not in (first, second)


async def test_each_client_that_a_host_has_made_counts_as_another_server() -> None:
    """Only `connect` knows what they are connected to."""
    answerer, target = Answers(yes), server()
    asked = callback(answerer)
    for _ in range(2):
        async with Client(target, elicitation_callback=asked) as client:
            await client.call_tool("book", {"destination": "Oslo"})
            await client.call_tool("book", {"destination": "Rome"})
    first, same, second, _ = (asked.sender for asked in answerer.asked)
    assert first == same != second
