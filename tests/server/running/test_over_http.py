"""Over HTTP: headers and tokens follow the newest request, and a broken retry doesn't cancel the call at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import fastmcp
import httpx2
import pytest
from fastmcp.server.dependencies import get_http_headers
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import Context, MCPServer
from pydantic import AnyHttpUrl

import midcall
from midcall.testing import connect
from tests import waiting
from tests.calling import Elicit, Word, asking, begin, finish, proceed, retry
from tests.kinds import server_with
from tests.serving import served, serving

ANSWERS = {"a?": "1", "b?": "2"}
SERVER = Path(waiting.__file__)


@asynccontextmanager
async def client_with(url: str, headers: dict[str, str]) -> AsyncIterator[Client]:
    """A client that sends these headers with every request."""
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        connect(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


async def test_the_http_request_is_that_of_the_newest_request() -> None:
    async def tool(ctx: Context) -> str:
        seen = [ctx.request_context.request]
        await ctx.elicit("a?", Word)
        seen.append(ctx.request_context.request)
        return " ".join(each.headers["x-number"] for each in seen if each is not None)

    async with served(server_with(tool)) as url:
        async with client_with(url, {"x-number": "one"}) as client:
            first = await begin(client, "tool")
        async with client_with(url, {"x-number": "two"}) as client:
            assert await finish(client, first, ANSWERS) == "one two"


async def test_the_http_request_of_fastmcp_is_that_of_the_newest_request() -> None:
    async def tool(ctx: fastmcp.Context) -> str:
        def number() -> str:
            assert ctx.request_context is not None
            assert ctx.request_context.request is not None
            return ctx.request_context.request.headers["x-number"]

        before = number()
        await ctx.elicit("a?", str)
        assert get_http_headers()["x-number"] == number()
        return f"{before} {number()}"

    async with served(server_with(tool, kind="fastmcp")) as url:
        async with client_with(url, {"x-number": "one"}) as client:
            first = await begin(client, "tool")
        async with client_with(url, {"x-number": "two"}) as client:
            assert await finish(client, first, ANSWERS) == "one two"


class Tokens:
    """Every token is one of Ada's, but those of Bob."""

    async def verify_token(self, token: str) -> AccessToken:
        subject = "bob" if token.startswith("bob") else "ada"
        return AccessToken(
            token=token, client_id="client", scopes=[], subject=subject, expires_at=int(time.time()) + 60
        )


def signed_in(tool: Any) -> MCPServer[Any]:
    auth = AuthSettings(
        issuer_url=AnyHttpUrl("https://id.example.com"),
        resource_server_url=AnyHttpUrl("https://mcp.example.com/mcp"),
        validate_token_resource=False,
    )
    server: MCPServer[Any] = MCPServer("test", auth=auth, token_verifier=Tokens())
    server.add_tool(tool)
    midcall.install(server)
    return server


async def with_token(ctx: Context) -> str:
    def token() -> str:
        found = get_access_token()
        return found.token if found is not None else "none"

    before = token()
    await ctx.elicit("a?", Word)
    return f"{before} {token()}"


async def test_the_access_token_is_that_of_the_newest_request() -> None:
    async with served(signed_in(with_token)) as url:
        async with client_with(url, {"authorization": "Bearer first"}) as client:
            first = await begin(client, "with_token")
        async with client_with(url, {"authorization": "Bearer renewed"}) as client:
            assert await finish(client, first, ANSWERS) == "first renewed"


async def test_somebody_else_cannot_continue_a_live_run() -> None:
    async with served(signed_in(with_token)) as url:
        async with client_with(url, {"authorization": "Bearer first"}) as client:
            first = await begin(client, "with_token")
        async with client_with(url, {"authorization": "Bearer bob's"}) as client:
            with pytest.raises(MCPError):
                await retry(client, first, ANSWERS)
        async with client_with(url, {"authorization": "Bearer first"}) as client:
            assert await finish(client, first, ANSWERS) == "first first"


async def test_progress_after_an_answer_comes_on_the_stream_of_the_retry() -> None:
    heard: list[tuple[str, float]] = []

    def hear(request: str) -> Any:
        async def note(progress: float, total: float | None, message: str | None) -> None:
            heard.append((request, progress))

        return note

    async def tool(ctx: Context) -> str:
        await ctx.report_progress(1, 2)
        await ctx.elicit("a?", Word)
        await ctx.report_progress(2, 2)
        return "done"

    async with served(server_with(tool)) as url, connect(url) as client:
        first = await begin(client, "tool", progress_callback=hear("first"))
        assert await finish(client, first, ANSWERS, progress_callback=hear("second")) == "done"
    assert heard == [("first", 1), ("second", 2)]


# --- a retry that breaks off -------------------------------------------------------------------


async def broken_off(task: asyncio.Task[Any]) -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_retry_that_breaks_off_can_be_sent_again_and_joins_its_run(tmp_path: Path) -> None:
    trail = tmp_path / "trail"
    with serving(SERVER, tmp_path / "stderr", "--trail", str(trail)) as url:
        async with asyncio.timeout(30), connect(url) as client:
            first = await begin(client, "works_until_told")
            served_one = asyncio.create_task(retry(client, first, ANSWERS))
            await waiting.written(trail, "working")
            await broken_off(served_one)
            again = asyncio.create_task(finish(client, first, ANSWERS))
            await client.list_tools()  # the server has seen the other go by now
            with trail.open("a") as file:
                file.write("continue\n")
            assert await again == "done"
    assert waiting.read(trail)[:3] == ["began", "working", "continue"]
    assert "cancelled" not in waiting.read(trail)


async def test_a_run_whose_retry_broke_off_and_is_not_sent_again_is_cancelled_after_a_while() -> None:
    working, ended = asyncio.Event(), asyncio.Event()
    runs: list[str] = []

    async def tool(elicit: Elicit) -> str:
        runs.append("run")
        await elicit("a?")
        working.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return "never"

    async with served(asking("mcpserver", tool)) as url, asyncio.timeout(30), connect(url) as client:
        first = await begin(client, "tool")
        served_one = asyncio.create_task(retry(client, first, ANSWERS))
        await working.wait()
        await broken_off(served_one)
        await ended.wait()
        with pytest.raises(MCPError, match=r"^This call was cancelled"):
            await retry(client, first, ANSWERS)
    assert runs == ["run"]


async def test_a_run_that_ends_after_its_retry_broke_off_gives_its_result_to_the_same_retry() -> None:
    working, go_on, done = asyncio.Event(), asyncio.Event(), asyncio.Event()
    paid: list[str] = []

    async def pay(elicit: Elicit) -> str:
        answer = await elicit("a?")
        working.set()
        await go_on.wait()
        paid.append(answer)
        done.set()
        return f"paid {len(paid)}"

    async with served(asking("mcpserver", pay)) as url, asyncio.timeout(30), connect(url) as client:
        first = await begin(client, "pay")
        served_one = asyncio.create_task(retry(client, first, ANSWERS))
        await working.wait()
        await broken_off(served_one)
        await client.list_tools()  # the server has seen it go by now
        go_on.set()
        await done.wait()
        assert await finish(client, first, ANSWERS) == "paid 1"
    assert paid == ["1"]


async def test_a_run_that_asks_again_after_its_retry_broke_off_gives_its_question_to_the_same_retry() -> None:
    working, go_on, asking_again = asyncio.Event(), asyncio.Event(), asyncio.Event()
    runs: list[str] = []

    async def tool(elicit: Elicit) -> str:
        runs.append("run")
        first = await elicit("a?")
        working.set()
        await go_on.wait()
        asking_again.set()
        return f"{first} {await elicit('b?')}"

    async with served(asking("mcpserver", tool)) as url, asyncio.timeout(30), connect(url) as client:
        first = await begin(client, "tool")
        served_one = asyncio.create_task(retry(client, first, ANSWERS))
        await working.wait()
        await broken_off(served_one)
        await client.list_tools()  # the server has seen it go by now
        go_on.set()
        await asking_again.wait()
        second = await proceed(client, first, ANSWERS)
        assert second.asked == ["b?"]
        assert await finish(client, second, ANSWERS) == "1 2"
    assert runs == ["run"]


async def test_a_client_that_disconnects_between_two_rounds_can_come_back() -> None:
    effects: list[str] = []

    async def tool(elicit: Elicit) -> str:
        effects.append("charged")
        return f"{await elicit('a?')} {await elicit('b?')}"

    async with served(asking("mcpserver", tool)) as url:
        round: Any = None
        async with connect(url) as client:
            round = await begin(client, "tool")
        async with connect(url) as client:
            round = await retry(client, round, ANSWERS)
        async with connect(url) as client:
            assert await finish(client, round, ANSWERS) == "1 2"
    assert effects == ["charged"]


async def test_it_is_the_same_with_plain_json_responses() -> None:
    effects: list[str] = []

    async def tool(elicit: Elicit) -> str:
        effects.append("charged")
        return f"{await elicit('a?')} {await elicit('b?')}"

    async with served(asking("mcpserver", tool), json_response=True) as url, connect(url, ANSWERS) as client:
        result: Any = await client.call_tool("tool", {})
    assert result.content[0].text == "1 2"
    assert effects == ["charged"]
