"""A question that no transport could write is a clear error in its tool, and the server lives on."""

from __future__ import annotations

import json
from collections.abc import Iterator
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
    InvalidForm,
    InvalidQuestion,
    Text,
    UrlElicitationRequired,
    approve,
    ask,
    choose,
    secret,
    visit,
)
from midcall.core.questions import Visit
from midcall.testing import ERAS, Era, Run, Script, connect, run
from tests.kinds import KINDS, Kind, server_with
from tests.rounds import text
from tests.server.test_out_of_band import installed
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
    """It lives on, also from one test to the next."""
    with serving(script, script.with_name("log")) as url:
        yield url


async def survives(target: Any, era: Era) -> None:
    async with connect(target, {"q": "1"}, era=era) as client:
        for what in WHATS:
            with anyio.fail_after(SECONDS):
                result = await client.call_tool("asks", {"what": what})
            assert result.is_error, what
            assert "mistake in the server's own code" in text(result), what
        assert text(await client.call_tool("asks", {"what": "well"})) == "1"


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
async def test_over_stdio_the_server_lives_on(era: Era, script: Path, tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as log:
        await survives(stdio(script, log), era)
    told = (tmp_path / "log").read_text()
    assert told.count("InvalidQuestion in 'asks'") == 4
    assert told.count("InvalidForm in 'asks'") == 2
    assert "meta.x is of type object, which JSON cannot hold" in " ".join(told.split())


async def test_over_http_the_server_lives_on(url: str) -> None:
    await survives(url, "2025-11-25")
    await survives(url, "2026-07-28")


class Name(BaseModel):
    name: str


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", KINDS)
async def test_nothing_of_it_is_sent_on_any_server(kind: Kind, era: Era) -> None:
    refused: list[str] = []

    async def tool() -> str:
        for verb in (
            lambda: ask(HALF, str),
            lambda: ask("q", str, meta={"x": object()}),
            lambda: ask("q", Form(Text("a", description=HALF))),
            lambda: choose("q", {"a": HALF}),
            lambda: visit("q", f"{HERE}/{HALF[-1]}"),
            lambda: visit("q", None),  # type: ignore[arg-type]
            lambda: ask("q", str, via=set()),
        ):
            try:
                await verb()
            except InvalidQuestion as error:
                refused.append(str(error))
        return "done"

    done = await run(server_with(tool, kind=kind), "tool", era=era)
    assert (done.text, done.asked, len(refused)) == ("done", [], 7)
    assert all(line.encode() for line in refused)


@pytest.mark.parametrize("era", ERAS)
async def test_an_adopted_question_is_looked_at_alike(era: Era) -> None:
    async def tool(ctx: Context) -> str:
        try:
            await ctx.elicit(HALF, Name)
        except InvalidQuestion as error:
            return str(error)
        return "asked"

    done = await run(server_with(tool), "tool", era=era)
    assert "half a character" in done.text
    assert done.asked == []


async def elicited(era: Era, what: Any) -> Run:
    """A tool that writes its schema by hand, with words that a form of ours does not know."""
    schema = {"type": "object", "properties": {"a": {"type": "string", "examples": [1, {"deep": what}]}}}

    async def tool(ctx: Context) -> str:
        try:
            answer = await ctx.session.elicit_form("q", schema)
        except InvalidForm as error:
            return str(error)
        return str(answer.content)

    return await run(server_with(tool), "tool", {}, {"q": "1"}, era=era)


@pytest.mark.parametrize("what", [HALF, object()], ids=["half", "object"])
@pytest.mark.parametrize("era", ERAS)
async def test_an_adopted_schema_that_is_sent_as_it_is_is_looked_at_too(era: Era, what: Any) -> None:
    done = await elicited(era, what)
    assert done.text.startswith("properties.a.examples[1].deep: ")
    assert done.asked == []


@pytest.mark.parametrize("era", ERAS)
async def test_an_adopted_schema_may_hold_what_the_sdk_can_write(era: Era) -> None:
    assert (await elicited(era, date(2026, 7, 28))).text == "{'a': '1'}"


async def test_so_is_a_visit_that_is_required() -> None:
    with pytest.raises(InvalidQuestion, match="half a character"):
        UrlElicitationRequired([Visit(HALF, HERE, id="1")])


async def test_what_no_page_could_show_is_refused_before_anything_is_kept() -> None:
    refused: list[str] = []

    async def tool() -> str:
        for asked in (
            secret("token", HALF),
            secret(HALF, "Your token"),
            secret("token", "Your token", fields={"a": HALF}),
            approve(HALF),
            approve("Sure?", {"to": ["x", {"y": HALF}]}),
        ):
            try:
                await asked
            except InvalidQuestion as error:
                refused.append(str(error))
        return "done"

    async with installed(tool) as (server, _), Client(server, mode="legacy") as client:
        assert text(await client.call_tool("tool")) == "done"
    assert len(refused) == 5
    assert "details.to[1].y" in refused[-1]


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
