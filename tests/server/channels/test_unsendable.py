"""A question that no transport could write is a clear error in its tool, and the server lives on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.mcpserver import Context
from pydantic import BaseModel

from midcall import (
    Form,
    InvalidQuestion,
    Text,
    UrlElicitationRequired,
    approve,
    ask,
    choose,
    secret,
    visit,
)
from midcall.core.question import Visit
from midcall.testing import ERAS, Era, Script, connect, run
from tests.kinds import KINDS, Kind, server_with
from tests.mistakes import BROKEN, logged_mistake, mistake_in
from tests.rounds import text
from tests.server.people import installed
from tests.serving import serving, stdio

SECONDS = 30
HALF = "half \ud83d"
HERE = "https://example.com"

SERVER = """
import sys
from mcp.server import MCPServer
import midcall
from midcall import Form, Text, ask, choose, confirm, visit

HALF = "half \\ud83d"
mcp = MCPServer("unsendable")
midcall.install(mcp)

@mcp.tool()
async def asks(what: str) -> str:
    match what:
        case "meta":
            return await ask("q", str, meta={"x": object()})
        case "message":
            return await ask(HALF, str)
        case "title":
            return str(await ask("q", Form(Text("a", title=HALF))))
        case "option":
            return await choose("q", ["a", HALF])
        case "confirm":
            return str(await confirm(HALF))
        case "url":
            return await visit("q", lambda id: "https://example.com/\\ud83d")
    return await ask("q", str)

if len(sys.argv) > 1:
    mcp.run("streamable-http", port=int(sys.argv[2]))
else:
    mcp.run()
"""
WHATS = ("meta", "message", "title", "option", "confirm", "url")


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("unsendable") / "server.py"
    path.write_text(SERVER)
    return path


@pytest.fixture(scope="module")
def url(script: Path) -> Iterator[str]:
    """One server for all tests of this module."""
    with serving(script, script.with_name("log")) as url:
        yield url


async def survives(target: Any, era: Era) -> None:
    async with connect(target, {"q": "1"}, era=era) as client:
        for what in WHATS:
            with anyio.fail_after(SECONDS):
                result = await client.call_tool("asks", {"what": what})
            assert result.is_error, what
            assert "problem in the server itself" in text(result), what
        assert text(await client.call_tool("asks", {"what": "well"})) == "1"


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
async def test_over_stdio_the_server_lives_on(era: Era, script: Path, tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as log:
        await survives(stdio(script, log), era)
    told = (tmp_path / "log").read_text()
    assert told.count("InvalidQuestion in 'asks'") == 3  # the message of `confirm` is that of `ask`, and logged once
    assert told.count("InvalidForm in 'asks'") == 2
    assert "meta.x is of type object, which JSON cannot hold" in " ".join(told.split())


async def test_over_http_the_server_lives_on(url: str) -> None:
    await survives(url, "2025-11-25")
    await survives(url, "2026-07-28")


class Name(BaseModel):
    name: str


@pytest.mark.parametrize(
    "verb",
    [
        lambda: ask(HALF, str),
        lambda: ask("q", str, meta={"x": object()}),
        lambda: ask("q", Form(Text("a", description=HALF))),
        lambda: choose("q", {"a": HALF}),
        lambda: visit("q", f"{HERE}/{HALF[-1]}"),
        lambda: visit("q", None),  # type: ignore[arg-type]
        lambda: ask("q", str, via=set()),
    ],
)
@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize("kind", KINDS)
async def test_nothing_of_it_is_sent_on_any_server(
    kind: Kind, era: Era, verb: Callable[[], Any], caplog: pytest.LogCaptureFixture
) -> None:
    async def tool() -> str:
        return str(await verb())

    assert (await mistake_in(tool, caplog, kind=kind, era=era)).encode()


@pytest.mark.parametrize("era", ERAS)
async def test_an_adopted_question_is_checked_too(era: Era, caplog: pytest.LogCaptureFixture) -> None:
    async def tool(ctx: Context) -> str:
        return str(await ctx.elicit(HALF, Name))

    assert "half a character" in await mistake_in(tool, caplog, era=era)


def elicits(what: Any) -> Callable[..., Any]:
    """A tool that writes its schema by hand, with keywords that our forms don't support."""
    schema = {"type": "object", "properties": {"a": {"type": "string", "examples": [1, {"deep": what}]}}}

    async def tool(ctx: Context) -> str:
        return str((await ctx.session.elicit_form("q", schema)).content)

    return tool


@pytest.mark.parametrize("what", [HALF, object()], ids=["half", "object"])
@pytest.mark.parametrize("era", ERAS)
async def test_an_adopted_schema_that_is_sent_unchanged_is_checked_too(
    era: Era, what: Any, caplog: pytest.LogCaptureFixture
) -> None:
    told = await mistake_in(elicits(what), caplog, era=era)
    assert told.startswith("InvalidForm in 'tool': properties.a.examples[1].deep: ")


@pytest.mark.parametrize("era", ERAS)
async def test_an_adopted_schema_may_hold_what_the_sdk_can_write(era: Era) -> None:
    tool = elicits(date(2026, 7, 28))
    assert (await run(server_with(tool), "tool", {}, {"q": "1"}, era=era)).text == "{'a': '1'}"


async def test_so_is_a_visit_that_is_required() -> None:
    with pytest.raises(InvalidQuestion, match="half a character"):
        UrlElicitationRequired([Visit(HALF, HERE, id="1")])


@pytest.mark.parametrize(
    ("verb", "where"),
    [
        (lambda: secret("token", HALF), ""),
        (lambda: secret(HALF, "Your token"), ""),
        (lambda: secret("token", "Your token", fields={"a": HALF}), ""),
        (lambda: approve(HALF), ""),
        (lambda: approve("Sure?", {"to": ["x", {"y": HALF}]}), "details.to[1].y"),
    ],
)
async def test_what_no_page_could_show_is_refused_before_anything_is_kept(
    verb: Callable[[], Any], where: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def tool() -> str:
        return str(await verb())

    async with installed(tool) as (server, _), Client(server, mode="legacy") as client:
        assert text(await client.call_tool("tool")) == BROKEN
    told = logged_mistake(caplog)
    assert told.startswith("InvalidQuestion in 'tool'")
    assert where in told


# --- answers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
async def test_an_answer_with_half_a_character_is_asked_for_again(era: Era) -> None:
    """Only a client in the same process can send one: others cannot write it, and no transport reads it."""

    async def tool() -> str:
        return await ask("Name?", str)

    done = await run(server_with(tool), "tool", {}, {"Name?": [HALF, "Ada"]}, era=era)
    assert done.text == "Ada"
    assert "half a character" in done.asked[1].message
    for asked in done.asked:
        assert json.dumps([asked.message, asked.schema], ensure_ascii=False).encode()


class Halving(httpx2.AsyncHTTPTransport):
    """Writes half a character where the SDK's client would not."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        content = request.content.replace(b"@HALF@", b"\\ud83d")
        headers = {name: value for name, value in request.headers.items() if name != "content-length"}
        return await super().handle_async_request(
            httpx2.Request(request.method, request.url, headers=headers, content=content, extensions=request.extensions)
        )


@pytest.mark.parametrize("era", ["2026-07-28"])
async def test_over_http_such_an_answer_is_asked_for_again(era: Era, url: str) -> None:
    """The SDK reads it on this version: without another look at it, the tool would send it back."""
    async with httpx2.AsyncClient(transport=Halving()) as http:
        script_of = Script({"q": ["@HALF@", "1"]})
        async with connect(streamable_http_client(url, http_client=http), script_of, era=era) as client:
            assert text(await client.call_tool("asks", {"what": "well"})) == "1"
    assert "half a character" in script_of.asked[1].message
